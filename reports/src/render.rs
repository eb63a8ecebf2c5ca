//! Shows a journal in one of the [`Format`]s. Same journal and options, same bytes.

use std::str::FromStr;

use crate::Journal;

mod group;
mod json;
mod junit;
mod markdown;
mod terminal;

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// For eyes: the red cells in full, everything else in short.
    Terminal,
    /// For programs: one object with every record.
    Json,
    /// For CI systems: JUnit XML.
    Junit,
    /// For the summary of a CI step, and for a README.
    Markdown,
}

/// What the caller decides about a report.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Terminal colours; whether they are wanted is the caller's knowledge.
    pub color: bool,
    /// Words of `--require`: a skip for want of one is red.
    pub required: Vec<String>,
}

/// Why a report cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A value that JSON cannot express.
    #[error("cannot write the json report: {0}")]
    Json(#[from] serde_json::Error),
    /// A text that XML cannot express.
    #[error("cannot write the junit report: {0}")]
    Junit(#[from] quick_junit::SerializeError),
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 4] = [Format::Terminal, Format::Json, Format::Junit, Format::Markdown];

    /// Its name for `--report` and `--format`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Terminal => "terminal",
            Format::Json => "json",
            Format::Junit => "junit",
            Format::Markdown => "markdown",
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        Format::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
            let known = Format::ALL.map(Format::name).join(", ");
            format!("`{text}` is no report format; known: {known}")
        })
    }
}

/// The report of a journal in this format, ended by a line feed.
///
/// # Errors
/// The format cannot express something; no journal that was read or written here is known to.
pub fn render(journal: &Journal, format: Format, options: &Options) -> Result<String, RenderError> {
    match format {
        Format::Terminal => Ok(terminal::render(journal, options)),
        Format::Json => json::render(journal),
        Format::Junit => junit::render(journal, options),
        Format::Markdown => Ok(markdown::render(journal, options)),
    }
}
