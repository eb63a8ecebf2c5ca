//! Calls for what only the kernel itself can give: raw numbers, ioctls, namespaces, mounts.

use std::path::Path;

use super::digest::Digest;
use super::failure::{Named, Tried, failed, unavailable};
use crate::Abi;
use crate::sys::{self, CallError, IoctlArgument};

/// One raw system call; prints the value it answers.
pub(super) fn syscall(abi: Abi, number: i64, args: &[i64], seen: &mut Digest) -> Tried<()> {
    let mut six = [0; 6];
    let Some(given) = six.get_mut(..args.len()) else {
        return Err(unavailable("a system call has at most six arguments"));
    };
    given.copy_from_slice(args);
    match sys::syscall(abi, number, six) {
        Ok(value) => {
            seen.take(value.to_string().as_bytes());
            Ok(())
        }
        Err(CallError::Errno(errno)) => Err(failed(&format!("syscall {number}"), errno)),
        Err(CallError::Unavailable(why)) => Err(unavailable(why)),
    }
}

/// One ioctl, with a number or with a pointer to the first byte of `text`.
pub(super) fn ioctl(fd: i32, request: u64, arg: i64, text: Option<&str>) -> Tried<()> {
    let mut bytes = [0; size_of::<sys::IoctlBuffer>()];
    let argument = match text {
        None => IoctlArgument::Number(arg),
        Some(text) => {
            bytes[0] = text.bytes().next().unwrap_or(0);
            IoctlArgument::Bytes(&mut bytes)
        }
    };
    sys::ioctl(fd, request, argument).map(drop).named("ioctl")
}

/// Leaves these namespaces.
#[cfg(target_os = "linux")]
pub(super) fn unshare(namespaces: &[String]) -> Tried<()> {
    use nix::sched::CloneFlags;
    let flags = namespaces.iter().try_fold(0, |all, name| {
        let flag = match name.as_str() {
            "user" => libc::CLONE_NEWUSER,
            "mount" => libc::CLONE_NEWNS,
            "pid" => libc::CLONE_NEWPID,
            "network" => libc::CLONE_NEWNET,
            "ipc" => libc::CLONE_NEWIPC,
            "uts" => libc::CLONE_NEWUTS,
            "cgroup" => libc::CLONE_NEWCGROUP,
            "time" => libc::CLONE_NEWTIME,
            other => return Err(unavailable(format!("no namespace is called {other}"))),
        };
        Ok(all | flag)
    })?;
    nix::sched::unshare(CloneFlags::from_bits_retain(flags)).named("unshare")
}

/// Mounts; an empty source, type or data is passed as none.
#[cfg(target_os = "linux")]
pub(super) fn mount(
    source: &str,
    target: &Path,
    fstype: &str,
    flags: &[String],
    data: &str,
) -> Tried<()> {
    let flags = flags.iter().try_fold(0, |all, name| Ok(all | mount_flag(name)?))?;
    nix::mount::mount(
        some(source),
        target,
        some(fstype),
        nix::mount::MsFlags::from_bits_retain(flags),
        some(data),
    )
    .named("mount")
}

#[cfg(target_os = "linux")]
fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(target_os = "linux")]
fn mount_flag(name: &str) -> Tried<libc::c_ulong> {
    Ok(match name {
        "bind" => libc::MS_BIND,
        "rec" => libc::MS_REC,
        "remount" => libc::MS_REMOUNT,
        "move" => libc::MS_MOVE,
        "ro" => libc::MS_RDONLY,
        "rw" => 0,
        "nosuid" => libc::MS_NOSUID,
        "nodev" => libc::MS_NODEV,
        "noexec" => libc::MS_NOEXEC,
        "noatime" => libc::MS_NOATIME,
        "nodiratime" => libc::MS_NODIRATIME,
        "relatime" => libc::MS_RELATIME,
        "strictatime" => libc::MS_STRICTATIME,
        "sync" => libc::MS_SYNCHRONOUS,
        "silent" => libc::MS_SILENT,
        "private" => libc::MS_PRIVATE,
        "shared" => libc::MS_SHARED,
        "slave" => libc::MS_SLAVE,
        "unbindable" => libc::MS_UNBINDABLE,
        other => return Err(unavailable(format!("no mount flag is called {other}"))),
    })
}

/// Unmounts.
#[cfg(target_os = "linux")]
pub(super) fn umount(target: &Path, detach: bool) -> Tried<()> {
    use nix::mount::MntFlags;
    let flags = if detach { MntFlags::MNT_DETACH } else { MntFlags::empty() };
    nix::mount::umount2(target, flags).named("umount2")
}

#[cfg(not(target_os = "linux"))]
pub(super) fn unshare(_: &[String]) -> Tried<()> {
    Err(unavailable("only Linux has namespaces"))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn mount(_: &str, _: &Path, _: &str, _: &[String], _: &str) -> Tried<()> {
    Err(unavailable("mounts are tried on Linux only"))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn umount(_: &Path, _: bool) -> Tried<()> {
    Err(unavailable("mounts are tried on Linux only"))
}
