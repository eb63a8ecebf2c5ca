//! [`Finding`]: one thing to mend; [`CheckError`]: why a check could not be made at all.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// One thing to mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// File, relative to the workspace, or a crate.
    pub(crate) place: String,
    /// Line, counted from 1.
    pub(crate) line: Option<usize>,
    /// What is wrong and what to do.
    pub(crate) what: String,
}

impl Finding {
    /// About a whole file or crate.
    pub(crate) fn whole(place: impl fmt::Display, what: impl Into<String>) -> Finding {
        Finding { place: place.to_string(), line: None, what: what.into() }
    }

    /// About one line; `index` counts from 0.
    pub(crate) fn at(place: impl fmt::Display, index: usize, what: impl Into<String>) -> Finding {
        Finding { place: place.to_string(), line: Some(index + 1), what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.place, self.what),
            None => write!(f, "{}: {}", self.place, self.what),
        }
    }
}

/// Why a check could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A program cannot be started or fails.
    #[error("`{command}` failed: {what}")]
    Command {
        /// Which.
        command: String,
        /// What it said.
        what: String,
    },
    /// The folder has nothing that could be checked, so that no finding would mean nothing.
    #[error("{} holds no {what}: is it the workspace?", root.display())]
    Nothing {
        /// Which folder.
        root: PathBuf,
        /// What was looked for.
        what: &'static str,
    },
    /// Cargo cannot describe the workspace.
    #[error("no cargo metadata: {0}")]
    Metadata(#[from] cargo_metadata::Error),
}

impl CheckError {
    /// For `map_err` on reads.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> CheckError {
        move |source| CheckError::Read { path: path.to_path_buf(), source }
    }
}
