//! Lays the covers in an own mount namespace, and looks whether they are there.

mod classic;
mod modern;
mod points;
mod template;
mod verify;

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use rustix::mount::{MountPropagationFlags, mount_change};

use super::{open, sys};
use crate::confine::cover::{Cover, Kind};
use crate::confine::identity::Identity;
use crate::confine::mutant::{self, Mutant};
use crate::confine::refusal::Refusal;
pub(super) use points::mount_points;
pub(super) use verify::check;

/// Which calls are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calls {
    /// Those of Linux 5.2 and 5.12: mounts are made whole and then attached.
    Modern,
    /// bind and remount.
    Classic,
}

impl Calls {
    /// The best this kernel has.
    pub(super) fn of_kernel() -> Self {
        if sys::has_mount_setattr() { Self::Modern } else { Self::Classic }
    }
}

/// Lays all covers, in their order. With `limited` everything but the opened roots becomes
/// read-only.
///
/// # Errors
/// The first cover that cannot be laid, or is not in place afterwards.
pub(super) fn lay(covers: &[Cover], limited: bool, calls: Calls) -> Result<(), Refusal> {
    let limited = limited && !mutant::on(Mutant::TreeWritable);
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|error| failed("mounts cannot be made private", &error))?;
    let laid = match calls {
        Calls::Modern => modern::lay(covers, limited)?,
        Calls::Classic => classic::lay(covers, limited).map(|()| Laid::default())?,
    };
    check(covers, limited, &laid)
}

/// What is known of the mounts that were laid, to find them again.
#[derive(Debug, Default)]
pub(super) struct Laid {
    /// The device of every mask.
    device: Option<u64>,
    /// The mount of each cover, in their order; none where the kernel cannot tell.
    mounts: Vec<Option<u64>>,
}

/// A handle on what is to be covered. Another start in the same workspace could have put a decoy
/// there since it was looked at; then nothing is covered.
fn target(cover: &Cover) -> io::Result<(File, Metadata)> {
    let target = File::from(open::exactly(&cover.path)?);
    let meta = target.metadata()?;
    if cover.identity.is_none_or(|was| was == Identity::from(&meta)) {
        return Ok((target, meta));
    }
    Err(io::Error::other("it was replaced while confine started"))
}

fn missing(path: &Path) -> Refusal {
    Refusal::at("a cover is not in place", path, "report this, with the output of --explain")
}

fn unlaid(cover: &Cover, error: &io::Error) -> Refusal {
    let what = match cover.kind {
        Kind::Open => "a write root cannot be kept writable",
        Kind::Fresh => "a folder cannot be replaced by an empty one",
        Kind::Pin => "a folder cannot be pinned",
        Kind::Freeze => "a path cannot be protected",
        Kind::Mask => "a path cannot be denied",
    };
    let mend = match error.raw_os_error() {
        Some(libc::ENOSPC) => "deny folders instead of files, or raise sysctl fs.mount-max",
        Some(_) | None => "leave it out, or name its folder",
    };
    Refusal::at(format!("{what} ({error})"), &cover.path, mend)
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(
        format!("{what} ({error})"),
        "run outside a container that forbids mounts, or install bubblewrap",
    )
}

#[cfg(test)]
mod tests;
