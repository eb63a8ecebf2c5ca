//! [`Refusal`]: why the command was not started.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why the sandbox does not start: what is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    what: String,
    place: Option<PathBuf>,
    mend: String,
}

impl Refusal {
    /// A refusal without a place.
    pub fn new(what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { what: what.into(), place: None, mend: mend.into() }
    }

    /// A refusal about one path.
    pub fn at(what: impl Into<String>, place: &Path, mend: impl Into<String>) -> Self {
        Self { what: what.into(), place: Some(place.to_path_buf()), mend: mend.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(place) = &self.place {
            // A path may hold a line break; one refusal stays one line.
            write!(f, ": {}", place.display().to_string().escape_debug())?;
        }
        write!(f, "; {}", self.mend)
    }
}

impl std::error::Error for Refusal {}
