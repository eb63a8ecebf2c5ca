//! Which answers count as a denial, and which layer gave them: one table.

use nix::errno::Errno;
use sandproof_probes::{Attempt, Observation, Outcome, errno};

use crate::evidence::{Attemptance, Disturbance};

/// Families of attempts that are denied in the same ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// Opening, reading, writing, metadata.
    File,
    /// Names: rename, link, unlink, make.
    Name,
    /// Sockets.
    Network,
    /// Other processes.
    Process,
    /// Namespaces, mounts, raw calls.
    Kernel,
    /// Programs: their own status says it.
    Program,
}

/// What an observation says about its attempt; `Err` when the arm cannot go on.
///
/// # Errors
/// The child that performs the steps died, or the attempt cannot be made on this machine.
pub fn read(attempt: &Attempt, observation: &Observation) -> Result<Attemptance, Disturbance> {
    match &observation.outcome {
        Outcome::Done => Ok(Attemptance::Done),
        Outcome::Errno { call, number } => {
            let name = format!("{call} {}", errno::name(*number));
            let denied = denials(family(attempt)).contains(&Errno::from_raw(*number));
            Ok(if denied { Attemptance::Denied(name) } else { Attemptance::Failed(name) })
        }
        Outcome::Exit { code } => Ok(Attemptance::Failed(format!("status {code}"))),
        Outcome::Signal { number } if *number == libc::SIGSYS => {
            Ok(Attemptance::Denied("SIGSYS".to_owned()))
        }
        Outcome::Signal { number } if family(attempt) == Family::Program => {
            Ok(Attemptance::Failed(errno::signal_name(*number)))
        }
        Outcome::Signal { number } => Err(Disturbance::StepDied(*number)),
        Outcome::Unavailable { why } => Err(Disturbance::Unavailable(why.clone())),
    }
}

/// The layer that gave this answer, where the answer alone shows it.
#[must_use]
pub fn layer(observation: &Observation) -> Option<&'static str> {
    match &observation.outcome {
        Outcome::Signal { number } if *number == libc::SIGSYS => Some("seccomp"),
        Outcome::Errno { call, number } => match (call.as_str(), Errno::from_raw(*number)) {
            (_, Errno::EROFS | Errno::EBUSY) => Some("mount"),
            ("socket" | "socketpair", Errno::EPERM) => Some("seccomp"),
            _ => None,
        },
        Outcome::Done | Outcome::Exit { code: _ } | Outcome::Signal { number: _ } => None,
        Outcome::Unavailable { why: _ } => None,
    }
}

fn denials(family: Family) -> &'static [Errno] {
    use Errno::{
        EACCES, EADDRNOTAVAIL, EAFNOSUPPORT, EBUSY, ECONNREFUSED, EHOSTUNREACH, EIO, ENETDOWN,
        ENETUNREACH, ENOSPC, ENOSYS, EPERM, EROFS, ESRCH, EXDEV,
    };
    match family {
        Family::File => &[EPERM, EACCES, EROFS, ENOSYS],
        Family::Name => &[EPERM, EACCES, EROFS, EBUSY, EXDEV, ENOSYS],
        Family::Network => &[
            EPERM,
            EACCES,
            ENOSYS,
            EAFNOSUPPORT,
            ECONNREFUSED,
            ENETUNREACH,
            EHOSTUNREACH,
            ENETDOWN,
            EADDRNOTAVAIL,
        ],
        Family::Process => &[EPERM, EACCES, ESRCH, ENOSYS],
        Family::Kernel => &[EPERM, EACCES, ENOSYS, EROFS, ENOSPC, EIO],
        Family::Program => &[EPERM, EACCES, EROFS],
    }
}

fn family(attempt: &Attempt) -> Family {
    match attempt {
        Attempt::Read { .. }
        | Attempt::List { .. }
        | Attempt::Stat { .. }
        | Attempt::Readlink { .. }
        | Attempt::Write { .. }
        | Attempt::Append { .. }
        | Attempt::Truncate { .. }
        | Attempt::Open { .. }
        | Attempt::ReadAt { .. }
        | Attempt::Chmod { .. }
        | Attempt::Chown { .. }
        | Attempt::Utime { .. }
        | Attempt::Xattr { .. } => Family::File,
        Attempt::Unlink { .. }
        | Attempt::Rmdir { .. }
        | Attempt::Mkdir { .. }
        | Attempt::Create { .. }
        | Attempt::Rename { .. }
        | Attempt::Link { .. }
        | Attempt::Symlink { .. }
        | Attempt::Mknod { .. } => Family::Name,
        Attempt::Connect { .. }
        | Attempt::ConnectMptcp { .. }
        | Attempt::RingConnect { .. }
        | Attempt::Send { .. }
        | Attempt::Receive { .. }
        | Attempt::Bind { .. } => Family::Network,
        Attempt::Signal { .. }
        | Attempt::Ptrace { .. }
        | Attempt::ProcessRead { .. }
        | Attempt::ProcessWrite { .. }
        | Attempt::PidfdGetfd { .. } => Family::Process,
        Attempt::RingRead { .. }
        | Attempt::HandleRead { .. }
        | Attempt::TreeRead { .. }
        | Attempt::Syscall { .. }
        | Attempt::Ioctl { .. }
        | Attempt::Unshare { .. }
        | Attempt::Mount { .. }
        | Attempt::Umount { .. } => Family::Kernel,
        Attempt::Exec { .. } | Attempt::Shell { .. } => Family::Program,
    }
}
