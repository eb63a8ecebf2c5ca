//! [`Launch`]: the command line of one arm, with a receipt that says how each policy item was put.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How to start a subject once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Program (absolute, or looked up on PATH) and arguments; ends with the command.
    pub argv: Vec<OsString>,
    /// Variables added to the environment of the arm.
    pub env: Vec<(OsString, OsString)>,
    /// Files to write first (absolute paths, parents made).
    pub files: Vec<(PathBuf, String)>,
    /// How each policy item was put.
    pub receipt: Vec<ReceiptItem>,
}

/// How one policy item was put.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptItem {
    /// The item: `write-scope`, `deny work/secret.txt`, `network blocked` ...
    pub item: String,
    /// How it was put.
    pub express: Express,
}

/// How a policy item was put.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Express {
    /// Exactly.
    Expressed,
    /// Nearly; shown beside the verdict.
    Approximated(String),
}

/// What cannot be expressed: always a skip.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("cannot express {item}: {why}")]
pub struct Unsupported {
    /// The policy item or path.
    pub item: String,
    /// Why, a lower-case fragment.
    pub why: String,
}
