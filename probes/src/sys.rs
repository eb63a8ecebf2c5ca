//! Safe names for the system calls that no other crate wraps: the only module with `unsafe` here.
//!
//! Whatever `nix` or `rustix` offer as a safe function is used from there. Several functions can
//! harm the process that calls them (a raw system call can unmap memory): they are meant for a
//! forked child whose death is an observation, or for the moment before `exec`.

#![expect(unsafe_code, reason = "fork, raw system calls and descriptors by number")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Resource, getrlimit};

use crate::Abi;

#[cfg(target_os = "linux")]
pub mod handle;
#[cfg(target_os = "linux")]
pub mod ring;

/// `O_PATH` where there is one; elsewhere descriptors that only name a file do not exist.
#[cfg(target_os = "linux")]
pub const PATH_ONLY: i32 = libc::O_PATH;

/// `O_PATH` where there is one; elsewhere descriptors that only name a file do not exist.
#[cfg(not(target_os = "linux"))]
pub const PATH_ONLY: i32 = 0;

/// Which side of a [`fork`] this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fork {
    /// The caller; the number is the pid of the child.
    Parent(i32),
    /// The new process.
    Child,
}

/// Forks. Only for processes with a single thread: in the child of a process with more, a lock
/// that another thread held (the allocator's, say) stays locked for ever.
pub fn fork() -> io::Result<Fork> {
    // SAFETY: callers have one thread (see above), so no lock is lost and the child may allocate.
    match unsafe { nix::unistd::fork() }? {
        nix::unistd::ForkResult::Parent { child } => Ok(Fork::Parent(child.as_raw())),
        nix::unistd::ForkResult::Child => Ok(Fork::Child),
    }
}

/// Ends the process at once: no destructor, no exit handler, no flushing of inherited buffers.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` takes an integer and does not return.
    unsafe { libc::_exit(code) }
}

/// Runs `f` in the child of `cmd` between fork and exec.
///
/// `f` must not allocate or lock when the calling process has several threads; it must not close
/// descriptors by number (see [`close_on_exec_from`]), for one of them tells the parent of a
/// failed exec.
pub fn before_exec<F>(cmd: &mut Command, f: F) -> &mut Command
where
    F: FnMut() -> io::Result<()> + Send + Sync + 'static,
{
    // SAFETY: the closure owns what it uses ('static) and keeps to the rules above.
    unsafe { cmd.pre_exec(f) }
}

/// Why a raw system call gave no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The kernel answered this errno.
    #[error("errno {0}")]
    Errno(i32),
    /// This machine has no such table of system calls.
    #[error("{0}")]
    Unavailable(&'static str),
}

