//! Covers by the mount calls of Linux 5.2 and 5.12.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};

use super::template::{self, Template};
use super::verify::number;
use super::{Laid, failed, target, unlaid};
use crate::confine::cover::{Cover, Kind};
use crate::confine::linux::{open, sys};
use crate::confine::mutant::{self, Mutant};
use crate::confine::refusal::Refusal;

/// Lays all covers.
pub(super) fn lay(covers: &[Cover], limited: bool) -> Result<Laid, Refusal> {
    let open: Vec<&Cover> = covers.iter().filter(|cover| cover.kind == Kind::Open).collect();
    let mut kept = clone_all(&open)?.into_iter();
    if limited {
        close_root()?;
    }
    let template = template(covers)?;
    let mut mounts = Vec::with_capacity(covers.len());
    let mut skip = mutant::on(Mutant::OneMaskSkipped);
    for cover in covers {
        if skip && cover.kind == Kind::Mask {
            skip = false;
            mounts.push(None);
            continue;
        }
        let mount = match cover.kind {
            Kind::Open => kept
                .next()
                .ok_or(io::ErrorKind::NotFound.into())
                .and_then(|tree| attach(&tree, &target(cover)?.0)),
            Kind::Fresh | Kind::Pin | Kind::Freeze | Kind::Mask => {
                lay_one(cover, template.as_ref())
            }
        };
        mounts.push(mount.map_err(|error| unlaid(cover, &error))?);
    }
    let device = template.as_ref().map(|template| template.device);
    if let Some(template) = template {
        template.detach().map_err(|error| failed("the mask template stays mounted", &error))?;
    }
    Ok(Laid { device, mounts })
}

/// Copies of the write roots, taken while they are writable.
fn clone_all(open: &[&Cover]) -> Result<Vec<OwnedFd>, Refusal> {
    let clone = |cover: &&Cover| {
        target(cover)
            .and_then(|(target, _)| clone_tree(&target))
            .map_err(|error| unlaid(cover, &error))
    };
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
fn clone_tree(target: &File) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(target, "", flags)?)
}

/// Attaches a mount over what it is to cover; gives its number.
fn attach(tree: &OwnedFd, target: &File) -> io::Result<Option<u64>> {
    let number = number(tree)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, "", target, "", flags)?;
    Ok(number)
}

fn lay_one(cover: &Cover, template: Option<&Template>) -> io::Result<Option<u64>> {
    let (target, meta) = target(cover)?;
    let tree = match cover.kind {
        Kind::Open | Kind::Pin => clone_tree(&target)?,
        Kind::Fresh => template::fresh()?,
        Kind::Freeze => {
            let tree = clone_tree(&target)?;
            if !mutant::on(Mutant::FreezeWritable) {
                sys::mount_setattr(tree.as_fd(), true, libc::MOUNT_ATTR_RDONLY)?;
            }
            tree
        }
        Kind::Mask => {
            let template = template.ok_or(io::ErrorKind::NotFound)?;
            template.clone_closed(meta.is_dir())?
        }
    };
    attach(&tree, &target)
}
