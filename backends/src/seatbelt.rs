//! Seatbelt, the sandbox of macOS: the text of its profiles, and a backend that runs them.
//!
//! The text is written on every system, so that it can be tested on every system. In a profile the
//! last rule that matches wins: first what is granted, then what is denied and protected.

mod backend;
mod regex;
mod text;

use std::path::PathBuf;

use sandproof_scenarios::Network;

pub use backend::Seatbelt;
pub use text::text;

use crate::confine::grants::Grants;

/// The program that runs a command under a profile.
pub const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// What a profile says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What may be read and written.
    pub grants: Grants,
    /// Paths neither read nor written, there or not.
    pub deny: Vec<PathBuf>,
    /// Absolute globs neither read nor written, also what appears later.
    pub deny_globs: Vec<String>,
    /// Paths read but not written, there or not.
    pub protect: Vec<PathBuf>,
    /// Network of the command.
    pub network: Network,
}

/// What no profile can hold.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// A path that cannot stand in a profile.
    #[error("path `{}` holds {why}, a profile cannot name it", path.escape_debug())]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A glob outside the grammar.
    #[error("{0}")]
    Glob(#[from] crate::glob::GlobError),
}

#[cfg(test)]
mod tests;
