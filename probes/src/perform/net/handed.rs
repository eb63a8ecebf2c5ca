//! A socket that another process hands over.

use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};

use super::{Digest, Endpoint, Named, Tried};
use super::{address, connect_by, is_stream, send_by, socket, unavailable};
use crate::SendCall;

/// Asks at `from` for a socket, and sends `text` with it to `to`.
pub(in super::super) fn receive(
    from: &Endpoint,
    to: &Endpoint,
    text: &str,
    seen: &mut Digest,
) -> Tried<()> {
    let door = socket(from)?;
    rustix::net::connect(&door, &address(from)?).named("connect")?;
    let handed = take(&door)?;
    if is_stream(to) {
        return connect_by(&handed, to, text, seen);
    }
    let flags = super::NO_SIGNAL;
    send_by(SendCall::Sendto, &handed, text.as_bytes(), flags, &address(to)?).map(drop)
}

/// The one descriptor that comes over this socket.
fn take(door: &OwnedFd) -> Tried<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut parts = [IoSliceMut::new(&mut byte)];
    rustix::net::recvmsg(door, &mut parts, &mut control, RecvFlags::empty()).named("recvmsg")?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(mut descriptors) = message
            && let Some(socket) = descriptors.next()
        {
            return Ok(socket);
        }
    }
    Err(unavailable("nothing was handed over"))
}
