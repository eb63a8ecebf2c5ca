//! Lines for a terminal: wrapping and colours.

/// Columns of a terminal report.
pub(crate) const WIDTH: usize = 100;

/// A colour, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Holds.
    Green,
    /// Makes the run red.
    Red,
    /// Neither.
    Yellow,
    /// Headings.
    Bold,
}

/// `text` in this colour, when colours are wanted.
pub(crate) fn paint(color: bool, ink: Ink, text: &str) -> String {
    let code = match ink {
        Ink::Green => "32",
        Ink::Red => "31;1",
        Ink::Yellow => "33",
        Ink::Bold => "1",
    };
    if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
}

/// Words in lines of at most [`WIDTH`] columns: the first line begins with `first`, the others are
/// indented as deep, by two at least: only the report itself begins a line at its margin.
/// A word that is longer than a line stays whole: it may be there to be copied.
pub(crate) fn wrap(first: &str, text: &str) -> String {
    let mut column = first.chars().count();
    let indent = column.max(2);
    let mut out = String::from(first);
    let mut fresh = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let length = word.chars().count();
        if !fresh && column + 1 + length > WIDTH {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
            fresh = true;
        }
        if !fresh {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
        fresh = false;
    }
    out.push('\n');
    out
}

/// Items with commas between, wrapped as by [`wrap`], but none of them divided.
pub(crate) fn wrap_items(first: &str, items: &[String]) -> String {
    // A letter that no shown text holds, since it is escaped everywhere.
    const GLUE: &str = "\u{1f}";
    let glued: Vec<String> = items.iter().map(|item| item.replace(' ', GLUE)).collect();
    wrap(first, &glued.join(", ")).replace(GLUE, " ")
}

/// One line cut into pieces that fit behind `margin`, at a space where one is near the end.
pub(crate) fn chop(margin: &str, line: &str) -> String {
    let room = WIDTH - margin.chars().count();
    let mut rest: Vec<char> = line.chars().collect();
    let mut out = String::new();
    while rest.len() > room {
        let space = rest[..room].iter().rposition(|c| *c == ' ').filter(|at| *at > room / 2);
        let tail = rest.split_off(space.map_or(room, |at| at + 1));
        let piece = String::from_iter(&rest);
        out += &format!("{margin}{}\n", piece.trim_end());
        rest = tail;
    }
    let last = format!("{margin}{}", String::from_iter(rest));
    out + last.trim_end() + "\n"
}

/// `text` with spaces up to this many columns, and at least one.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(text.chars().count()).max(1);
    format!("{text}{}", " ".repeat(missing))
}

/// `1 cell`, `2 cells`.
pub(crate) fn cells(count: usize) -> String {
    if count == 1 { "1 cell".to_string() } else { format!("{count} cells") }
}

/// `word` as one argument of a shell.
pub(crate) fn shell_quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_at_spaces() {
        let words = "evidence ".repeat(30);
        let text = chop("| ", &words);
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().all(|line| line.len() <= WIDTH && line.ends_with("evidence")));
        assert_eq!(text.replace("| ", "").replace('\n', " "), words);
    }

    #[test]
    fn a_long_word_is_cut_anywhere() {
        assert_eq!(
            chop("| ", &"x".repeat(150)).lines().map(str::len).collect::<Vec<_>>(),
            [100, 54]
        );
        assert_eq!(chop("| ", ""), "|\n");
    }

    #[test]
    fn items_stay_whole() {
        let items = vec!["0 stale-waiver".to_string(); 12];
        let text = wrap_items("  counts: ", &items);
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().all(|line| !line.ends_with('0') && line.len() <= WIDTH));
        assert_eq!(text.matches("0 stale-waiver").count(), 12);
    }

    #[test]
    fn shells_read_one_word() {
        assert_eq!(shell_quote("fs/a-b"), "fs/a-b");
        assert_eq!(shell_quote("[a/b] it's"), r"'[a/b] it'\''s'");
        assert_eq!(shell_quote(""), "''");
    }
}
