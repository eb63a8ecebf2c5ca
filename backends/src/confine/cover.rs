//! [`Cover`]: one mount laid over a path, and the arrangement of all of them. Pure.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::identity::Identity;
use super::mutant::{self, Mutant};

/// One mount over one path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cover {
    /// What it does.
    pub kind: Kind,
    /// Where, canonical.
    pub path: PathBuf,
    /// What stood there when the covers were arranged.
    pub identity: Option<Identity>,
}

/// What a cover does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// Stays writable while everything around becomes read-only.
    Open,
    /// A writable folder of the command's own, empty at the start.
    Fresh,
    /// Is what it was, but cannot be moved or removed.
    Pin,
    /// Can be read, not written, moved or removed.
    Freeze,
    /// Can neither be read nor written, moved or removed.
    Mask,
}

/// What the covers have to bring about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Everything but the write roots is read-only.
    pub limited: bool,
    /// Write roots.
    pub write: Vec<PathBuf>,
    /// Folders to replace by empty ones. Nothing of the host is in them, also nothing to cover.
    pub fresh: Vec<PathBuf>,
    /// Paths to freeze.
    pub freeze: Vec<PathBuf>,
    /// Paths to mask.
    pub mask: Vec<PathBuf>,
    /// The folders of masked paths are not pinned.
    pub loose: bool,
}

/// The covers in the order in which they are laid: write roots first, then outer before inner,
/// since an outer one laid later would hide the inner one.
#[must_use]
pub fn arrange(wanted: &Wanted) -> Vec<Cover> {
    let outside = |paths: Vec<PathBuf>, folders: &[PathBuf]| -> Vec<PathBuf> {
        paths.into_iter().filter(|path| !inside_any(path, folders)).collect()
    };
    let mask = outside(outermost(&wanted.mask), &wanted.fresh);
    let freeze = outside(outside(outermost(&wanted.freeze), &wanted.fresh), &mask);
    let (open, roots) = if wanted.limited {
        let mut open = outermost(&wanted.write);
        open.retain(|root| !inside_any(root, &mask));
        (open.clone(), open)
    } else {
        (Vec::new(), vec![PathBuf::from("/")])
    };
    let denied = if wanted.loose { &[][..] } else { &mask[..] };
    let protected = if mutant::on(Mutant::ProtectedUnpinned) { &[][..] } else { &freeze[..] };
    let pins: BTreeSet<&Path> = holders(denied.iter().chain(protected))
        .flat_map(|folder| pins(folder, &roots))
        .filter(|pin| !open.iter().any(|root| root == pin) && !inside_any(pin, &freeze))
        .collect();
    let mut covers: Vec<Cover> = Vec::new();
    covers.extend(pins.into_iter().map(|path| cover(Kind::Pin, path)));
    covers.extend(freeze.iter().map(|path| cover(Kind::Freeze, path)));
    covers.extend(mask.into_iter().map(|path| Cover { kind: Kind::Mask, path, identity: None }));
    covers.sort_by_cached_key(|cover| cover.path.components().count());
    let first = open.iter().map(|path| cover(Kind::Open, path));
    let fresh = wanted.fresh.iter().map(|path| cover(Kind::Fresh, path));
    first.chain(fresh).chain(covers).collect()
}

/// The folders that are replaced by empty ones.
pub fn fresh(covers: &[Cover]) -> impl Iterator<Item = &Path> {
    covers.iter().filter(|cover| cover.kind == Kind::Fresh).map(|cover| cover.path.as_path())
}

/// The folders right above these, each once where they follow one another.
fn holders<'a>(leaves: impl Iterator<Item = &'a PathBuf>) -> impl Iterator<Item = &'a Path> {
    let mut folders: Vec<&Path> = leaves.filter_map(|leaf| leaf.parent()).collect();
    folders.dedup_by(|a, b| a.as_os_str() == b.as_os_str());
    folders.into_iter()
}

fn cover(kind: Kind, path: &Path) -> Cover {
    Cover { kind, path: path.to_path_buf(), identity: None }
}

/// A folder and those that hold it, up to the write root; those above cannot be moved anyway. `/`
/// cannot be moved either.
fn pins<'a>(folder: &'a Path, roots: &[PathBuf]) -> Vec<&'a Path> {
    let Some(root) = roots.iter().find(|root| folder.starts_with(root)) else {
        return Vec::new();
    };
    let holders = folder.ancestors().take_while(|holder| holder.starts_with(root));
    holders.filter(|holder| holder.parent().is_some()).collect()
}

/// The paths that lie in no other of them, sorted.
fn outermost(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut sorted: Vec<&PathBuf> = paths.iter().collect();
    sorted.sort_unstable();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in sorted {
        // Sorted by component, a folder comes right before all that lies in it.
        if !kept.last().is_some_and(|outer| path.starts_with(outer)) {
            kept.push(path.clone());
        }
    }
    kept
}

/// Whether a path is one of these, or lies in one.
#[must_use]
pub fn inside_any(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests;
