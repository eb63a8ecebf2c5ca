//! Moves descriptors out of the way of attempts: above every number an attempt will use.

use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};

use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The lowest number for a descriptor of the probe itself, where the limit allows it.
const FLOOR: u64 = 1024;

/// How many descriptors the probe itself needs at most.
const ROOM: u64 = 16;

/// Raises the limit of descriptor numbers when [`FLOOR`] does not fit under it; answers the limit
/// that was found, for the child to restore.
pub(super) fn raise_limit() -> Rlimit {
    let found = getrlimit(Resource::Nofile);
    if found.current.is_some_and(|soft| soft < FLOOR + ROOM) {
        // Where the hard limit is as low, `high` makes do with less.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: found.maximum, ..found });
    }
    found
}

/// Restores the limit, so that attempts find what the launcher set.
pub(super) fn restore_limit(found: Rlimit) {
    let _ = setrlimit(Resource::Nofile, found);
}

/// Moves a descriptor to a high number, closed on exec.
pub(super) fn high(fd: OwnedFd) -> io::Result<OwnedFd> {
    copy_high(&fd)
}

/// The descriptors that the probe was started with.
#[derive(Debug)]
pub(super) struct Standard {
    /// Where requests come from.
    pub(super) input: OwnedFd,
    /// Where answers go.
    pub(super) output: OwnedFd,
    /// Keeps the output of attempts open. Nobody reads it, and when it is full it says so.
    pub(super) sink: OwnedFd,
}

/// Copies the protocol's ends from descriptors 0 and 1, and fills these with an input that is at
/// its end and an output that leads nowhere. No device is needed for that.
pub(super) fn take_standard() -> io::Result<Standard> {
    let input = copy_high(rustix::stdio::stdin())?;
    let output = copy_high(rustix::stdio::stdout())?;
    let (at_its_end, writer) = io::pipe()?;
    drop(writer);
    rustix::stdio::dup2_stdin(&at_its_end)?;
    let (sink, unread) = io::pipe()?;
    rustix::io::ioctl_fionbio(&unread, true)?;
    rustix::stdio::dup2_stdout(&unread)?;
    Ok(Standard { input, output, sink: high(sink.into())? })
}

fn copy_high(fd: impl AsFd) -> io::Result<OwnedFd> {
    match fcntl_dupfd_cloexec(&fd, FLOOR as RawFd) {
        Err(Errno::INVAL) => {
            let limit = getrlimit(Resource::Nofile).current.unwrap_or(FLOOR);
            Ok(fcntl_dupfd_cloexec(&fd, limit.saturating_sub(ROOM) as RawFd)?)
        }
        copied => Ok(copied?),
    }
}
