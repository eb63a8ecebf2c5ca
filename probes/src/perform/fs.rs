//! Names and metadata: what changes a directory entry or an inode without opening a file.

use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, Timespec, Timestamps, Uid, XattrFlags};

use super::digest::Digest;
use super::failure::{Named, Tried};
use crate::NodeKind;

/// Prints type, permission bits and, for files and symlinks, the size: what a bind mount or
/// another user namespace shows unchanged.
pub(super) fn stat(path: &Path, seen: &mut Digest) -> Tried<()> {
    let found = rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).named("fstatat")?;
    let mode = found.st_mode & 0o7777;
    let line = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => format!("file {mode:04o} {}\n", found.st_size),
        FileType::Symlink => format!("symlink {mode:04o} {}\n", found.st_size),
        FileType::Directory => format!("directory {mode:04o}\n"),
        FileType::Fifo => format!("fifo {mode:04o}\n"),
        FileType::Socket => format!("socket {mode:04o}\n"),
        FileType::CharacterDevice => format!("char {mode:04o}\n"),
        FileType::BlockDevice => format!("block {mode:04o}\n"),
        FileType::Unknown => format!("unknown {mode:04o}\n"),
    };
    seen.take(line.as_bytes());
    Ok(())
}

/// Removes a name that is no directory.
pub(super) fn unlink(path: &Path) -> Tried<()> {
    rustix::fs::unlinkat(CWD, path, AtFlags::empty()).named("unlinkat")
}

/// Removes an empty directory.
pub(super) fn rmdir(path: &Path) -> Tried<()> {
    rustix::fs::unlinkat(CWD, path, AtFlags::REMOVEDIR).named("unlinkat")
}

/// Makes a directory.
pub(super) fn mkdir(path: &Path) -> Tried<()> {
    rustix::fs::mkdirat(CWD, path, Mode::from_raw_mode(0o755)).named("mkdirat")
}

/// Prints the target of a symlink.
pub(super) fn readlink(path: &Path, seen: &mut Digest) -> Tried<()> {
    let target = rustix::fs::readlinkat(CWD, path, Vec::new()).named("readlinkat")?;
    seen.take(target.as_bytes());
    Ok(())
}

/// Renames, or swaps two names.
pub(super) fn rename(from: &Path, to: &Path, exchange: bool) -> Tried<()> {
    if exchange {
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        return rustix::fs::renameat_with(CWD, from, CWD, to, flags).named("renameat2");
    }
    rustix::fs::renameat(CWD, from, CWD, to).named("renameat")
}

/// Makes a hard link; a symlink at `from` is linked itself.
pub(super) fn link(from: &Path, to: &Path) -> Tried<()> {
    rustix::fs::linkat(CWD, from, CWD, to, AtFlags::empty()).named("linkat")
}

/// Makes a symlink at `to`.
pub(super) fn symlink(from: &Path, to: &Path) -> Tried<()> {
    rustix::fs::symlinkat(from, CWD, to).named("symlinkat")
}

/// Changes the mode bits of what a symlink leads to.
pub(super) fn chmod(path: &Path, mode: u32) -> Tried<()> {
    let mode = Mode::from_raw_mode(mode as _);
    rustix::fs::chmodat(CWD, path, mode, AtFlags::empty()).named("fchmodat")
}

/// Changes owner and group of what a symlink leads to.
pub(super) fn chown(path: &Path, uid: Option<u32>, gid: Option<u32>) -> Tried<()> {
    let (uid, gid) = (uid.map(Uid::from_raw), gid.map(Gid::from_raw));
    rustix::fs::chownat(CWD, path, uid, gid, AtFlags::empty()).named("fchownat")
}

/// Sets both times.
pub(super) fn utime(path: &Path, seconds: i64) -> Tried<()> {
    let time = Timespec { tv_sec: seconds, tv_nsec: 0 };
    let times = Timestamps { last_access: time, last_modification: time };
    rustix::fs::utimensat(CWD, path, &times, AtFlags::empty()).named("utimensat")
}

/// Creates or replaces an extended attribute.
pub(super) fn xattr(path: &Path, name: &str, value: &str) -> Tried<()> {
    rustix::fs::setxattr(path, name, value.as_bytes(), XattrFlags::empty()).named("setxattr")
}

/// Makes a special file, mode 0644.
pub(super) fn mknod(path: &Path, kind: NodeKind) -> Tried<()> {
    use nix::sys::stat::SFlag;
    let (kind, device) = match kind {
        NodeKind::Fifo => (SFlag::S_IFIFO, 0),
        NodeKind::Socket => (SFlag::S_IFSOCK, 0),
        NodeKind::Char => (SFlag::S_IFCHR, libc::makedev(1, 3)),
        NodeKind::Block => (SFlag::S_IFBLK, libc::makedev(7, 0)),
        NodeKind::Whiteout => (SFlag::S_IFCHR, 0),
    };
    let mode = nix::sys::stat::Mode::from_bits_truncate(0o644);
    nix::sys::stat::mknod(path, kind, mode, device).named("mknod")
}
