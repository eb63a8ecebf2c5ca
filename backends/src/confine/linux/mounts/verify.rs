//! Looks whether the covers are there.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, StatVfsMountFlags, StatxAttributes, StatxFlags, fstat, fstatvfs, statx};

use super::missing;
use crate::confine::cover::{Cover, Kind};
use crate::confine::linux::open;
use crate::confine::refusal::Refusal;

/// Looks at every cover by its path, as the command would. With a `device` every mask must lie on
/// it.
///
/// # Errors
/// The first cover that is not in place.
pub(in crate::confine::linux) fn check(
    covers: &[Cover],
    limited: bool,
    device: Option<u64>,
) -> Result<(), Refusal> {
    let root = Path::new("/");
    if limited && !open::exactly(root).and_then(|root| read_only(&root)).unwrap_or(false) {
        return Err(missing(root));
    }
    let absent = covers.iter().find(|cover| !in_place(cover, device).unwrap_or(false));
    absent.map_or(Ok(()), |cover| Err(missing(&cover.path)))
}

fn in_place(cover: &Cover, device: Option<u64>) -> io::Result<bool> {
    let file = open::exactly(&cover.path)?;
    if !mount_root(&file)? {
        return Ok(false);
    }
    match cover.kind {
        Kind::Open | Kind::Pin => Ok(true),
        Kind::Freeze => read_only(&file),
        Kind::Mask => {
            let stat = fstat(&file)?;
            let closed = stat.st_mode & 0o7777 == 0;
            let ours = device.is_none_or(|device| device == stat.st_dev);
            Ok(closed && ours && read_only(&file)?)
        }
    }
}

/// Whether a handle is the root of a mount. Kernels before 5.8 cannot say; there the other
/// conditions must do.
fn mount_root(file: &OwnedFd) -> io::Result<bool> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW;
    let answer = statx(file, "", flags, StatxFlags::empty())?;
    let known = answer.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT);
    Ok(!known || answer.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

fn read_only(file: &OwnedFd) -> io::Result<bool> {
    Ok(fstatvfs(file)?.f_flag.contains(StatVfsMountFlags::RDONLY))
}
