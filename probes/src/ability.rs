//! What this host can do, found by doing it in forked children.
//!
//! Every function forks, and so needs a process with a single thread: the harness asks a hidden
//! subprocess of its own (`sandproof ability`), which prints [`report`] as JSON.

use serde::{Deserialize, Serialize};

/// Everything that is found out here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abilities {
    /// 64-bit processes can enter the i386 table of system calls.
    pub ia32: bool,
    /// The x32 table exists.
    pub x32: bool,
    /// `io_uring_setup` gives a ring.
    pub io_uring: bool,
    /// Multipath TCP sockets can be made.
    #[serde(default)]
    pub mptcp: bool,
    /// A sandbox can make its own user and mount namespaces.
    pub userns: bool,
    /// Where that fails: the errno.
    pub userns_errno: Option<i32>,
    /// A seccomp filter can be installed, and filters.
    pub seccomp: bool,
    /// Landlock's ABI, when it is enabled.
    pub landlock_abi: Option<u32>,
    /// Landlock's mask of fixed errata.
    pub landlock_errata: u32,
    /// A new terminal can be made the controlling one.
    pub tty: bool,
}

/// Finds out everything.
#[must_use]
pub fn report() -> Abilities {
    let userns = userns();
    Abilities {
        ia32: ia32(),
        x32: x32(),
        io_uring: io_uring(),
        mptcp: mptcp(),
        userns: userns.is_ok(),
        userns_errno: userns.err(),
        seccomp: seccomp(),
        landlock_abi: landlock_abi(),
        landlock_errata: landlock_errata(),
        tty: tty(),
    }
}

#[cfg(target_os = "linux")]
pub use linux::{ia32, io_uring, landlock_abi, landlock_errata, mptcp, seccomp, tty, userns, x32};

#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{
    ia32, io_uring, landlock_abi, landlock_errata, mptcp, seccomp, tty, userns, x32,
};

#[cfg(not(target_os = "linux"))]
mod elsewhere;
