//! Through an io_uring: the kernel performs what stands in shared memory, and the call that a
//! filter watches is never made.

use std::path::Path;

use super::digest::Digest;
use super::failure::Tried;
use crate::Endpoint;

#[cfg(target_os = "linux")]
pub(super) use linux::{connect, read};

#[cfg(target_os = "linux")]
mod linux {
    use super::{Digest, Endpoint, Path, Tried};
    use crate::perform::failure::Named;
    use crate::perform::{file, net};
    use crate::sys::ring::Ring;

    /// Opens through a ring, reads as usual.
    pub(in crate::perform) fn read(path: &Path, seen: &mut Digest) -> Tried<()> {
        let mut ring = Ring::set_up().named("io_uring_setup")?;
        file::drain(&ring.open(path).named("IORING_OP_OPENAT")?, seen)
    }

    /// Makes, connects and writes to a stream through a ring.
    pub(in crate::perform) fn connect(to: &Endpoint, text: &str) -> Tried<()> {
        let address = net::address(to)?;
        let mut ring = Ring::set_up().named("io_uring_setup")?;
        let family = i32::from(address.address_family().as_raw());
        let socket = ring.stream(family).named("IORING_OP_SOCKET")?;
        ring.connect(&socket, &address).named("IORING_OP_CONNECT")?;
        ring.send(&socket, text.as_bytes()).named("IORING_OP_SEND")
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn read(_: &Path, _: &mut Digest) -> Tried<()> {
    Err(super::failure::unavailable("only Linux has io_uring"))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn connect(_: &Endpoint, _: &str) -> Tried<()> {
    Err(super::failure::unavailable("only Linux has io_uring"))
}
