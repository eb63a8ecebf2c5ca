//! The line protocol between harness and probe: one JSON object a line, version 1.
//!
//! Every line carries the nonce of its session. The harness ignores lines without it, so nothing
//! that a command prints can pass for an answer. A newline goes before every answer, and may go
//! before every request: a line that someone else began and did not end stays apart from it.

use serde::{Deserialize, Serialize};

use crate::{Attempt, Observation};

/// Version of this protocol; another one is refused.
pub const VERSION: u32 = 1;

/// The hidden first argument that turns sandproof into the probe.
pub const PROBE_ARGUMENT: &str = "probe";

/// Harness to probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// [`VERSION`].
    pub v: u32,
    /// Random word of this session (32 hex digits).
    pub nonce: String,
    /// Counts up from 1; the answer repeats it.
    pub seq: u64,
    /// What is asked.
    pub ask: Ask,
}

/// What the harness asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// Who are you, and what confines you?
    Hello,
    /// Fork a child; the attempts up to `End` run in it.
    Begin,
    /// Perform one attempt in that child.
    Try(Attempt),
    /// Let that child end.
    End,
    /// End the probe itself with status 0.
    Bye,
}

/// Probe to harness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// [`VERSION`].
    pub v: u32,
    /// The nonce of the request.
    pub nonce: String,
    /// The number of the request.
    pub seq: u64,
    /// The answer.
    pub answer: Answer,
}

/// What the probe answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// To `Hello`.
    Hello(Hello),
    /// To `Begin`, `End` and `Bye`.
    Ready,
    /// To `Try`.
    Saw(Observation),
    /// The request could not be understood or carried out at all (no child, bad order).
    Wrong(String),
}

/// What the probe measures about itself before any attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// Its pid as it sees it.
    pub pid: i32,
    /// Its effective uid as it sees it.
    pub uid: u32,
    /// `no_new_privs` is set.
    pub no_new_privs: bool,
    /// Seccomp mode: 0 none, 1 strict, 2 filter.
    pub seccomp: u32,
    /// Effective capabilities, hex as in `/proc/self/status`.
    pub capabilities: String,
    /// Namespace inode numbers by name (user, mnt, net, pid, ipc ...), empty off Linux.
    pub namespaces: std::collections::BTreeMap<String, u64>,
    /// Names of the variables in its environment, sorted.
    pub variables: Vec<String>,
}
