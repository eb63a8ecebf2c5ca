//! Becoming another account, before a program is started as it.

use std::io;

use nix::unistd::{Gid, Uid};

/// The groups of an account.
///
/// # Errors
/// They cannot be looked up; or this system offers no way to become another account.
#[cfg(target_os = "linux")]
pub fn groups(name: &str, gid: Gid) -> io::Result<Vec<Gid>> {
    Ok(nix::unistd::getgrouplist(&std::ffi::CString::new(name)?, gid)?)
}

/// Gives this process these groups, this group and this user, for good. Fit for
/// [`crate::sys::before_exec`].
///
/// # Errors
/// It is not root's.
#[cfg(target_os = "linux")]
pub fn become_user(groups: &[Gid], gid: Gid, uid: Uid) -> io::Result<()> {
    nix::unistd::setgroups(groups)?;
    nix::unistd::setgid(gid)?;
    nix::unistd::setuid(uid)?;
    Ok(())
}

/// The groups of an account.
///
/// # Errors
/// Always: it is built for Linux only.
#[cfg(not(target_os = "linux"))]
pub fn groups(_: &str, _: Gid) -> io::Result<Vec<Gid>> {
    Err(io::Error::other("running as another account is built for Linux only"))
}

/// Becomes another account.
///
/// # Errors
/// Always: it is built for Linux only.
#[cfg(not(target_os = "linux"))]
pub fn become_user(_: &[Gid], _: Gid, _: Uid) -> io::Result<()> {
    Err(io::Error::other("running as another account is built for Linux only"))
}
