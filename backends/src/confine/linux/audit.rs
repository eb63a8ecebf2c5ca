//! Denials that Landlock tells to the kernel's audit, read back from there.
//!
//! Only root may listen, only from Landlock ABI 7 on, and only while audit is on; it is never
//! switched on here. What mounts refuse (EROFS) is told to nobody.

mod record;
mod story;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::thread::{Builder, JoinHandle};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, sendto, socket_with,
};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::confine::events::Events;
use story::Story;

/// Asks for the state of audit.
const GET: u16 = 1000;
/// A message of a program; the kernel passes it on like its own.
const USER: u16 = 1005;
/// The group that reads along.
const READ_LOG: u32 = 1;
/// A request that wants an answer.
const REQUEST: u16 = 1;
/// Length of the head of a netlink message.
const HEAD: usize = 16;
/// How long the last records may take.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };

/// A socket that hears all records.
#[derive(Debug)]
pub(super) struct Audit {
    socket: OwnedFd,
}

/// A thread that notes the denials of one start.
#[derive(Debug)]
pub(super) struct Follower {
    running: OwnedFd,
    thread: JoinHandle<()>,
}

impl Audit {
    /// Listens, where that is allowed and there is something to hear.
    pub(super) fn listen() -> Option<Self> {
        if !rustix::process::geteuid().is_root() || !is_on().unwrap_or(false) {
            return None;
        }
        socket(READ_LOG).ok().map(|socket| Self { socket })
    }

    /// Notes denials in the domain that this process made, from a thread of its own.
    pub(super) fn follow(self, maker: u32, events: Events) -> Option<Follower> {
        let (ended, running) = pipe_with(PipeFlags::CLOEXEC).ok()?;
        let mut story = Story::of(maker, events);
        let read = move || {
            while wait(&self.socket, Some(&ended), None) {
                self.read(&mut story);
            }
            self.read_rest(&mut story, maker);
        };
        let thread = Builder::new().name("audit".to_owned()).spawn(read).ok()?;
        Some(Follower { running, thread })
    }

    /// One message. One that does not fit into the queue of the socket is lost.
    fn read(&self, story: &mut Story) -> bool {
        let mut message = [0; 9000];
        let Ok((length, _)) = recv(&self.socket, &mut message[..], RecvFlags::DONTWAIT) else {
            return false;
        };
        let message = message.get(..length).unwrap_or_default();
        let kind = message.get(4..6).and_then(|two| two.try_into().ok()).map(u16::from_ne_bytes);
        let text = String::from_utf8_lossy(message.get(HEAD..).unwrap_or_default());
        kind.is_some_and(|kind| story.hear(kind, text.trim_end_matches('\0')))
    }

    /// Reads on until a message of our own comes back: by then all before it have come.
    fn read_rest(&self, story: &mut Story, maker: u32) {
        let mark = format!("op=confine-end maker={maker}");
        story.end_at(&mark);
        if send(&self.socket, USER, mark.as_bytes()).is_err() {
            return;
        }
        while wait(&self.socket, None, Some(&PATIENCE)) {
            if self.read(story) {
                return;
            }
        }
    }
}

impl Follower {
    /// Notes what is still to come.
    pub(super) fn finish(self) {
        drop(self.running);
        // A thread that panicked has noted what it could.
        let _ = self.thread.join();
    }
}

/// Waits for a message; false when the other end of `ended` is closed, or the time is up.
fn wait(socket: &OwnedFd, ended: Option<&OwnedFd>, time: Option<&Timespec>) -> bool {
    let mut fds = vec![PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)];
    fds.extend(ended.map(|ended| PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::IN)));
    loop {
        match poll(&mut fds, time) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) | Ok(0) => return false,
            Ok(_) => return fds.iter().skip(1).all(|fd| fd.revents().is_empty()),
        }
    }
}

fn socket(groups: u32) -> io::Result<OwnedFd> {
    let protocol = Some(netlink::AUDIT);
    let socket =
        socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?;
    bind(&socket, &SocketAddrNetlink::new(0, groups))?;
    Ok(socket)
}

/// Whether audit is on.
fn is_on() -> io::Result<bool> {
    let control = socket(0)?;
    send(&control, GET, &[])?;
    while wait(&control, None, Some(&PATIENCE)) {
        let mut answer = [0; 256];
        let (length, _) = recv(&control, &mut answer[..], RecvFlags::DONTWAIT)?;
        let answer = answer.get(..length).unwrap_or_default();
        if answer.get(4..6) == Some(&GET.to_ne_bytes()) {
            // The second number of the state, behind a mask.
            return Ok(answer.get(HEAD + 4..HEAD + 8).is_some_and(|on| on != [0; 4]));
        }
    }
    Ok(false)
}

fn send(socket: &OwnedFd, kind: u16, text: &[u8]) -> io::Result<()> {
    let length = u32::try_from(HEAD + text.len()).map_err(io::Error::other)?;
    let mut message = Vec::new();
    message.extend(length.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(text);
    sendto(socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    Ok(())
}
