//! Reading a file without walking to its name: by handle, in a cloned mount, below a descriptor
//! that was open before.

use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::digest::Digest;
use super::failure::{Named, Tried};
use super::file::drain;
use crate::sys;

/// How files are opened here.
const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// Reads the inherited descriptor `fd`, or `path` below it.
pub(super) fn below(fd: i32, path: Option<&Path>, seen: &mut Digest) -> Tried<()> {
    let inherited = sys::duplicate(fd).named("fcntl")?;
    let Some(path) = path else { return drain(&inherited, seen) };
    let file = rustix::fs::openat(&inherited, path, FLAGS, Mode::empty()).named("openat")?;
    drain(&file, seen)
}

/// Clones the mount that `tree` lies in and reads `file` in the clone.
#[cfg(target_os = "linux")]
pub(super) fn tree(tree: &Path, file: &Path, seen: &mut Digest) -> Tried<()> {
    use rustix::mount::{OpenTreeFlags, open_tree};
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let clone = open_tree(rustix::fs::CWD, tree, flags).named("open_tree")?;
    let file = rustix::fs::openat(&clone, file, FLAGS, Mode::empty()).named("openat")?;
    drain(&file, seen)
}

/// Opens by handle and reads. The folder knows the number of the file itself, whatever is mounted
/// on its name; in a handle of the usual kind (`FILEID_INO32_GEN`) it is put in place of that of
/// the mount, and generation 0 fits every file.
#[cfg(target_os = "linux")]
pub(super) fn handle(path: &Path, seen: &mut Digest) -> Tried<()> {
    use std::os::fd::AsFd as _;
    const INODE_AND_GENERATION: i32 = 1;
    let mut handle = sys::handle::of(path).named("name_to_handle_at")?;
    let number = listed(path)?.and_then(|number| u32::try_from(number).ok());
    if let (Some(number), INODE_AND_GENERATION, 8) = (number, handle.kind, handle.bytes) {
        handle.id[..4].copy_from_slice(&number.to_ne_bytes());
        handle.id[4..8].fill(0);
    }
    let folder = path.parent().unwrap_or(path);
    let mount =
        rustix::fs::openat(rustix::fs::CWD, folder, FLAGS, Mode::empty()).named("openat")?;
    drain(&sys::handle::open(mount.as_fd(), &mut handle).named("open_by_handle_at")?, seen)
}

/// The inode number that the folder of `path` lists for it.
#[cfg(target_os = "linux")]
fn listed(path: &Path) -> Tried<Option<u64>> {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::DirEntryExt as _;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    for entry in std::fs::read_dir(folder).named("openat")? {
        let entry = entry.named("getdents64")?;
        if entry.file_name().as_bytes() == name.as_bytes() {
            return Ok(Some(entry.ino()));
        }
    }
    Ok(None)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn tree(_: &Path, _: &Path, _: &mut Digest) -> Tried<()> {
    Err(super::failure::unavailable("only Linux has open_tree"))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn handle(_: &Path, _: &mut Digest) -> Tried<()> {
    Err(super::failure::unavailable("file handles are tried on Linux only"))
}
