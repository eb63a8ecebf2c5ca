//! [`Cover`]: one mount laid over a path, and the arrangement of all of them. Pure.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::identity::Identity;

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
    /// Paths to freeze.
    pub freeze: Vec<PathBuf>,
    /// Paths to mask.
    pub mask: Vec<PathBuf>,
}

/// The covers in the order in which they are laid: write roots first, then outer before inner,
/// since an outer one laid later would hide the inner one.
#[must_use]
pub fn arrange(wanted: &Wanted) -> Vec<Cover> {
    let mask = outermost(&wanted.mask);
    let freeze = outermost(&wanted.freeze);
    let freeze: Vec<_> = freeze.into_iter().filter(|path| !inside_any(path, &mask)).collect();
    let (open, roots) = if wanted.limited {
        let open = outermost(&wanted.write);
        (open.clone(), open)
    } else {
        (Vec::new(), vec![PathBuf::from("/")])
    };
    let pins: BTreeSet<&Path> = mask
        .iter()
        .chain(&freeze)
        .flat_map(|leaf| pins(leaf, &roots))
        .filter(|pin| !open.iter().any(|root| root == pin) && !inside_any(pin, &freeze))
        .collect();
    let mut covers: Vec<Cover> = Vec::new();
    covers.extend(pins.into_iter().map(|path| cover(Kind::Pin, path)));
    covers.extend(freeze.iter().map(|path| cover(Kind::Freeze, path)));
    covers.extend(mask.iter().map(|path| cover(Kind::Mask, path)));
    covers.sort_by_key(|cover| cover.path.components().count());
    open.iter().map(|path| cover(Kind::Open, path)).chain(covers).collect()
}

fn cover(kind: Kind, path: &Path) -> Cover {
    Cover { kind, path: path.to_path_buf(), identity: None }
}

/// The folders that hold a leaf, from its parent up to the write root; those above cannot be
/// moved anyway. `/` cannot be moved either.
fn pins<'a>(leaf: &'a Path, roots: &[PathBuf]) -> Vec<&'a Path> {
    let Some(root) = roots.iter().find(|root| leaf.starts_with(root)) else {
        return Vec::new();
    };
    let holders = leaf.ancestors().skip(1).take_while(|holder| holder.starts_with(root));
    holders.filter(|holder| holder.parent().is_some()).collect()
}

/// The paths that lie in no other of them, sorted.
fn outermost(paths: &[PathBuf]) -> Vec<PathBuf> {
    let sorted: BTreeSet<&PathBuf> = paths.iter().collect();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in sorted {
        // Sorted by component, a folder comes right before all that lies in it.
        if !kept.last().is_some_and(|outer| path.starts_with(outer)) {
            kept.push(path.clone());
        }
    }
    kept
}

fn inside_any(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests;
