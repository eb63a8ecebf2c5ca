//! [`Refusal`]: why the command was not started.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Why the sandbox does not start: what is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    what: String,
    /// As it is shown.
    place: Option<String>,
    mend: String,
    bypass: bool,
}

impl Refusal {
    /// A refusal without a place.
    pub fn new(what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { what: what.into(), place: None, mend: mend.into(), bypass: false }
    }

    /// A refusal that says everything itself, on several lines.
    pub fn told(text: impl Into<String>) -> Self {
        Self::new(text, String::new())
    }

    /// A refusal about one path.
    pub fn at(what: impl Into<String>, place: &Path, mend: impl Into<String>) -> Self {
        // A path may hold a line break; one refusal stays one line.
        let place = place.display().to_string().escape_debug().to_string();
        Self { place: Some(place), ..Self::new(what, mend) }
    }

    /// The same, with one more thing that was tried or can be done.
    #[must_use]
    pub fn with(self, more: &str) -> Self {
        Self { mend: format!("{}; {more}", self.mend), ..self }
    }

    /// The same, of a request for less than a requirement, a saved session or
    /// `--strict-enforcement` allows.
    #[must_use]
    pub fn about_bypass(self) -> Self {
        Self { bypass: true, ..self }
    }

    /// Whether it answers such a request.
    #[must_use]
    pub fn is_about_bypass(&self) -> bool {
        self.bypass
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(place) = &self.place {
            write!(f, ": {place}")?;
        }
        if self.mend.is_empty() { Ok(()) } else { write!(f, "; {}", self.mend) }
    }
}

impl std::error::Error for Refusal {}
