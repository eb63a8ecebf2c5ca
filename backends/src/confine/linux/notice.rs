//! Sockets that the filter holds up: each is noted and then denied.
//!
//! The filter asks whoever holds its listener, and waits. When nobody holds it any more, the
//! kernel answers ENOSYS by itself: the socket is denied with or without us.

use std::os::fd::{AsFd, OwnedFd};
use std::thread::Builder;
use std::{fs, io};

use rustix::event::{PollFd, PollFlags, poll};

use super::sys::{self, Notice};
use crate::confine::events::{Event, Events, Violation};

/// Denials noted of one start. A command that tries in a loop must not wash the log away.
pub(super) const MOST: usize = 1000;

/// Answers from a thread of its own, until every process under the filter is gone. Without a
/// thread nobody answers, and the kernel denies.
pub(super) fn answer(listener: OwnedFd, events: Events) {
    let _ = Builder::new().name("notices".to_owned()).spawn(move || {
        let mut noted = 0;
        while let Ok(notice) = next(&listener) {
            if let Some(notice) = notice {
                if noted < MOST {
                    noted += 1;
                    // Denied is denied, noted or not.
                    let _ = events.note(Event::NetViolation(violation(&notice, noted == MOST)));
                }
                // The process may have died meanwhile.
                let _ = sys::deny(&listener, &notice, libc::EPERM);
            }
        }
    });
}

/// The next one; none when the process that asked has died. An error when nobody is left to ask.
fn next(listener: &OwnedFd) -> io::Result<Option<Notice>> {
    let mut fds = [PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN)];
    match poll(&mut fds, None) {
        Err(rustix::io::Errno::INTR) => return Ok(None),
        answer => answer?,
    };
    if !fds[0].revents().contains(PollFlags::IN) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    match sys::next_notice(listener) {
        Ok(notice) => Ok(Some(notice)),
        Err(error) => match error.raw_os_error() {
            Some(libc::ENOENT | libc::EINTR) => Ok(None),
            _ => Err(error),
        },
    }
}

fn violation(notice: &Notice, last: bool) -> Violation {
    let name = fs::read_to_string(format!("/proc/{}/comm", notice.pid)).unwrap_or_default();
    let more = if last { ", and more that are not noted" } else { "" };
    Violation {
        operation: if notice.call == libc::SYS_socketpair { "socketpair" } else { "socket" }
            .to_owned(),
        target: format!("{}{more}", family(notice.family, notice.protocol)),
        command: name.trim_end_matches('\n').to_owned(),
        pid: Some(notice.pid),
    }
}

/// A family of sockets by its name.
fn family(family: i32, protocol: i32) -> String {
    let name = match family {
        libc::AF_INET if protocol == libc::IPPROTO_MPTCP => "inet mptcp",
        libc::AF_INET6 if protocol == libc::IPPROTO_MPTCP => "inet6 mptcp",
        libc::AF_INET => "inet",
        libc::AF_INET6 => "inet6",
        libc::AF_NETLINK => return format!("netlink {protocol}"),
        libc::AF_PACKET => "packet",
        libc::AF_VSOCK => "vsock",
        libc::AF_ALG => "alg",
        libc::AF_BLUETOOTH => "bluetooth",
        other => return format!("family {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(2, 0, "inet")]
    #[case(2, 262, "inet mptcp")]
    #[case(10, 6, "inet6")]
    #[case(16, 15, "netlink 15")]
    #[case(40, 0, "vsock")]
    #[case(99, 0, "family 99")]
    fn families_have_names(#[case] number: i32, #[case] protocol: i32, #[case] name: &str) {
        assert_eq!(family(number, protocol), name);
    }
}
