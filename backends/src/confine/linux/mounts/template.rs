//! [`Template`]: a small file system that holds what masks are made of.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, fstat, mkdirat, openat};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
    fsconfig_create, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};

use crate::confine::linux::sys;
use crate::confine::mutant::{self, Mutant};

/// A read-only tmpfs with one file and one folder that nobody may open.
#[derive(Debug)]
pub(super) struct Template {
    root: OwnedFd,
    /// Its device number: what a laid mask must show.
    pub(super) device: u64,
}

/// An empty folder that everybody may write, attached nowhere yet. Shared memory lies in it, which
/// nobody executes.
pub(super) fn fresh() -> io::Result<OwnedFd> {
    tmpfs(&[("mode", "1777")])
}

/// A new tmpfs, attached nowhere yet.
fn tmpfs(options: &[(&str, &str)]) -> io::Result<OwnedFd> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        fsconfig_set_string(context.as_fd(), *key, *value)?;
    }
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

const FILE: &str = "file";
const FOLDER: &str = "folder";

impl Template {
    /// Makes it. It is attached over `/`, where no path leads to it, because older kernels clone
    /// only from attached mounts; [`Template::detach`] takes it away again.
    pub(super) fn make() -> io::Result<Self> {
        let root = tmpfs(&[("size", "64k"), ("mode", "0700")])?;
        move_mount(root.as_fd(), "", CWD, "/", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        let create = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let closed =
            if mutant::on(Mutant::MasksReadable) { Mode::from(0o444) } else { Mode::empty() };
        openat(&root, FILE, create, closed)?;
        mkdirat(&root, FOLDER, Mode::empty())?;
        if !mutant::on(Mutant::MasksWritable) {
            sys::mount_setattr(root.as_fd(), false, libc::MOUNT_ATTR_RDONLY)?;
        }
        let device = fstat(&root)?.st_dev;
        Ok(Self { root, device })
    }

    /// A new mount of the closed file or folder.
    pub(super) fn clone_closed(&self, folder: bool) -> io::Result<OwnedFd> {
        let name = if folder { FOLDER } else { FILE };
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        Ok(open_tree(&self.root, name, flags)?)
    }

    /// Takes the template out of the tree; its clones stay.
    pub(super) fn detach(self) -> io::Result<()> {
        rustix::process::fchdir(&self.root)?;
        unmount(".", UnmountFlags::DETACH)?;
        Ok(rustix::process::chdir("/")?)
    }
}
