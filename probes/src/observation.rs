//! [`Observation`]: what one attempt saw, as raw facts. It comes from inside and is not trusted.

use serde::{Deserialize, Serialize};

/// At most this many bytes of output travel with an observation; length and hashes cover all of it.
pub const TEXT_LIMIT: usize = 4096;

/// What one attempt saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// How it ended.
    pub outcome: Outcome,
    /// The first [`TEXT_LIMIT`] bytes read or printed, lossily decoded.
    pub text: String,
    /// Length of everything read or printed, in bytes.
    pub length: u64,
    /// SHA-256 (hex) of everything read or printed; empty when nothing was.
    pub sha256: String,
    /// SHA-256 (hex) of every run of exactly 32 hex digits in it, so that a subject which strips
    /// markers from what passes through it is caught.
    pub words: Vec<String>,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum Outcome {
    /// Everything succeeded (for programs: status 0).
    Done,
    /// A system call failed: which one, and the errno.
    Errno { call: String, number: i32 },
    /// A program ended with this status, not 0.
    Exit { code: i32 },
    /// A program, or the forked child that performs the steps, died of this signal.
    Signal { number: i32 },
    /// This probe cannot try it on this machine (another architecture, say).
    Unavailable { why: String },
}

impl Observation {
    /// An observation without output.
    #[must_use]
    pub fn bare(outcome: Outcome) -> Self {
        Self { outcome, text: String::new(), length: 0, sha256: String::new(), words: Vec::new() }
    }

    /// True when the attempt succeeded.
    #[must_use]
    pub fn done(&self) -> bool {
        matches!(self.outcome, Outcome::Done)
    }
}
