//! The few calls for which no safe wrapper exists.
#![expect(unsafe_code, reason = "system calls without a safe wrapper in rustix or nix")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{ForkResult, Pid};

/// `struct mount_attr` of the kernel, version 0.
#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    userns: u64,
}

/// Sets mount attributes (`MOUNT_ATTR_*`) on the mount behind `fd`, and on those below it when
/// `recursive`.
pub(super) fn mount_setattr(fd: BorrowedFd<'_>, recursive: bool, set: u64) -> io::Result<()> {
    let attr = MountAttr { set, clear: 0, propagation: 0, userns: 0 };
    let deep = if recursive { libc::AT_RECURSIVE } else { 0 };
    let empty: &CStr = c"";
    // SAFETY: `fd` is open for the call, the path is a NUL-terminated constant, and the structure
    // outlives the call with its true size given.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            fd.as_raw_fd(),
            empty.as_ptr(),
            libc::AT_EMPTY_PATH | deep,
            std::ptr::from_ref(&attr),
            size_of::<MountAttr>(),
        )
    };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// True when the kernel has the call above.
pub(super) fn has_mount_setattr() -> bool {
    let none: Option<&MountAttr> = None;
    // SAFETY: -1 is no descriptor and the size is below any version, so that the call fails before
    // it reads anything.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            -1,
            c"".as_ptr(),
            0,
            none.map_or(std::ptr::null(), std::ptr::from_ref),
            0_usize,
        )
    };
    rc == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS)
}

/// Forks. The child is `None`.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: confine starts no thread, so the child, a copy of the only thread, may allocate and
    // take locks.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(Some(child)),
        ForkResult::Child => Ok(None),
    }
}

/// Marks every descriptor from `first` to `last` to be closed on exec.
pub(super) fn close_on_exec(first: u32, last: u32) -> io::Result<()> {
    // SAFETY: with CLOSE_RANGE_CLOEXEC nothing is closed now; only flags change.
    let rc =
        unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Marks one descriptor, by number, to be kept on exec; an error when it is not open.
pub(super) fn keep_on_exec(fd: i32) -> io::Result<()> {
    // SAFETY: F_SETFD on a number only changes a flag, or fails when the number is not open.
    let rc = unsafe { libc::fcntl(fd, libc::F_SETFD, 0) };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// True when a descriptor of this number is open.
pub(super) fn is_open(fd: i32) -> bool {
    // SAFETY: F_GETFD on a number only reads a flag, or fails when the number is not open.
    unsafe { libc::fcntl(fd, libc::F_GETFD) >= 0 }
}

/// Waits for one of these blocked signals; true when the kernel sent it, as it does for the keys
/// of a terminal.
pub(super) fn wait_for_signal(signals: &SigSet) -> io::Result<(Signal, bool)> {
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: both pointers are valid for the call, and a zeroed siginfo_t is a valid one.
    let (number, code) = unsafe {
        let number = libc::sigwaitinfo(signals.as_ref(), info.as_mut_ptr());
        (number, info.assume_init_ref().si_code)
    };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((Signal::try_from(number)?, code == libc::SI_KERNEL))
}

/// The Landlock ABI of the kernel.
pub(super) fn landlock_abi() -> io::Result<i32> {
    const VERSION: u32 = 1;
    // SAFETY: with the version flag the kernel takes a null pointer and a zero size, and only
    // answers a number.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    if rc >= 0 {
        Ok(i32::try_from(rc).unwrap_or(i32::MAX))
    } else {
        Err(io::Error::last_os_error())
    }
}
