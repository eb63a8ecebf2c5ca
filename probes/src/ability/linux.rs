//! Linux: one forked child for each question, which ends with the answer.

use std::io;

use rustix::process::{Pid, WaitOptions, waitpid};

use crate::Abi;
use crate::sys::{self, CallError, Fork};

/// A child ends so when what it tried does not work and there is no errno to tell.
const NO: i32 = 255;

/// 64-bit processes can enter the i386 table of system calls.
#[must_use]
pub fn ia32() -> bool {
    in_child(|| own_pid(Abi::I386, 20)) == Some(0)
}

/// The x32 table exists.
#[must_use]
pub fn x32() -> bool {
    in_child(|| own_pid(Abi::X32, libc::SYS_getpid)) == Some(0)
}

/// `io_uring_setup` gives a ring.
#[must_use]
pub fn io_uring() -> bool {
    in_child(|| {
        let mut parameters = [0_u8; 120];
        let address = parameters.as_mut_ptr() as i64;
        status(sys::syscall(Abi::Native, libc::SYS_io_uring_setup, [1, address, 0, 0, 0, 0]))
    }) == Some(0)
}

/// Multipath TCP sockets can be made.
#[must_use]
pub fn mptcp() -> bool {
    let (family, kind) = (i64::from(libc::AF_INET), i64::from(libc::SOCK_STREAM));
    let arguments = [family, kind, i64::from(libc::IPPROTO_MPTCP), 0, 0, 0];
    in_child(|| status(sys::syscall(Abi::Native, libc::SYS_socket, arguments))) == Some(0)
}

/// A sandbox can make its own user and mount namespaces: leave, map itself, detach the mounts.
/// The error is the errno of what failed.
pub fn userns() -> Result<(), i32> {
    match in_child(|| errno_of(enter_namespaces())) {
        Some(0) => Ok(()),
        Some(errno) if errno != NO => Err(errno),
        Some(_) | None => Err(libc::EIO),
    }
}

/// A seccomp filter can be installed, and filters.
#[must_use]
pub fn seccomp() -> bool {
    in_child(|| if filtered().is_ok_and(|filters| filters) { 0 } else { NO }) == Some(0)
}

/// Landlock's ABI, when it is compiled in and enabled.
#[must_use]
pub fn landlock_abi() -> Option<u32> {
    landlock(1).filter(|&abi| abi > 0)
}

/// Landlock's mask of fixed errata; 0 also where the kernel cannot tell.
#[must_use]
pub fn landlock_errata() -> u32 {
    landlock(2).unwrap_or(0)
}

/// A new terminal can be made the controlling one.
#[must_use]
pub fn tty() -> bool {
    in_child(|| errno_of(own_terminal())) == Some(0)
}

/// Runs `f` in a forked child; its answer, or `None` when the child died or could not start.
fn in_child(f: impl FnOnce() -> i32) -> Option<i32> {
    match sys::fork().ok()? {
        Fork::Child => sys::exit_now(f()),
        Fork::Parent(pid) => {
            let (_, status) = waitpid(Pid::from_raw(pid), WaitOptions::empty()).ok()??;
            status.exit_status()
        }
    }
}

fn own_pid(abi: Abi, getpid: i64) -> i32 {
    let answer = sys::syscall(abi, getpid, [0; 6]);
    if answer == Ok(i64::from(std::process::id())) { 0 } else { NO }
}

fn status(answer: Result<i64, CallError>) -> i32 {
    match answer {
        Ok(_) => 0,
        Err(CallError::Errno(errno)) => errno,
        Err(CallError::Unavailable(_)) => NO,
    }
}

fn errno_of(result: io::Result<()>) -> i32 {
    result.map_or_else(|error| error.raw_os_error().unwrap_or(NO), |()| 0)
}

fn enter_namespaces() -> io::Result<()> {
    use nix::mount::{MsFlags, mount};
    use nix::sched::CloneFlags;
    let (uid, gid) = (nix::unistd::geteuid(), nix::unistd::getegid());
    nix::sched::unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
    // Some systems let the namespace be made, but give no rights in it.
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    Ok(mount(None::<&str>, "/", None::<&str>, private, None::<&str>)?)
}

/// Installs a filter that refuses `getppid` with an errno of its own, and calls it.
fn filtered() -> io::Result<bool> {
    const REFUSAL: i32 = libc::EOWNERDEAD; // never the answer of a kernel without the filter
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_getppid as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | REFUSAL as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    sys::no_new_privs()?;
    let mode = i64::from(libc::SECCOMP_SET_MODE_FILTER);
    let address = &raw const filter as i64;
    let installed = sys::syscall(Abi::Native, libc::SYS_seccomp, [mode, 0, address, 0, 0, 0]);
    let refused = sys::syscall(Abi::Native, libc::SYS_getppid, [0; 6]);
    Ok(installed.is_ok() && refused == Err(CallError::Errno(REFUSAL)))
}

fn landlock(question: i64) -> Option<u32> {
    let arguments = [0, 0, question, 0, 0, 0];
    let answer = sys::syscall(Abi::Native, libc::SYS_landlock_create_ruleset, arguments);
    answer.ok().and_then(|value| u32::try_from(value).ok())
}

fn own_terminal() -> io::Result<()> {
    let pair = nix::pty::openpty(None, None)?;
    sys::controlling_terminal(&pair.slave)?;
    std::mem::forget(pair.master); // closing it would hang up on this very process
    std::fs::File::open("/dev/tty").map(drop)
}
