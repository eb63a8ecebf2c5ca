//! Looks whether the covers are there.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, StatVfsMountFlags, Statx, StatxAttributes, StatxFlags, fstatvfs, makedev, statx,
};

use super::{Laid, missing};
use crate::confine::cover::{Cover, Kind};
use crate::confine::linux::open;
use crate::confine::mutant::{self, Mutant};
use crate::confine::refusal::Refusal;

/// Looks at every cover by its path, as the command would: the mount on top must be the one that
/// was laid, show what it has to show, and be as closed as it has to be.
///
/// # Errors
/// The first cover that is not in place.
pub(in crate::confine::linux) fn check(
    covers: &[Cover],
    limited: bool,
    laid: &Laid,
) -> Result<(), Refusal> {
    if mutant::on(Mutant::CoversUnverified) {
        return Ok(());
    }
    let root = Path::new("/");
    if limited && !open::exactly(root).and_then(|root| read_only(&root)).unwrap_or(false) {
        return Err(missing(root));
    }
    for (number, cover) in covers.iter().enumerate() {
        let mount = laid.mounts.get(number).copied().flatten();
        if !in_place(cover, mount, laid.device).unwrap_or(false) {
            return Err(missing(&cover.path));
        }
    }
    Ok(())
}

fn in_place(cover: &Cover, mount: Option<u64>, device: Option<u64>) -> io::Result<bool> {
    let file = open::exactly(&cover.path)?;
    let seen = look(&file)?;
    if !mount_root(&seen) {
        return Ok(false);
    }
    let ours = mount.is_none_or(|mount| mount_number(&seen) == Some(mount));
    Ok(match cover.kind {
        // Another cover may lie on it.
        Kind::Open => true,
        Kind::Fresh => ours && !same(cover, &seen) && !read_only(&file)?,
        Kind::Pin => ours && same(cover, &seen),
        Kind::Freeze => ours && same(cover, &seen) && read_only(&file)?,
        Kind::Mask => {
            let closed = seen.stx_mode & 0o7777 == 0 && !same(cover, &seen);
            let made = device.is_none_or(|device| device == device_of(&seen));
            ours && closed && made && read_only(&file)?
        }
    })
}

/// The number of the mount that a handle is on, where the kernel tells.
pub(super) fn number(file: impl AsFd) -> io::Result<Option<u64>> {
    look(file).map(|seen| mount_number(&seen))
}

fn look(file: impl AsFd) -> io::Result<Statx> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW;
    Ok(statx(file, "", flags, StatxFlags::BASIC_STATS | StatxFlags::MNT_ID)?)
}

/// From Linux 5.8 on; before, the other conditions must do.
fn mount_number(seen: &Statx) -> Option<u64> {
    StatxFlags::from_bits_retain(seen.stx_mask)
        .contains(StatxFlags::MNT_ID)
        .then_some(seen.stx_mnt_id)
}

/// Whether a handle is the root of a mount, likewise.
fn mount_root(seen: &Statx) -> bool {
    let known = seen.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT);
    !known || seen.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)
}

fn device_of(seen: &Statx) -> u64 {
    makedev(seen.stx_dev_major, seen.stx_dev_minor)
}

/// Whether this is the file that stood there when the covers were arranged.
fn same(cover: &Cover, seen: &Statx) -> bool {
    cover.identity.is_some_and(|was| was.is(device_of(seen), seen.stx_ino))
}

fn read_only(file: &OwnedFd) -> io::Result<bool> {
    Ok(fstatvfs(file)?.f_flag.contains(StatVfsMountFlags::RDONLY))
}
