//! A mistake in a file, told with its line and what was probably meant.

use std::ops::Range;
use std::path::Path;

use sandproof_scenarios::complaint::{Complaint, Fault, Level, Mark, nearest};

use crate::confine::refusal::Refusal;

/// A file that was read, for complaints about it.
#[derive(Clone, Debug)]
pub struct Source {
    origin: String,
    text: String,
}

impl Source {
    pub(super) fn new(path: &Path, text: String) -> Self {
        // A name may hold a line break; the first line of a refusal stays one line.
        Self { origin: path.display().to_string().escape_debug().to_string(), text }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// What is wrong with the part `span`, and the known word nearest to it.
    pub(super) fn wrong(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        near: Option<String>,
    ) -> Refusal {
        let word = self.text.get(span.clone()).unwrap_or_default();
        let word = word.trim_matches(['"', '\'']).to_owned();
        let fault = Fault { at: mark(&self.text, span.start), message: message.into(), word, near };
        let complaint = Complaint::new(Level::Error, &self.origin, &self.text, fault);
        Refusal::told(complaint.to_string())
    }

    /// What the reader of TOML says.
    pub(super) fn misread(&self, error: &toml::de::Error) -> Refusal {
        let message = error.message().to_owned();
        let near = suggestion(&message);
        self.wrong(error.span().unwrap_or_default(), message, near)
    }
}

/// From `unknown field `a`, expected one of `b`, `c``: the known word nearest to the unknown one.
fn suggestion(message: &str) -> Option<String> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut words = message.split('`').skip(1).step_by(2);
    let unknown = words.next()?;
    near(unknown, words)
}

/// The known word nearest to `word`, if one is near enough to be what was meant.
pub fn near<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // Words are compared with hyphens; one of them may be written with underscores.
    let known: Vec<(String, &str)> =
        known.into_iter().map(|known| (known.replace('_', "-"), known)).collect();
    let same = known.iter().find(|(hyphens, _)| *hyphens == word.to_lowercase().replace('_', "-"));
    let found = match same {
        Some((hyphens, _)) => hyphens.as_str(),
        None => nearest(word, known.iter().map(|(hyphens, _)| hyphens.as_str()))?,
    };
    let written = known.iter().find(|(hyphens, _)| hyphens == found)?.1;
    (written != word).then(|| written.to_owned())
}

/// Line and column of a byte.
fn mark(text: &str, at: usize) -> Mark {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Mark { line, column }
}

/// The line of a byte in something that is no text.
pub(super) fn first_line(bytes: &[u8], at: usize) -> usize {
    bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}
