//! Sockets: connecting, sending without connecting, binding.

use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::net::sockopt::{Timeout, set_socket_reuseaddr, set_socket_timeout};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendFlags, Shutdown, SocketAddrAny, SocketAddrUnix,
    SocketType as Kind,
};

use super::digest::Digest;
use super::failure::{Named, Tried, unavailable};
use crate::{Endpoint, SendCall, SocketType};

mod handed;

pub(super) use handed::receive;

/// How long connecting or sending may take: everything is on this host.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the other side of a stream has to take what was sent, and to hang up.
const FAREWELL: Duration = Duration::from_millis(500);

#[cfg(target_os = "linux")]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const NO_SIGNAL: SendFlags = SendFlags::empty();

/// Connects, sends `text`, and prints what a stream answers until it hangs up or [`FAREWELL`] is
/// over.
pub(super) fn connect(to: &Endpoint, text: &str, seen: &mut Digest) -> Tried<()> {
    connect_by(&socket(to)?, to, text, seen)
}

/// The same with this socket.
fn connect_by(socket: &OwnedFd, to: &Endpoint, text: &str, seen: &mut Digest) -> Tried<()> {
    rustix::net::connect(socket, &address(to)?).named("connect")?;
    if is_stream(to) {
        send_all(socket, text.as_bytes())?;
        farewell(socket, seen);
        return Ok(());
    }
    rustix::net::send(socket, text.as_bytes(), NO_SIGNAL).map(drop).named("sendto")
}

/// Connects by Multipath TCP, which falls back to plain TCP where the other side knows no better.
pub(super) fn connect_mptcp(to: &Endpoint, text: &str, seen: &mut Digest) -> Tried<()> {
    let Endpoint::Tcp { address } = to else {
        return Err(unavailable("only TCP has a multipath variant"));
    };
    let protocol = mptcp()?;
    let socket =
        rustix::net::socket(inet(address), Kind::STREAM, Some(protocol)).named("socket")?;
    connect_by(&prepared(socket)?, to, text, seen)
}

/// Sends `text` without connecting first.
pub(super) fn send(to: &Endpoint, text: &str, by: SendCall, seen: &mut Digest) -> Tried<()> {
    let flags = match to {
        Endpoint::Tcp { .. } => fast_open()?,
        Endpoint::Udp { .. } | Endpoint::Unix { .. } | Endpoint::Abstract { .. } => NO_SIGNAL,
    };
    let address = address(to)?;
    let socket = socket(to)?;
    let sent = send_by(by, &socket, text.as_bytes(), flags, &address)?;
    if is_stream(to) {
        send_all(&socket, &text.as_bytes()[sent..])?;
        farewell(&socket, seen);
    }
    Ok(())
}

fn send_by(
    by: SendCall,
    socket: &OwnedFd,
    text: &[u8],
    flags: SendFlags,
    address: &SocketAddrAny,
) -> Tried<usize> {
    let parts = [IoSlice::new(text)];
    let control = &mut SendAncillaryBuffer::default();
    match by {
        SendCall::Sendto => rustix::net::sendto(socket, text, flags, address).named("sendto"),
        SendCall::Sendmsg => {
            rustix::net::sendmsg_addr(socket, address, &parts, control, flags).named("sendmsg")
        }
        SendCall::Sendmmsg => send_many(socket, &parts, flags, address),
    }
}

