//! The supervisor: a process between sandproof and its subjects that outlives neither.
//!
//! It is a child subreaper, so every process of a subject ends up below it. When a subject ends,
//! is to be killed, or sandproof dies in any way (its socket ends), it kills and reaps everything
//! below it; namespaces and mounts go with their last process. One supervisor serves one worker,
//! one launch at a time.

use std::collections::BTreeMap;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

mod serve;
mod tree;

pub use serve::main;

/// The hidden first argument that turns sandproof into a supervisor.
pub const ARGUMENT: &str = "supervise";

/// Descriptors that one launch may hand over.
pub const MAX_FDS: usize = 64;

/// Longer messages are not sent; a socket's buffer takes no more, and environments are small.
const MAX_MESSAGE: usize = 96 * 1024;

/// A peer that is gone is an error, no signal.
#[cfg(target_os = "linux")]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const NO_SIGNAL: SendFlags = SendFlags::empty();

/// Received descriptors are not inherited by mistake.
#[cfg(target_os = "linux")]
const CLOSE_ON_EXEC: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const CLOSE_ON_EXEC: RecvFlags = RecvFlags::empty();

/// What a worker tells its supervisor.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Start this; descriptors come along in the order stdin, stdout, stderr, inherited.
    Start {
        /// Program and arguments.
        argv: Vec<String>,
        /// The whole environment.
        env: BTreeMap<String, String>,
        /// Working directory.
        cwd: String,
        /// Numbers of the inherited descriptors.
        inherited: Vec<i32>,
        /// The last descriptor is a terminal to become the controlling one.
        terminal: bool,
    },
    /// Kill what was started.
    Kill,
}

/// What a supervisor answers.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// It runs.
    Started,
    /// It could not be started.
    Unstartable(String),
    /// The subject ended and nothing of it is left.
    Ended {
        /// Exit status, if it exited.
        code: Option<i32>,
        /// Signal, if one ended it.
        signal: Option<i32>,
        /// Processes of it that were still there a moment later, and were killed.
        leftovers: Vec<String>,
    },
}

/// A worker's handle on its supervisor.
#[derive(Debug)]
pub struct Supervisor {
    socket: OwnedFd,
    process: Child,
}

impl Supervisor {
    /// Starts one from this executable.
    ///
    /// # Errors
    /// As starting a process.
    pub fn spawn(executable: &Path) -> io::Result<Self> {
        let (ours, theirs) = packet_pair()?;
        let process = Command::new(executable)
            .arg(ARGUMENT)
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()?;
        Ok(Self { socket: ours, process })
    }

    /// The socket, to poll for events.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Sends one order with its descriptors.
    ///
    /// # Errors
    /// The supervisor is gone, or the message is too long.
    pub fn order(&self, order: &Order, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        send(self.socket.as_fd(), order, fds)
    }

    /// Waits for one event.
    ///
    /// # Errors
    /// The supervisor is gone.
    pub fn event(&self) -> io::Result<Event> {
        let (event, _) = receive::<Event>(self.socket.as_fd())?;
        event.ok_or_else(|| io::Error::other("the supervisor ended"))
    }

    /// Its pid.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // The end of its socket is the order to end; it kills what is left first.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        let _ = self.process.wait();
    }
}

fn packet_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    #[cfg(target_os = "linux")]
    let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
    #[cfg(not(target_os = "linux"))]
    let (kind, flags) = (SocketType::DGRAM, SocketFlags::empty());
    Ok(socketpair(AddressFamily::UNIX, kind, flags, None)?)
}

/// Sends one message.
fn send<T: Serialize>(
    socket: BorrowedFd<'_>,
    message: &T,
    fds: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    if bytes.len() > MAX_MESSAGE {
        return Err(io::Error::other("a command line with environment of more than 96 KiB"));
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::other(format!("more than {MAX_FDS} descriptors")));
    }
    let flags = NO_SIGNAL;
    rustix::io::retry_on_intr(|| sendmsg(socket, &[IoSlice::new(&bytes)], &mut control, flags))?;
    Ok(())
}

/// Receives one message with its descriptors; nothing at the end.
fn receive<T: for<'de> Deserialize<'de>>(
    socket: BorrowedFd<'_>,
) -> io::Result<(Option<T>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; MAX_MESSAGE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let length = loop {
        let mut slices = [IoSliceMut::new(&mut bytes)];
        match recvmsg(socket, &mut slices, &mut control, CLOSE_ON_EXEC) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other?.bytes,
        }
    };
    let mut fds = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            fds.extend(received);
        }
    }
    if length == 0 {
        return Ok((None, fds));
    }
    Ok((Some(serde_json::from_slice(&bytes[..length])?), fds))
}
