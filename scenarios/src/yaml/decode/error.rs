//! [`DecodeError`]: a serde error that learns its place on the way out.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::complaint::{Fault, Mark, nearest, short};
use crate::yaml::Node;

/// Boxed, as serde returns it everywhere.
#[derive(Debug)]
pub(super) struct DecodeError(pub(super) Box<Details>);

/// What is known about a failure.
#[derive(Debug, Default)]
pub(super) struct Details {
    pub(super) message: String,
    pub(super) word: Option<String>,
    pub(super) near: Option<String>,
    /// Where; set by the innermost access that knows.
    pub(super) at: Option<Mark>,
    /// The list item or map entry to leave out when trying again.
    pub(super) place: Option<usize>,
    /// The key that was missing, when that was the mistake.
    pub(super) missing: Option<String>,
    /// The key is none here.
    pub(super) unknown_key: bool,
    /// Already told, or a consequence of something that was.
    pub(super) silent: bool,
}

impl Details {
    /// The fault to tell, unless it is silent.
    pub(super) fn fault(&self, root: &Node) -> Option<Fault> {
        let word = self.word.clone().unwrap_or_else(|| root.word());
        let at = self.at.unwrap_or(root.at);
        let near = self.near.clone();
        (!self.silent).then(|| Fault { at, message: self.message.clone(), word, near })
    }
}

impl DecodeError {
    pub(super) fn new(message: impl Into<String>, word: impl Into<String>) -> Self {
        let (message, word) = (message.into(), Some(word.into()));
        Self(Box::new(Details { message, word, ..Details::default() }))
    }

    pub(super) fn silent() -> Self {
        Self(Box::new(Details { silent: true, ..Details::default() }))
    }

    /// Sets the place unless a deeper one is known.
    pub(super) fn at(mut self, mark: Mark, word: impl FnOnce() -> String) -> Self {
        self.0.at.get_or_insert(mark);
        self.0.word.get_or_insert_with(word);
        self
    }

    /// Sets what to leave out unless something deeper is known.
    pub(super) fn place(mut self, id: usize) -> Self {
        self.0.place.get_or_insert(id);
        self
    }
}

/// `a`, `b`, `c`; nothing when the list would be longer than a line.
fn listed(words: &[&str]) -> String {
    if words.is_empty() || words.len() > 9 {
        return String::new();
    }
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    format!("; known are {}", quoted.join(" "))
}

impl DecodeError {
    /// A word that is not on a list; `noun` says of what.
    pub(super) fn unknown(noun: &str, word: &str, known: &'static [&'static str]) -> Self {
        let message = format!("`{}` is no {noun}{}", short(word), listed(known));
        let mut error = Self::new(message, short(word));
        error.0.near = nearest(word, known.iter().copied()).map(str::to_owned);
        error
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Box::new(Details { message: message.to_string(), ..Details::default() }))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format!("{unexpected} where {expected} is wanted"))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::custom(format!("{length} entries where {expected} is wanted"))
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::unknown("known word here", word, known)
    }

    fn unknown_field(word: &str, known: &'static [&'static str]) -> Self {
        let mut error = Self::unknown("key here", word, known);
        error.0.unknown_key = true;
        error
    }

    fn missing_field(field: &'static str) -> Self {
        let mut error = Self::new(format!("key `{field}` is missing here"), field);
        error.0.missing = Some(field.to_owned());
        error
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(format!("key `{field}` stands here a second time"), field)
    }
}
