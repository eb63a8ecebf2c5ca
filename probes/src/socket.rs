//! Socket addresses that only some systems have.

use std::io;
use std::os::unix::net::SocketAddr;

/// An address in Linux's abstract name space (name without the leading NUL).
///
/// # Errors
/// The name is too long, or this is no Linux.
#[cfg(target_os = "linux")]
pub fn abstract_address(name: &str) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt as _;
    SocketAddr::from_abstract_name(name)
}

/// An address in Linux's abstract name space.
///
/// # Errors
/// Always: this is no Linux.
#[cfg(not(target_os = "linux"))]
pub fn abstract_address(_: &str) -> io::Result<SocketAddr> {
    Err(io::Error::other("abstract sockets exist on Linux only"))
}
