//! Rust text without its comments and strings, so that words in them are not taken for code.

/// Lines of code, each as long as it was: letters of comments and strings become spaces.
pub(crate) fn code(text: &str) -> Vec<String> {
    let mut out = String::with_capacity(text.len());
    let mut state = State::Code;
    let mut letters = text.chars().peekable();
    let mut last = ' ';
    while let Some(c) = letters.next() {
        let next = letters.peek().copied().unwrap_or('\n');
        let (shown, after, taken) = state.step(c, next, last);
        out.push(if c == '\n' { c } else { shown });
        for _ in 0..taken {
            if let Some(skipped) = letters.next() {
                out.push(if skipped == '\n' { '\n' } else { ' ' });
            }
        }
        last = c;
        state = after;
    }
    out.lines().map(str::to_string).collect()
}

/// Where in a file a letter stands.
#[derive(Clone, Copy)]
enum State {
    Code,
    LineComment,
    /// How deep.
    BlockComment(u32),
    Text,
    /// Letters `#` seen after an `r`, not yet a string.
    MaybeRaw(u32),
    /// How many `#` end it.
    Raw(u32),
    /// Inside a raw string after a quote: how many `#` are still to come, and how many there are.
    MaybeEnd(u32, u32),
}

impl State {
    /// What to show for `c`, the state after it, and how many letters it takes with it.
    fn step(self, c: char, next: char, last: char) -> (char, State, usize) {
        let word = last.is_alphanumeric() || last == '_';
        match (self, c) {
            (State::Code, '/') if next == '/' => (' ', State::LineComment, 0),
            (State::Code, '/') if next == '*' => (' ', State::BlockComment(1), 1),
            (State::Code, '"') => (' ', State::Text, 0),
            (State::Code, 'r') if !word && (next == '"' || next == '#') => {
                (c, State::MaybeRaw(0), 0)
            }
            // A character that would begin a string.
            (State::Code, '\'') if next == '"' => (' ', State::Code, 1),
            (State::Code, _) => (c, State::Code, 0),
            (State::LineComment, '\n') => (c, State::Code, 0),
            (State::LineComment, _) => (' ', State::LineComment, 0),
            (State::BlockComment(1), '*') if next == '/' => (' ', State::Code, 1),
            (State::BlockComment(depth), '*') if next == '/' => {
                (' ', State::BlockComment(depth - 1), 1)
            }
            (State::BlockComment(depth), '/') if next == '*' => {
                (' ', State::BlockComment(depth + 1), 1)
            }
            (State::BlockComment(_) | State::Text, _) if c != '\\' && c != '"' => (' ', self, 0),
            (State::Text, '\\') => (' ', State::Text, 1),
            (State::Text, _) => (' ', State::Code, 0),
            (State::BlockComment(_), _) => (' ', self, 0),
            (State::MaybeRaw(marks), '#') => (' ', State::MaybeRaw(marks + 1), 0),
            (State::MaybeRaw(marks), '"') => (' ', State::Raw(marks), 0),
            // A raw identifier.
            (State::MaybeRaw(_), _) => (c, State::Code, 0),
            (State::Raw(0), '"') => (' ', State::Code, 0),
            (State::Raw(marks), '"') => (' ', State::MaybeEnd(marks, marks), 0),
            (State::Raw(_), _) => (' ', self, 0),
            (State::MaybeEnd(1, _), '#') => (' ', State::Code, 0),
            (State::MaybeEnd(left, marks), '#') => (' ', State::MaybeEnd(left - 1, marks), 0),
            (State::MaybeEnd(_, marks), '"') => (' ', State::MaybeEnd(marks, marks), 0),
            (State::MaybeEnd(_, marks), _) => (' ', State::Raw(marks), 0),
        }
    }
}

/// True when `line` has `word` and no longer word around it.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        !part(line[..at].chars().next_back()) && !part(line[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> String {
        code(text).join("\n").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        assert_eq!(only("a // x\nb"), "a b");
        assert_eq!(only("a /* x /* y */ z \" */ b"), "a b");
        assert_eq!(only("f(\"x \\\" y\", b)"), "f( , b)");
        assert_eq!(only("f(r#\"x \" y\"#, b)"), "f(r , b)");
        assert_eq!(only("f(r\"x \\\", b)"), "f(r , b)");
        assert_eq!(only("f('\"', b, \"x\")"), "f( ', b, )");
        assert_eq!(only("let s = \"http://x\"; b"), "let s = ; b");
        assert_eq!(only("\"one\ntwo // three\" b"), "b");
        assert_eq!(only("r#type b"), "r type b");
        assert_eq!(only("for_r\"x\""), "for_r");
    }

    #[test]
    fn lines_stay_where_they_are() {
        assert_eq!(code("\"a\nb\"\nc // d\ne").len(), 4);
        assert_eq!(code("\"a\\\nb\"\nc")[2], "c");
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("x = word {", "word"));
        assert!(has_word("word", "word"));
        assert!(!has_word("words my_word word_", "word"));
    }
}
