//! Floor 0: what can be tried inside a sandbox, and what can be seen.
//!
//! Knows no YAML, no policy and no verdict. The harness sends one [`Attempt`] at a time over the
//! [`wire`], the probe performs it by direct system calls and answers with an [`Observation`].

pub mod ability;
pub mod account;
pub mod attempt;
pub mod errno;
pub mod observation;
pub mod perform;
pub mod serve;
pub mod socket;
pub mod sys;
pub mod syscalls;
pub mod wire;

pub use attempt::{Abi, Attempt, Endpoint, NodeKind, OpenFlag, SendCall, SocketType};
pub use observation::{Observation, Outcome};
