//! Finds the other names of a file that has hard links: each is a way around a cover.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry};
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::refusal::Refusal;

/// Most entries looked at before the search gives up.
const ENTRIES: usize = 2_000_000;

/// A file that has several names.
#[derive(Debug)]
struct Linked {
    links: u64,
    names: BTreeSet<PathBuf>,
}

/// All further names of those of `paths` that are files with hard links. The search begins near
/// each file and goes outward, on its own file system; it ends when every name is found, so that
/// files without hard links cost one look.
///
/// # Errors
/// A name is not found: then the file could be reached by it.
pub fn others(paths: &[PathBuf], near: &[PathBuf]) -> Result<Vec<PathBuf>, Refusal> {
    within(paths, near, ENTRIES)
}

/// See [`others`]; gives up after `limit` entries.
fn within(paths: &[PathBuf], near: &[PathBuf], limit: usize) -> Result<Vec<PathBuf>, Refusal> {
    let mut wanted: BTreeMap<(u64, u64), Linked> = BTreeMap::new();
    for path in paths {
        if let Ok(meta) = fs::symlink_metadata(path)
            && meta.is_file()
            && meta.nlink() > 1
        {
            let linked = Linked { links: meta.nlink(), names: BTreeSet::new() };
            wanted.entry((meta.dev(), meta.ino())).or_insert(linked).names.insert(path.clone());
        }
    }
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let mut search = Search { wanted, walked: BTreeSet::new(), left: limit };
    for path in near.iter().map(PathBuf::as_path).chain(outward(paths)) {
        search.walk(path);
        if search.done() {
            break;
        }
    }
    search.names(paths)
}

/// The folders around the paths, the nearest first.
fn outward(paths: &[PathBuf]) -> impl Iterator<Item = &Path> {
    let mut folders: Vec<&Path> = paths.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    folders.dedup();
    folders.into_iter()
}

/// One search in progress.
struct Search {
    wanted: BTreeMap<(u64, u64), Linked>,
    walked: BTreeSet<PathBuf>,
    left: usize,
}

impl Search {
    fn done(&self) -> bool {
        self.left == 0
            || self.wanted.values().all(|linked| linked.names.len() as u64 >= linked.links)
    }

    /// Walks everything below a folder that was not walked before.
    fn walk(&mut self, root: &Path) {
        let mut waiting = vec![root.to_path_buf()];
        while let Some(folder) = waiting.pop() {
            if self.done() {
                return;
            }
            if !self.walked.insert(folder.clone()) {
                continue;
            }
            // A folder that cannot be read hides its names; then the count stays short.
            let Ok(meta) = fs::symlink_metadata(&folder) else { continue };
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                self.look(&entry, meta.dev(), &mut waiting);
            }
        }
    }

    fn look(&mut self, entry: &DirEntry, device: u64, waiting: &mut Vec<PathBuf>) {
        self.left = self.left.saturating_sub(1);
        match entry.file_type() {
            // Hard links never leave a file system.
            Ok(kind) if kind.is_dir() && self.on_a_wanted(device) => waiting.push(entry.path()),
            Ok(kind) if kind.is_file() => {
                if let Some(linked) = self.wanted.get_mut(&(device, entry.ino())) {
                    linked.names.insert(entry.path());
                }
            }
            Ok(_) | Err(_) => {}
        }
    }

    fn on_a_wanted(&self, device: u64) -> bool {
        self.wanted.keys().any(|(wanted, _)| *wanted == device)
    }

    /// The names that were found beyond those known before.
    fn names(self, known: &[PathBuf]) -> Result<Vec<PathBuf>, Refusal> {
        for linked in self.wanted.values() {
            let missing = linked.links.saturating_sub(linked.names.len() as u64);
            if missing > 0 {
                let path = linked.names.first().map_or(Path::new("/"), PathBuf::as_path);
                let what = format!("{missing} hard links of a file were not found");
                let mend = "copy the file so that it has one name, or leave it out";
                return Err(Refusal::at(what, path, mend));
            }
        }
        let names = self.wanted.into_values().flat_map(|linked| linked.names);
        Ok(names.filter(|name| !known.contains(name)).collect())
    }
}

#[cfg(test)]
mod tests;
