//! [`Complaint`]: one mistake in a file, shown with its place, its line and what was probably meant.

use std::fmt;

/// Longest piece of a source line shown below a message, in characters.
const SHOWN: usize = 96;

/// A place in a text, both numbers from 1; columns count characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

/// Whether a complaint stops the file from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The file is refused.
    Error,
    /// The file works, but something in it is worth a look.
    Warning,
}

/// One mistake, not yet tied to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub at: Mark,
    /// What is wrong and what to do, a lower-case fragment that names `word`.
    pub message: String,
    /// The offending word.
    pub word: String,
    /// The nearest known word.
    pub near: Option<String>,
}

impl Fault {
    /// A fault without a suggestion.
    pub fn new(at: Mark, message: impl Into<String>, word: impl Into<String>) -> Self {
        Self { at, message: message.into(), word: word.into(), near: None }
    }
}

/// One mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Refusal or advice.
    pub level: Level,
    /// The file as the user names it.
    pub origin: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong and what to do.
    pub message: String,
    /// The offending word.
    pub word: String,
    /// The nearest known word.
    pub near: Option<String>,
    /// The source line; empty when the mistake is not in a line.
    pub snippet: String,
}

impl Complaint {
    /// Ties a fault to the file `origin` with this `text`.
    #[must_use]
    pub fn new(level: Level, origin: &str, text: &str, fault: Fault) -> Self {
        let line = fault.at.line.max(1);
        Self {
            level,
            origin: origin.to_owned(),
            line,
            column: fault.at.column.max(1),
            message: fault.message,
            word: fault.word,
            near: fault.near,
            snippet: text.lines().nth(line - 1).unwrap_or_default().to_owned(),
        }
    }

    /// A refusal of a whole file or folder, which has no line to show.
    pub fn whole(origin: &str, message: impl Into<String>, word: impl Into<String>) -> Self {
        let at = Mark { line: 1, column: 1 };
        Self::new(Level::Error, origin, "", Fault::new(at, message, word))
    }

    /// The part of the source line worth showing, and how many characters stand before the caret.
    fn excerpt(&self) -> (String, usize) {
        let skip = self.column.saturating_sub(1).saturating_sub(SHOWN / 2);
        let skip = if self.snippet.chars().count() > SHOWN { skip } else { 0 };
        let visible = |c: char| if c.is_control() { ' ' } else { c };
        let shown = self.snippet.chars().skip(skip).take(SHOWN).map(visible).collect();
        (shown, self.column - 1 - skip)
    }

    /// How many characters the caret underlines.
    fn width(&self, shown: &str, before: usize) -> usize {
        let rest: String = shown.chars().skip(before).collect();
        let quotes = usize::from(rest.starts_with(['"', '\'']));
        let bare: String = rest.chars().skip(quotes).collect();
        if !self.word.is_empty() && bare.starts_with(&self.word) {
            self.word.chars().count() + 2 * quotes
        } else {
            1
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.level {
            Level::Error => "",
            Level::Warning => "warning: ",
        };
        write!(f, "{}:{}:{}: {kind}{}", self.origin, self.line, self.column, self.message)?;
        if !self.snippet.is_empty() {
            let (shown, before) = self.excerpt();
            let number = self.line.to_string();
            let margin = " ".repeat(number.len());
            let carets = "^".repeat(self.width(&shown, before));
            write!(f, "\n  {number} | {}", shown.trim_end())?;
            write!(f, "\n  {margin} | {}{carets}", " ".repeat(before))?;
        }
        match &self.near {
            Some(near) => write!(f, "\n  did you mean `{near}`?"),
            None => Ok(()),
        }
    }
}

/// The known word nearest to `word`, if one is near enough to be what was meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase().replace('_', "-");
    let limit = (lower.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&lower, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *candidate != word)
        .min()
        .map(|(_, candidate)| candidate)
}

/// A text short enough for a message: control characters escaped, the end cut.
pub(crate) fn short(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(60) {
        if c.is_control() { shown.extend(c.escape_debug()) } else { shown.push(c) }
    }
    if text.chars().nth(60).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(text: &str, column: usize, word: &str) -> Complaint {
        let fault = Fault::new(Mark { line: 1, column }, format!("`{word}` is no step"), word);
        Complaint::new(Level::Error, "fs/x.yaml", text, fault)
    }

    #[test]
    fn a_complaint_underlines_its_word_and_names_the_near_one() {
        let mut wrong = complaint("  - raed: work/x", 5, "raed");
        wrong.near = Some("read".to_owned());
        assert_eq!(
            wrong.to_string(),
            "fs/x.yaml:1:5: `raed` is no step\n  1 |   - raed: work/x\n    |     ^^^^\n  \
             did you mean `read`?"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let text = format!("{}X{}", "[".repeat(4000), "]".repeat(4000));
        let shown = complaint(&text, 4001, "X").to_string();
        let lines: Vec<&str> = shown.lines().collect();
        let caret = lines[2].find('^').unwrap();
        assert_eq!(&lines[1][caret..=caret], "X");
        assert!(lines[1].len() < 120);
    }

    #[test]
    fn nearest_is_near() {
        assert_eq!(nearest("raed", ["read", "write"]), Some("read"));
        assert_eq!(nearest("Read", ["read", "write"]), Some("read"));
        assert_eq!(nearest("still_works", ["still-works"]), Some("still-works"));
        assert_eq!(nearest("banana", ["read", "write"]), None);
    }
}
