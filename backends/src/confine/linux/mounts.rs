//! Lays the covers in an own mount namespace, and looks whether they are there.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, StatVfsMountFlags, StatxAttributes, StatxFlags, fstat, fstatvfs, statx,
};
use rustix::mount::{
    MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, move_mount, open_tree,
};

use super::open;
use super::sys;
use super::template::Template;
use crate::confine::cover::{Cover, Kind};
use crate::confine::refusal::Refusal;

/// Lays all covers, in their order. With `limited` everything but the opened roots becomes
/// read-only.
///
/// # Errors
/// The first cover that cannot be laid, or is not in place afterwards.
pub(super) fn lay(covers: &[Cover], limited: bool) -> Result<(), Refusal> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|error| failed("mounts cannot be made private", &error))?;
    let open: Vec<&Cover> = covers.iter().filter(|cover| cover.kind == Kind::Open).collect();
    let kept = clone_all(&open)?;
    if limited {
        close_root()?;
    }
    for (cover, tree) in open.iter().zip(kept) {
        attach(&tree, &cover.path).map_err(|error| unlaid(cover, &error))?;
    }
    let template = template(covers)?;
    for cover in covers.iter().filter(|cover| cover.kind != Kind::Open) {
        lay_one(cover, template.as_ref()).map_err(|error| unlaid(cover, &error))?;
    }
    let device = template.as_ref().map(|template| template.device);
    if let Some(template) = template {
        template.detach().map_err(|error| failed("the mask template stays mounted", &error))?;
    }
    // Without a mask there is no device; then none is looked at either.
    check(covers, limited, device)
}

/// Copies of the write roots, taken while they are writable.
fn clone_all(open: &[&Cover]) -> Result<Vec<OwnedFd>, Refusal> {
    let clone = |cover: &&Cover| clone_tree(&cover.path).map_err(|error| unlaid(cover, &error));
    open.iter().map(clone).collect()
}

/// The template, when something is to be masked.
fn template(covers: &[Cover]) -> Result<Option<Template>, Refusal> {
    if !covers.iter().any(|cover| cover.kind == Kind::Mask) {
        return Ok(None);
    }
    Template::make().map(Some).map_err(|error| failed("no mask can be made", &error))
}

/// Makes every mount read-only.
fn close_root() -> Result<(), Refusal> {
    let root = open::exactly(Path::new("/"));
    root.and_then(|root| sys::mount_setattr(root.as_fd(), true, libc::MOUNT_ATTR_RDONLY))
        .map_err(|error| failed("the file tree cannot be made read-only", &error))
}

/// A copy of the mounts at and below a path, attached nowhere yet.
fn clone_tree(path: &Path) -> io::Result<OwnedFd> {
    let target = open::exactly(path)?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(&target, "", flags)?)
}

/// Attaches a copy over a path.
fn attach(tree: &OwnedFd, path: &Path) -> io::Result<()> {
    attach_at(tree, open::exactly(path)?.as_fd())
}

fn attach_at(tree: &OwnedFd, target: BorrowedFd<'_>) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, "", target, "", flags)?)
}

fn lay_one(cover: &Cover, template: Option<&Template>) -> io::Result<()> {
    match cover.kind {
        Kind::Open | Kind::Pin => attach(&clone_tree(&cover.path)?, &cover.path),
        Kind::Freeze => {
            let tree = clone_tree(&cover.path)?;
            sys::mount_setattr(tree.as_fd(), true, libc::MOUNT_ATTR_RDONLY)?;
            attach(&tree, &cover.path)
        }
        Kind::Mask => {
            let target = open::exactly(&cover.path)?;
            let template = template.ok_or(io::ErrorKind::NotFound)?;
            let folder = FileType::from_raw_mode(fstat(&target)?.st_mode) == FileType::Directory;
            attach_at(&template.clone_closed(folder)?, target.as_fd())
        }
    }
}

/// Looks at every cover by its path, as the command would. With a `device` every mask must lie on
/// it.
///
/// # Errors
/// The first cover that is not in place.
pub(super) fn check(covers: &[Cover], limited: bool, device: Option<u64>) -> Result<(), Refusal> {
    let root = Path::new("/");
    if limited && !open::exactly(root).and_then(|root| read_only(&root)).unwrap_or(false) {
        return Err(missing(root));
    }
    for cover in covers {
        if !in_place(cover, device).unwrap_or(false) {
            return Err(missing(&cover.path));
        }
    }
    Ok(())
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
            let closed =
                stat.st_mode & 0o7777 == 0 && device.is_none_or(|device| device == stat.st_dev);
            Ok(closed && read_only(&file)?)
        }
    }
}

/// Whether a handle is the root of a mount.
fn mount_root(file: &OwnedFd) -> io::Result<bool> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW;
    let answer = statx(file, "", flags, StatxFlags::empty())?;
    Ok(answer.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

fn read_only(file: &OwnedFd) -> io::Result<bool> {
    Ok(fstatvfs(file)?.f_flag.contains(StatVfsMountFlags::RDONLY))
}

fn missing(path: &Path) -> Refusal {
    Refusal::at("a cover is not in place", path, "report this, with the output of --explain")
}

fn unlaid(cover: &Cover, error: &io::Error) -> Refusal {
    let what = match cover.kind {
        Kind::Open => "a write root cannot be kept writable",
        Kind::Pin => "a folder cannot be pinned",
        Kind::Freeze => "a path cannot be protected",
        Kind::Mask => "a path cannot be denied",
    };
    Refusal::at(format!("{what} ({error})"), &cover.path, "leave it out, or name its folder")
}

fn failed(what: &str, error: &(impl std::fmt::Display + ?Sized)) -> Refusal {
    Refusal::new(
        format!("{what} ({error})"),
        "run outside a container that forbids mounts, or install bubblewrap",
    )
}
