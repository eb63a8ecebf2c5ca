//! The few calls for which no safe wrapper exists.
#![expect(unsafe_code, reason = "system calls without a safe wrapper in rustix or nix")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{ForkResult, Pid};
use seccompiler::sock_filter;

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
    // SAFETY: confine starts threads only after its last fork, so the child, a copy of the only thread, may allocate and
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

/// Takes over an inherited descriptor, as a new one that is closed on exec.
pub(super) fn take_descriptor(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: F_DUPFD_CLOEXEC on a number makes a new descriptor, or fails when it is not open.
    let fd = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made it, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Installs a filter of calls; the descriptor hears of those it holds up.
pub(super) fn filter_with_listener(program: &[sock_filter]) -> io::Result<OwnedFd> {
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // Without the second flag a signal interrupts a call that is held up; kernels before 5.19
    // do not know it.
    match install_filter(program, flags | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => install_filter(program, flags),
        answer => answer,
    }
}

fn install_filter(program: &[sock_filter], flags: libc::c_ulong) -> io::Result<OwnedFd> {
    let len = libc::c_ushort::try_from(program.len()).map_err(io::Error::other)?;
    // The same structure of the kernel, under the names of two crates; it is only read.
    let filter = program.as_ptr().cast::<libc::sock_filter>().cast_mut();
    let program = libc::sock_fprog { len, filter };
    // SAFETY: the program outlives the call, and its true length is given.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            std::ptr::from_ref(&program),
        )
    };
    let fd = i32::try_from(fd).unwrap_or(-1);
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made it, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A call that a filter holds up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notice {
    id: u64,
    /// Who calls.
    pub(super) pid: u32,
    /// Which call.
    pub(super) call: libc::c_long,
    /// Its first argument.
    pub(super) family: i32,
    /// Its third argument.
    pub(super) protocol: i32,
}

nix::ioctl_readwrite!(receive_notice, b'!', 0, libc::seccomp_notif);
nix::ioctl_readwrite!(answer_notice, b'!', 1, libc::seccomp_notif_resp);

/// Waits for the next call that is held up.
pub(super) fn next_notice(listener: &OwnedFd) -> io::Result<Notice> {
    // SAFETY: a structure of integers may be zero, as the kernel demands of this one.
    let mut notice: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the listener is open, and the structure is the one this call fills.
    unsafe { receive_notice(listener.as_raw_fd(), &raw mut notice) }?;
    // The kernel takes an `int`: the high half is whatever the caller left there.
    #[expect(clippy::cast_possible_truncation, reason = "as the kernel does")]
    let argument = |number: usize| notice.data.args[number] as u32;
    Ok(Notice {
        id: notice.id,
        pid: notice.pid,
        call: notice.data.nr.into(),
        family: argument(0).cast_signed(),
        protocol: argument(2).cast_signed(),
    })
}

/// Answers a call that is held up with an error.
pub(super) fn deny(listener: &OwnedFd, notice: &Notice, errno: i32) -> io::Result<()> {
    let mut answer = libc::seccomp_notif_resp { id: notice.id, val: 0, error: -errno, flags: 0 };
    // SAFETY: the listener is open, and the structure is the one this call reads.
    unsafe { answer_notice(listener.as_raw_fd(), &raw mut answer) }?;
    Ok(())
}
