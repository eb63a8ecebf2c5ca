//! File handles: a file without a name.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// `struct file_handle` with room for the longest id.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Handle {
    /// How many bytes of `id` count.
    pub bytes: u32,
    /// What they mean; each file system has its kinds.
    pub kind: i32,
    /// The id.
    pub id: [u8; 128],
}

/// The handle of a path.
pub fn of(path: &Path) -> io::Result<Handle> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut handle = Handle { bytes: 128, kind: 0, id: [0; 128] };
    let mut mount = 0_i32;
    // SAFETY: a path that ends with NUL, and two places of the sizes that the kernel writes; `bytes`
    // says how much room there is.
    let value = unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            libc::AT_FDCWD,
            path.as_ptr(),
            &raw mut handle,
            &raw mut mount,
            0,
        )
    };
    if value == 0 { Ok(handle) } else { Err(io::Error::last_os_error()) }
}

/// Opens a handle for reading; `mount` is any descriptor on its file system.
pub fn open(mount: BorrowedFd<'_>, handle: &mut Handle) -> io::Result<OwnedFd> {
    let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the kernel only reads the handle, of which `bytes` says how much counts; what it
    // answers is a new descriptor.
    unsafe {
        let number =
            libc::syscall(libc::SYS_open_by_handle_at, mount.as_raw_fd(), &raw mut *handle, flags);
        match number {
            -1 => Err(io::Error::last_os_error()),
            number => Ok(OwnedFd::from_raw_fd(number as i32)),
        }
    }
}
