//! Everything below a supervisor: waiting for its ends, naming it, killing it.

use std::fs;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsFd as _;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// Wakes up when a child ends.
#[derive(Debug)]
pub(super) struct Children {
    #[cfg(target_os = "linux")]
    signals: std::os::fd::OwnedFd,
}

#[cfg(target_os = "linux")]
impl Children {
    /// Blocks SIGCHLD and takes it by descriptor from now on.
    pub(super) fn watch() -> io::Result<Self> {
        use nix::sys::signal::SigSet;
        use nix::sys::signalfd::{SfdFlags, SignalFd};
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGCHLD);
        mask.thread_block()?;
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        let signals = SignalFd::with_flags(&mask, flags)?;
        Ok(Self { signals: rustix::io::fcntl_dupfd_cloexec(&signals, super::serve::HIGH)? })
    }

    /// Waits for the end of a child, for the socket, or for the time; true when the socket speaks.
    pub(super) fn wait(
        &self,
        socket: Option<BorrowedFd<'_>>,
        time: Option<Duration>,
    ) -> io::Result<bool> {
        let mut fds = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        fds.extend(socket.map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
        wait(&mut fds, time)?;
        let mut signals = [0; 1024];
        while rustix::io::read(&self.signals, &mut signals).is_ok_and(|length| length > 0) {}
        Ok(fds.get(1).and_then(PollFd::revents).is_some_and(|events| !events.is_empty()))
    }
}

#[cfg(not(target_os = "linux"))]
impl Children {
    pub(super) fn watch() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Looks again a hundred times a second: there is no descriptor for the end of a child.
    pub(super) fn wait(
        &self,
        socket: Option<BorrowedFd<'_>>,
        time: Option<Duration>,
    ) -> io::Result<bool> {
        let tick = Duration::from_millis(10);
        let mut fds: Vec<PollFd<'_>> =
            socket.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).into_iter().collect();
        wait(&mut fds, Some(time.map_or(tick, |time| time.min(tick))))?;
        Ok(fds.first().and_then(PollFd::revents).is_some_and(|events| !events.is_empty()))
    }
}

fn wait(fds: &mut [PollFd<'_>], time: Option<Duration>) -> io::Result<()> {
    let timeout = match time {
        None => PollTimeout::NONE,
        // Rounded up, or the last millisecond would spin.
        Some(time) => PollTimeout::try_from(time.as_millis() + 1).unwrap_or(PollTimeout::MAX),
    };
    match poll(fds, timeout) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Kills and reaps everything below this process. The children of a killed child become ours (we
/// are a subreaper), so the loop reaches every depth. The kernel's list of children may miss one
/// while others end, so nothing waits for long before looking again.
pub(super) fn kill_tree(watch: &Children) -> io::Result<()> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => {
                for pid in children() {
                    let _ = kill(pid, Signal::SIGKILL);
                }
                watch.wait(None, Some(Duration::from_millis(10)))?;
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(Errno::ECHILD) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Names of the processes directly below this one.
pub(super) fn names() -> Vec<String> {
    let mut names: Vec<String> = children()
        .into_iter()
        .filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok())
        .map(|name| name.trim().to_owned())
        .collect();
    names.sort();
    names
}

/// The children of this process, by the kernel's list or, where it has none, by everybody's parent.
fn children() -> Vec<Pid> {
    let ours = std::process::id();
    let list = fs::read_to_string(format!("/proc/self/task/{ours}/children"));
    match list {
        Ok(list) => {
            list.split_whitespace().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw).collect()
        }
        Err(_) => by_parent(ours),
    }
}

fn by_parent(parent: u32) -> Vec<Pid> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|item| item.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| parent_of(*pid) == Some(parent))
        .map(Pid::from_raw)
        .collect()
}

/// The fourth field of `/proc/PID/stat`; the name before it may hold blanks and parentheses.
fn parent_of(pid: i32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
