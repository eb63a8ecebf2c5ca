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

/// One line cut into pieces that fit behind `margin`.
pub(crate) fn chop(margin: &str, line: &str) -> String {
    let room = WIDTH - margin.chars().count();
    let letters: Vec<char> = line.chars().collect();
    if letters.is_empty() {
        return format!("{}\n", margin.trim_end());
    }
    let pieces = letters.chunks(room);
    pieces.map(|piece| format!("{margin}{}\n", String::from_iter(piece))).collect()
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
