//! [`Template`]: a small file system that holds what masks are made of.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, fstat, mkdirat, openat};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
    fsconfig_create, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};

use crate::confine::linux::sys;

/// A read-only tmpfs with one file and one folder that nobody may open.
#[derive(Debug)]
pub(super) struct Template {
    root: OwnedFd,
    /// Its device number: what a laid mask must show.
    pub(super) device: u64,
}

const FILE: &str = "file";
const FOLDER: &str = "folder";

impl Template {
    /// Makes it. It is attached over `/`, where no path leads to it, because older kernels clone
    /// only from attached mounts; [`Template::detach`] takes it away again.
    pub(super) fn make() -> io::Result<Self> {
        let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(context.as_fd(), "size", "64k")?;
        fsconfig_set_string(context.as_fd(), "mode", "0700")?;
        fsconfig_create(context.as_fd())?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let root = fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        move_mount(root.as_fd(), "", CWD, "/", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        let create = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        openat(&root, FILE, create, Mode::empty())?;
        mkdirat(&root, FOLDER, Mode::empty())?;
        sys::mount_setattr(root.as_fd(), false, libc::MOUNT_ATTR_RDONLY)?;
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
