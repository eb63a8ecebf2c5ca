//! One operation after another through an io_uring.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use io_uring::types::Fd;
use io_uring::{IoUring, opcode, squeue};
use rustix::net::SocketAddrAny;

/// A ring with nothing in it.
pub struct Ring(IoUring);

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ring")
    }
}

impl Ring {
    /// Asks the kernel for one.
    pub fn set_up() -> io::Result<Self> {
        IoUring::new(2).map(Self)
    }

    /// Opens a file for reading.
    pub fn open(&mut self, path: &Path) -> io::Result<OwnedFd> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        let entry = opcode::OpenAt::new(Fd(libc::AT_FDCWD), path.as_ptr()).flags(flags);
        // SAFETY: `path` outlives the call.
        let number = unsafe { self.perform(&entry.build()) }?;
        Ok(owned(number))
    }

    /// Makes a stream socket.
    pub fn stream(&mut self, family: i32) -> io::Result<OwnedFd> {
        let entry = opcode::Socket::new(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        // SAFETY: integers by value.
        let number = unsafe { self.perform(&entry.build()) }?;
        Ok(owned(number))
    }

    /// Connects it.
    pub fn connect(&mut self, socket: &OwnedFd, to: &SocketAddrAny) -> io::Result<()> {
        let entry = opcode::Connect::new(Fd(socket.as_raw_fd()), to.as_ptr().cast(), to.addr_len());
        // SAFETY: `to` holds as many bytes as it says and outlives the call.
        unsafe { self.perform(&entry.build()) }.map(drop)
    }

    /// Sends once.
    pub fn send(&mut self, socket: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
        let entry = opcode::Send::new(Fd(socket.as_raw_fd()), bytes.as_ptr(), bytes.len() as u32);
        // SAFETY: `bytes` outlives the call.
        unsafe { self.perform(&entry.flags(libc::MSG_NOSIGNAL).build()) }.map(drop)
    }

    /// Hands one operation in and waits until it is done.
    ///
    /// # Safety
    /// What the entry points to must stay in place until this returns.
    unsafe fn perform(&mut self, entry: &squeue::Entry) -> io::Result<i32> {
        // SAFETY: as promised by the caller; nothing else is in the ring.
        unsafe { self.0.submission().push(entry) }.map_err(io::Error::other)?;
        // Not before it is done: the kernel may still read what the entry points to.
        while let Err(error) = self.0.submit_and_wait(1) {
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        let done = self.0.completion().next();
        let value = done.map_or(-libc::EIO, |done| done.result());
        if value < 0 { Err(io::Error::from_raw_os_error(-value)) } else { Ok(value) }
    }
}

fn owned(number: i32) -> OwnedFd {
    // SAFETY: the kernel has just made it for this process.
    unsafe { OwnedFd::from_raw_fd(number) }
}
