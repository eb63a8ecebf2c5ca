//! Covers by bind and remount, for kernels before 5.12. Those have no Landlock worth the name, so
//! only `off` with denied and protected paths comes here.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, fstatvfs};
use rustix::mount::{
    MountFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive, mount_remount, unmount,
};

use super::{mount_points, target, unlaid};
use crate::confine::cover::{Cover, Kind};
use crate::confine::linux::open;
use crate::confine::refusal::Refusal;

/// A folder that every system has; masks of files are made in it, and it is uncovered again.
const BENCH: &str = "/tmp";

/// Lays all covers.
pub(super) fn lay(covers: &[Cover], limited: bool) -> Result<(), Refusal> {
    if limited {
        return Err(Refusal::new(
            "this kernel cannot make the whole file tree read-only at once",
            "use Linux 5.12 or later, or --sandbox off with --deny and --protect",
        ));
    }
    covers.iter().try_for_each(|cover| lay_one(cover).map_err(|error| unlaid(cover, &error)))
}

fn lay_one(cover: &Cover) -> io::Result<()> {
    let (target, meta) = target(cover)?;
    let place = name(&target);
    match cover.kind {
        Kind::Open | Kind::Pin => Ok(mount_bind_recursive(&place, &place)?),
        Kind::Freeze => {
            mount_bind_recursive(&place, &place)?;
            freeze_all(&cover.path)
        }
        Kind::Fresh => Ok(mount("none", &place, "tmpfs", hard(), c"mode=1777")?),
        Kind::Mask if meta.is_dir() => {
            let closed = MountFlags::RDONLY | hard();
            Ok(mount("none", &place, "tmpfs", closed, c"size=4k,mode=000")?)
        }
        Kind::Mask => {
            mask_file(&place)?;
            close(&cover.path)
        }
    }
}

/// A name that stands for an open file.
fn name(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn hard() -> MountFlags {
    MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC
}

/// Binds a fresh closed file over a place. It is made on a tmpfs that is then taken away.
fn mask_file(place: &Path) -> io::Result<()> {
    mount("none", BENCH, "tmpfs", hard(), c"size=4k,mode=700")?;
    let file = Path::new(BENCH).join("closed");
    let made = OpenOptions::new().write(true).create_new(true).mode(0o000).open(&file);
    let bound = made.and_then(|_| Ok(mount_bind(&file, place)?));
    unmount(BENCH, UnmountFlags::DETACH)?;
    bound
}

/// Makes every mount at and below a path read-only; a bind is as writable as what it shows.
fn freeze_all(path: &Path) -> io::Result<()> {
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    mount_points(&mounts)
        .filter(|mounted| mounted.starts_with(path))
        .try_for_each(|mounted| close(&mounted))
}

/// Makes the mount on top of a path read-only. In a user namespace no flag may be lost.
fn close(path: &Path) -> io::Result<()> {
    let flags = fstatvfs(open::exactly(path)?)?.f_flag;
    let mut kept = MountFlags::BIND | MountFlags::RDONLY;
    for (shown, meant) in [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ] {
        kept.set(meant, flags.contains(shown));
    }
    Ok(mount_remount(path, kept, c"")?)
}
