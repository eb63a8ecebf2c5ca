//! Seatbelt, the sandbox of macOS: the text of its profiles, and a backend that runs them.
//!
//! The text is written on every system, so that it can be tested on every system; [`simulate`]
//! reads it back and answers as the kernel of macOS is known to answer.
//!
//! How the kernel reads a profile decides how one must be written. Rules about the very operation
//! asked for come first, of these the last that matches; then those about the family it belongs
//! to (`file-write*` for `file-write-data`), last the default. Documents say that the last
//! matching rule wins, whatever it names. A profile of ours means the same either way: what is
//! denied comes after all that is granted, and names each operation beside its family.
//!
//! What a profile cannot promise:
//! - Rules go by path. Another name of the same file that exists before the start (a hard link, a
//!   second mount) is a way around, so that hard links of what is denied are looked for.
//! - A folder that holds nothing a glob matches at the start can be moved to where the glob does
//!   not reach, with all that came into it since.
//! - Characters beyond ASCII may be one unit of an expression or several, so `?` and classes are
//!   promised for ASCII only; a name that can be composed in two ways is denied as it is spelled.
//! - Programs that are spoken to by Mach messages act outside the sandbox. Those that hand out keys
//!   are closed; when the network is blocked, all but a few.

mod backend;
pub mod collect;
mod covers;
mod filter;
mod regex;
pub mod simulate;
mod text;
pub mod volume;

use std::path::PathBuf;

use sandproof_scenarios::Network;

pub use backend::{Seatbelt, profile};
pub use text::text;

use crate::confine::grants::Grants;

/// The program that runs a command under a profile.
pub const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// What a profile says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What may be read and written.
    pub grants: Grants,
    /// Below these, unix sockets work although the network is blocked.
    pub sockets: Vec<PathBuf>,
    /// Paths neither read nor written, there or not.
    pub deny: Vec<PathBuf>,
    /// Absolute globs neither read nor written, also what appears later.
    pub deny_globs: Vec<String>,
    /// What the globs match now: the folders above it are pinned.
    pub glob_matches: Vec<PathBuf>,
    /// Whether the folders above what is denied are pinned.
    pub pin_deny: bool,
    /// Paths read but not written, there or not; the folders above are pinned.
    pub protect: Vec<PathBuf>,
    /// Network of the command.
    pub network: Network,
    /// Whether `A` and `a` name the same file here.
    pub fold_case: bool,
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
    /// More than fits into a command line.
    #[error(
        "a profile of {length} bytes is too long for a command line; deny folders instead of the files in them"
    )]
    Long {
        /// Its length.
        length: usize,
    },
    /// A glob outside the grammar.
    #[error("{0}")]
    Glob(#[from] crate::glob::GlobError),
}

#[cfg(test)]
mod tests;