/// `sendmmsg` with one message.
#[cfg(target_os = "linux")]
fn send_many(
    socket: &OwnedFd,
    parts: &[IoSlice<'_>],
    flags: SendFlags,
    address: &SocketAddrAny,
) -> Tried<usize> {
    let mut control = SendAncillaryBuffer::default();
    let mut messages = [rustix::net::MMsgHdr::new_with_addr(address, parts, &mut control)];
    rustix::net::sendmmsg(socket, &mut messages, flags).named("sendmmsg")?;
    Ok(messages[0].bytes_sent())
}

#[cfg(not(target_os = "linux"))]
fn send_many(_: &OwnedFd, _: &[IoSlice<'_>], _: SendFlags, _: &SocketAddrAny) -> Tried<usize> {
    Err(unavailable("only Linux has sendmmsg"))
}

/// Binds, and listens on a stream. The socket is closed again; a name in the file system stays.
pub(super) fn bind(at: &Endpoint) -> Tried<()> {
    let address = address(at)?;
    let socket = socket(at)?;
    if let Endpoint::Tcp { .. } = at {
        // A convenience: a sandbox that denies it has not denied the attempt.
        let _ = set_socket_reuseaddr(&socket, true);
    }
    rustix::net::bind(&socket, &address).named("bind")?;
    if is_stream(at) { rustix::net::listen(&socket, 1).named("listen") } else { Ok(()) }
}

fn send_all(socket: &OwnedFd, mut rest: &[u8]) -> Tried<()> {
    while !rest.is_empty() {
        let count = rustix::net::send(socket, rest, NO_SIGNAL).named("sendto")?;
        rest = &rest[count..];
    }
    Ok(())
}

/// Says that nothing follows and waits until the other side hangs up: then the data has left.
/// Everything that was tried has succeeded by now, so nothing here is a failure.
fn farewell(socket: &OwnedFd, seen: &mut Digest) {
    use std::os::fd::AsFd as _;
    let end = Instant::now() + FAREWELL;
    let mut buffer = [0; 4096];
    let _ = rustix::net::shutdown(socket, Shutdown::Write);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
        let mut fds = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, timeout) {
            Ok(1..) => {}
            Ok(_) | Err(_) => return,
        }
        match rustix::io::read(socket, &mut buffer) {
            Ok(count @ 1..) => seen.take(&buffer[..count]),
            Ok(0) | Err(_) => return,
        }
    }
}

fn socket(to: &Endpoint) -> Tried<OwnedFd> {
    let (family, kind) = match to {
        Endpoint::Tcp { address } => (inet(address), Kind::STREAM),
        Endpoint::Udp { address } => (inet(address), Kind::DGRAM),
        Endpoint::Unix { kind, .. } | Endpoint::Abstract { kind, .. } => {
            (AddressFamily::UNIX, unix(*kind))
        }
    };
    prepared(rustix::net::socket(family, kind, None).named("socket")?)
}

fn prepared(socket: OwnedFd) -> Tried<OwnedFd> {
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC).named("fcntl")?;
    // A convenience: a sandbox that denies it has not denied the attempt.
    let _ = set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE));
    Ok(socket)
}

fn inet(address: &std::net::SocketAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 }
}

fn unix(kind: SocketType) -> Kind {
    match kind {
        SocketType::Stream => Kind::STREAM,
        SocketType::Datagram => Kind::DGRAM,
    }
}

fn is_stream(to: &Endpoint) -> bool {
    match to {
        Endpoint::Tcp { .. } => true,
        Endpoint::Udp { .. } => false,
        Endpoint::Unix { kind, .. } | Endpoint::Abstract { kind, .. } => {
            *kind == SocketType::Stream
        }
    }
}

pub(super) fn address(to: &Endpoint) -> Tried<SocketAddrAny> {
    match to {
        Endpoint::Tcp { address } | Endpoint::Udp { address } => Ok((*address).into()),
        // A name that does not fit is no denial, whatever errno the library gives it.
        Endpoint::Unix { path, .. } => SocketAddrUnix::new(path)
            .map(Into::into)
            .map_err(|_| unavailable("the path is longer than a socket address holds")),
        Endpoint::Abstract { name, .. } => abstract_name(name),
    }
}

#[cfg(target_os = "linux")]
fn abstract_name(name: &str) -> Tried<SocketAddrAny> {
    SocketAddrUnix::new_abstract_name(name.as_bytes())
        .map(Into::into)
        .map_err(|_| unavailable("the name is longer than a socket address holds"))
}

#[cfg(not(target_os = "linux"))]
fn abstract_name(_: &str) -> Tried<SocketAddrAny> {
    Err(unavailable("only Linux has abstract socket names"))
}

#[cfg(target_os = "linux")]
fn mptcp() -> Tried<rustix::net::Protocol> {
    std::num::NonZero::new(libc::IPPROTO_MPTCP as u32)
        .map(rustix::net::Protocol::from_raw)
        .ok_or_else(|| unavailable("no number for Multipath TCP"))
}

#[cfg(not(target_os = "linux"))]
fn mptcp() -> Tried<rustix::net::Protocol> {
    Err(unavailable("Multipath TCP by socket exists on Linux only"))
}

#[cfg(target_os = "linux")]
fn fast_open() -> Tried<SendFlags> {
    Ok(NO_SIGNAL | SendFlags::from_bits_retain(libc::MSG_FASTOPEN as u32))
}

#[cfg(not(target_os = "linux"))]
fn fast_open() -> Tried<SendFlags> {
    Err(unavailable("TCP Fast Open by sendto exists on Linux only"))
}