/// Enters the kernel with this number and these arguments, through the table of `abi`.
///
/// Only in a forked child: the call may do anything to the process. Without 32-bit emulation
/// [`Abi::I386`] ends it by SIGSEGV, and a filter may end it by SIGSYS.
pub fn syscall(abi: Abi, number: i64, args: [i64; 6]) -> Result<i64, CallError> {
    let before = std::process::id();
    let value = enter(abi, number, args)?;
    if value == 0 && std::process::id() != before {
        exit_now(0); // the call was a fork: the copy must not answer as well
    }
    if (-4095..0).contains(&value) {
        return Err(CallError::Errno((-value) as i32));
    }
    Ok(value)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn enter(abi: Abi, number: i64, args: [i64; 6]) -> Result<i64, CallError> {
    const X32_BIT: i64 = 0x4000_0000;
    Ok(match abi {
        Abi::Native => enter_64(number, args),
        Abi::X32 => enter_64(number | X32_BIT, args),
        Abi::I386 => enter_32(number, args),
    })
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn enter_64(number: i64, [a, b, c, d, e, f]: [i64; 6]) -> i64 {
    let value: i64;
    // SAFETY: registers are those of the x86-64 convention, rcx and r11 are marked as lost, and
    // the stack is not declared unused, so a vforked copy cannot spoil a red zone. What the kernel
    // does to the process is the caller's wish.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number => value,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    value
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn enter_32(number: i64, [a, b, c, d, e, f]: [i64; 6]) -> i64 {
    let value: i64;
    // SAFETY: rbx and rbp, which may not be operands, are saved on the stack (not declared
    // unused) and restored; r8 to r11, which some kernels clear, are marked as lost.
    unsafe {
        core::arch::asm!(
            "push rbx",
            "push rbp",
            "mov rbx, r8",
            "mov rbp, r9",
            "int 0x80",
            "pop rbp",
            "pop rbx",
            inlateout("rax") number => value,
            in("rcx") b, in("rdx") c, in("rsi") d, in("rdi") e,
            inlateout("r8") a => _, inlateout("r9") f => _,
            lateout("r10") _, lateout("r11") _,
        );
    }
    i64::from(value as i32)
}

#[cfg(all(target_os = "linux", not(target_arch = "x86_64")))]
fn enter(abi: Abi, number: i64, [a, b, c, d, e, f]: [i64; 6]) -> Result<i64, CallError> {
    match abi {
        Abi::Native => {
            // SAFETY: six integers by value; what the kernel does is the caller's wish.
            let value = unsafe { libc::syscall(number, a, b, c, d, e, f) };
            if value == -1 { Ok(-i64::from(last_errno())) } else { Ok(value) }
        }
        Abi::X32 | Abi::I386 => Err(CallError::Unavailable("only x86-64 has this table")),
    }
}

#[cfg(not(target_os = "linux"))]
fn enter(_: Abi, _: i64, _: [i64; 6]) -> Result<i64, CallError> {
    Err(CallError::Unavailable("raw system calls are tried on Linux only"))
}

/// The third argument of [`ioctl`].
#[derive(Debug)]
pub enum IoctlArgument<'a> {
    /// An integer.
    Number(i64),
    /// A pointer to bytes; the buffer is large enough for whatever any request writes.
    Bytes(&'a mut IoctlBuffer),
}

/// As large as the size field of a request number can say (14 bits).
pub type IoctlBuffer = [u8; 1 << 14];

/// One `ioctl` on a descriptor by number. Only in a forked child: a request may read `Number` as
/// an address.
pub fn ioctl(fd: RawFd, request: u64, argument: IoctlArgument<'_>) -> io::Result<i32> {
    let value = match argument {
        // SAFETY: an integer by value; a request that takes it for an address harms this process.
        IoctlArgument::Number(number) => unsafe { libc::ioctl(fd, request as _, number) },
        // SAFETY: the buffer outlives the call and holds any size a request number can name.
        IoctlArgument::Bytes(bytes) => unsafe { libc::ioctl(fd, request as _, bytes.as_mut_ptr()) },
    };
    if value == -1 { Err(io::Error::last_os_error()) } else { Ok(value) }
}

/// Sends a signal by number (0 only asks), also one that has no name.
pub fn kill(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: two integers by value.
    answer(unsafe { libc::kill(pid, signal) })
}

/// Lets the children of this process be waited for even if its launcher ignored SIGCHLD, which
/// exec passes on.
pub fn notice_children() {
    // SAFETY: the default action is no function of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Lets a fault, or a signal that says so, end this process: the Rust runtime catches the first
/// SIGSEGV and SIGBUS, to tell about stack overflows.
pub fn die_of_faults() {
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: the default action is no function of ours.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Makes `number` a copy of `fd` that programs inherit, whatever `number` was before.
pub fn place(fd: BorrowedFd<'_>, number: RawFd) -> io::Result<()> {
    if fd.as_raw_fd() == number {
        return Ok(rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty())?);
    }
    // SAFETY: whoever owned `number` loses it; callers do this right before exec.
    answer(unsafe { libc::dup2(fd.as_raw_fd(), number) }.min(0))
}

/// A copy of the descriptor with this number, which nobody need own.
pub fn duplicate(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: a closed number answers EBADF; the copy is new and belongs to nobody else.
    unsafe {
        match libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) {
            -1 => Err(io::Error::last_os_error()),
            copy => Ok(OwnedFd::from_raw_fd(copy)),
        }
    }
}

/// Closes every descriptor from `first` upwards, whoever owns it: only right before exec, or in a
/// fresh child that keeps none.
pub fn close_from(first: RawFd) {
    if close_range(first, 0) {
        return;
    }
    for fd in first..highest() {
        // SAFETY: closing by number is what was asked for; a closed one answers EBADF.
        unsafe { libc::close(fd) };
    }
}

/// Lets no program inherit a descriptor from `first` upwards. Fit for [`before_exec`].
pub fn close_on_exec_from(first: RawFd) {
    if close_range(first, CLOSE_ON_EXEC) {
        return;
    }
    for fd in first..highest() {
        // SAFETY: sets a flag on a descriptor by number; a closed one answers EBADF.
        unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

const CLOSE_ON_EXEC: u32 = 4;

#[cfg(target_os = "linux")]
fn close_range(first: RawFd, flags: u32) -> bool {
    // SAFETY: three integers by value; the callers' words say what it does.
    unsafe { libc::syscall(libc::SYS_close_range, first as u32, u32::MAX, flags) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn close_range(_: RawFd, _: u32) -> bool {
    false
}

/// One above the highest number a descriptor may have, within reason.
fn highest() -> RawFd {
    let limit = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    RawFd::try_from(limit.min(1 << 16)).unwrap_or(1 << 16)
}

/// Starts a session and makes the terminal `fd` its controlling one.
pub fn controlling_terminal(fd: impl AsFd) -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(rustix::process::ioctl_tiocsctty(fd)?)
}

/// Lets (or does not let) processes of the same user look into this one.
pub fn set_dumpable(on: bool) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(nix::sys::prctl::set_dumpable(on)?);
    #[cfg(not(target_os = "linux"))]
    linux_only(on)
}

/// This signal ends the process when its parent thread ends; `None` takes that back.
pub fn set_pdeathsig(signal: Option<nix::sys::signal::Signal>) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(nix::sys::prctl::set_pdeathsig(signal)?);
    #[cfg(not(target_os = "linux"))]
    linux_only(signal)
}

/// Gives up every capability of this thread.
#[cfg(target_os = "linux")]
pub fn drop_capabilities() {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    // Giving up is always allowed.
    let _ = set_capabilities(None, sets);
}

/// Other systems have no capabilities.
#[cfg(not(target_os = "linux"))]
pub fn drop_capabilities() {}

/// Lets any process of the same user trace this one where Yama forbids it by default, so that a
/// denial is the sandbox's own.
#[cfg(target_os = "linux")]
pub fn allow_any_tracer() {
    // Without Yama the call fails, and there is nothing to allow.
    let _ = rustix::process::set_ptracer(rustix::process::PTracer::Any);
}

/// Other systems have no Yama.
#[cfg(not(target_os = "linux"))]
pub fn allow_any_tracer() {}

/// Orphans below this process become its children.
pub fn set_child_subreaper(on: bool) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(nix::sys::prctl::set_child_subreaper(on)?);
    #[cfg(not(target_os = "linux"))]
    linux_only(on)
}

/// No program started from here on gains privileges.
pub fn no_new_privs() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(nix::sys::prctl::set_no_new_privs()?);
    #[cfg(not(target_os = "linux"))]
    linux_only(())
}

#[cfg(not(target_os = "linux"))]
fn linux_only<T>(_: T) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(target_os = "linux", not(target_arch = "x86_64")))]
fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

fn answer(value: i32) -> io::Result<()> {
    if value == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
