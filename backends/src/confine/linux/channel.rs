//! What the child tells its supervisor while it starts, and the one answer it waits for.
//!
//! The command runs only once the supervisor has noted that it is confined. When the supervisor is
//! gone, no answer comes and nothing runs.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::process::getppid;
use serde::{Deserialize, Serialize};

use super::{supervise, sys};
use crate::confine::refusal::Refusal;

/// What a child tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Word {
    /// It can have no namespaces or covers; another way may be tried.
    Trouble(Refusal),
    /// It cannot be confined.
    Refused(Refusal),
    /// `bwrap` has done its part.
    Laid,
    /// It, the process of this number, is confined, and waits.
    Confined(u32),
}

/// What a supervisor hears.
#[derive(Debug)]
pub(super) enum Told {
    /// See [`Word`].
    Trouble(Refusal),
    /// See [`Word`].
    Refused(Refusal),
    /// See [`Word`].
    Laid,
    /// See [`Word`].
    Confined(Waiting),
    /// The child ended without a word.
    Nothing,
}

/// A child that is confined and waits to be let go.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Its process.
    pub(super) pid: u32,
    /// The listener of its filter, if that has one.
    pub(super) listener: Option<OwnedFd>,
}

/// The supervisor's end.
#[derive(Debug)]
pub(super) struct Hearer {
    socket: OwnedFd,
}

/// The child's end.
#[derive(Debug)]
pub(super) struct Teller {
    socket: OwnedFd,
}

/// Processes between a supervisor and its child; bwrap is one or two.
const ANCESTORS: usize = 8;

/// Longest message; a refusal names a path or two.
const LONGEST: usize = 64 * 1024;

/// Both ends.
pub(super) fn pair() -> io::Result<(Hearer, Teller)> {
    let (a, b) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    Ok((Hearer { socket: a }, Teller { socket: b }))
}

impl Hearer {
    /// Waits for the next word.
    pub(super) fn hear(&self) -> io::Result<Told> {
        let mut text = vec![0; LONGEST];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut text)];
        let got = recvmsg(&self.socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        let mut fd = None;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(mut fds) = message {
                fd = fds.next();
            }
        }
        if got.bytes == 0 {
            return Ok(Told::Nothing);
        }
        let told = text.get(..got.bytes).unwrap_or_default();
        Ok(match serde_json::from_slice(told)? {
            Word::Trouble(refusal) => Told::Trouble(refusal),
            Word::Refused(refusal) => Told::Refused(refusal),
            Word::Laid => Told::Laid,
            Word::Confined(pid) => Told::Confined(Waiting { pid, listener: fd }),
        })
    }

    /// Lets the child go on.
    pub(super) fn go(&self) -> io::Result<()> {
        Ok(rustix::io::write(&self.socket, b"go").map(drop)?)
    }
}

impl Teller {
    /// The end that was handed over under this number.
    pub(super) fn handed(number: i32) -> io::Result<Self> {
        sys::take_descriptor(number).map(|socket| Self { socket })
    }

    /// Keeps it open over an exec, and gives its number.
    pub(super) fn hand_over(&self) -> io::Result<i32> {
        let number = self.socket.as_raw_fd();
        sys::keep_on_exec(number).map(|()| number)
    }

    /// Whether the process that made the channel still is one of those above this one.
    pub(super) fn is_from_above(&self) -> bool {
        let Ok(maker) = rustix::net::sockopt::socket_peercred(&self.socket) else { return false };
        let above = std::iter::successors(getppid(), |pid| supervise::parent(*pid));
        above.take(ANCESTORS).any(|pid| pid == maker.pid)
    }

    pub(super) fn trouble(&self, refusal: Refusal) {
        // A supervisor that is gone needs no answer.
        let _ = self.tell(&Word::Trouble(refusal), None);
    }

    pub(super) fn refused(&self, refusal: Refusal) {
        let _ = self.tell(&Word::Refused(refusal), None);
    }

    pub(super) fn laid(&self) -> io::Result<()> {
        self.tell(&Word::Laid, None)
    }

    /// Tells that all is taken away, and waits to be let go.
    pub(super) fn confined(&self, listener: Option<OwnedFd>) -> Result<(), Refusal> {
        let answered =
            self.tell(&Word::Confined(std::process::id()), listener.as_ref()).and_then(|()| {
                let mut answer = [0; 2];
                Ok(rustix::io::read(&self.socket, &mut answer)? == answer.len())
            });
        if answered.unwrap_or(false) {
            return Ok(());
        }
        Err(Refusal::new("the supervisor of this start is gone", "start again"))
    }

    fn tell(&self, word: &Word, fd: Option<&OwnedFd>) -> io::Result<()> {
        let text = serde_json::to_vec(word)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let fds: Vec<_> = fd.iter().map(|fd| fd.as_fd()).collect();
        if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&fds)) {
            return Err(io::Error::other("a descriptor cannot be passed"));
        }
        sendmsg(&self.socket, &[IoSlice::new(&text)], &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    }
}
