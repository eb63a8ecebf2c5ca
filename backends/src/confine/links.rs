//! Finds the other names of a file that has hard links: each is a way around a cover.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry};
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::mutant::{self, Mutant};
use super::refusal::Refusal;

/// Most entries looked at before the search gives up.
const ENTRIES: usize = 2_000_000;

/// The same while only matches of globs are searched for. Package stores link thousands of files,
/// and what is not found is told, so the search may be short.
const ENTRIES_FOR_MATCHES: usize = 200_000;

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Names beyond those known before.
    pub names: Vec<PathBuf>,
    /// Matched files of which names were not found, and how many.
    pub unknown: Vec<(PathBuf, u64)>,
}

/// All further names of those of `paths` that are files with hard links. The search begins near
/// each file and goes outward, on its own file system; it ends when every name is found, so that
/// files without hard links cost one look.
///
/// # Errors
/// A name is not found: then the file could be reached by it.
pub fn others(paths: &[PathBuf], near: &[PathBuf]) -> Result<Vec<PathBuf>, Refusal> {
    search(paths, &[], near).map(|found| found.names)
}

/// The same for `named` and for `matched` paths. Those matched by a glob are searched for in the
/// folders `near` only, and a name that is not found is no refusal but told in the answer.
///
/// # Errors
/// A name of one of the `named` is not found.
pub fn search(named: &[PathBuf], matched: &[PathBuf], near: &[PathBuf]) -> Result<Found, Refusal> {
    if mutant::on(Mutant::LinksIgnored) {
        return Ok(Found::default());
    }
    within(named, matched, near, ENTRIES)
}

/// See [`search`]; gives up after `limit` entries.
fn within(
    named: &[PathBuf],
    matched: &[PathBuf],
    near: &[PathBuf],
    limit: usize,
) -> Result<Found, Refusal> {
    let mut search = Search::new(limit);
    for path in named {
        search.want(path, true);
    }
    for path in matched {
        search.want(path, false);
    }
    for root in near {
        search.walk(root);
    }
    for root in outward(named) {
        if search.missing_named == 0 {
            break;
        }
        search.walk(root);
    }
    search.answer()
}

/// The folders around the paths, the nearest first.
fn outward(paths: &[PathBuf]) -> impl Iterator<Item = &Path> {
    let mut folders: Vec<&Path> = paths.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    folders.dedup();
    folders.into_iter()
}

/// A file that has several names.
#[derive(Debug)]
struct Linked {
    links: u64,
    /// One of its paths was denied or protected by name.
    named: bool,
    known: BTreeSet<PathBuf>,
    names: BTreeSet<PathBuf>,
}

impl Linked {
    fn missing(&self) -> u64 {
        self.links.saturating_sub((self.known.len() + self.names.len()) as u64)
    }
}

/// One search in progress.
struct Search {
    wanted: BTreeMap<(u64, u64), Linked>,
    /// The file systems they lie on: hard links never leave one.
    devices: BTreeSet<u64>,
    /// Files of which names are missing; and those among them that were named.
    missing: usize,
    missing_named: usize,
    walked: BTreeSet<PathBuf>,
    looked: usize,
    limit: usize,
}

impl Search {
    fn new(limit: usize) -> Self {
        let (wanted, devices, walked) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Self { wanted, devices, missing: 0, missing_named: 0, walked, looked: 0, limit }
    }

    /// Adds a path, if it is a file with hard links.
    fn want(&mut self, path: &Path, named: bool) {
        let Ok(meta) = fs::symlink_metadata(path) else { return };
        if !meta.is_file() || meta.nlink() < 2 {
            return;
        }
        self.devices.insert(meta.dev());
        let key = (meta.dev(), meta.ino());
        let linked = self.wanted.entry(key).or_insert_with(|| {
            let (known, names) = (BTreeSet::new(), BTreeSet::new());
            self.missing += 1;
            Linked { links: meta.nlink(), named: false, known, names }
        });
        if named && !linked.named {
            linked.named = true;
            self.missing_named += 1;
        }
        if linked.known.insert(path.to_path_buf()) && linked.missing() == 0 {
            self.found_all(key);
        }
    }

    /// Every name of a file is known; told once.
    fn found_all(&mut self, key: (u64, u64)) {
        self.missing -= 1;
        self.missing_named -= usize::from(self.wanted[&key].named);
    }

    fn done(&self) -> bool {
        let limit =
            if self.missing_named > 0 { self.limit } else { self.limit.min(ENTRIES_FOR_MATCHES) };
        self.missing == 0 || self.looked >= limit
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
            let device = meta.dev();
            let wanted = self.devices.contains(&device);
            for entry in entries.flatten() {
                if self.done() {
                    return;
                }
                self.look(&entry, device, wanted, &mut waiting);
            }
        }
    }

    fn look(&mut self, entry: &DirEntry, device: u64, wanted: bool, waiting: &mut Vec<PathBuf>) {
        self.looked += 1;
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && wanted => waiting.push(entry.path()),
            Ok(kind) if kind.is_file() && wanted => self.compare((device, entry.ino()), entry),
            Ok(_) | Err(_) => {}
        }
    }

    fn compare(&mut self, key: (u64, u64), entry: &DirEntry) {
        let Some(linked) = self.wanted.get_mut(&key) else { return };
        let path = entry.path();
        if linked.missing() == 0 || linked.known.contains(&path) {
            return;
        }
        if linked.names.insert(path) && linked.missing() == 0 {
            self.found_all(key);
        }
    }

    /// The names that were found beyond those known before.
    fn answer(self) -> Result<Found, Refusal> {
        let mut found = Found::default();
        for linked in self.wanted.into_values() {
            let missing = linked.missing();
            let path = linked.known.first().map_or(Path::new("/"), PathBuf::as_path);
            if missing > 0 && linked.named {
                let what = format!("{missing} hard links of a file were not found");
                let mend = "copy the file so that it has one name, or leave it out";
                return Err(Refusal::at(what, path, mend));
            }
            if missing > 0 {
                found.unknown.push((path.to_path_buf(), missing));
            }
            found.names.extend(linked.names);
        }
        found.unknown.sort();
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
