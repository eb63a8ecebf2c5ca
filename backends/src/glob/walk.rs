//! The walk of a [`GlobSet`]: one pass for all patterns, pruned where none can match any more.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{GlobError, GlobSet, Limits, States, walk_root};

/// One walk in progress.
struct Walk<'a> {
    set: &'a GlobSet,
    limits: Limits,
    entries: usize,
    found: BTreeSet<PathBuf>,
}

/// See [`GlobSet::expand`].
pub(super) fn expand(set: &GlobSet, limits: Limits) -> Result<Vec<PathBuf>, GlobError> {
    let mut walk = Walk { set, limits, entries: 0, found: BTreeSet::new() };
    for root in roots(set) {
        let states = set.after(&root);
        walk.count(&root, &states)?;
        walk.folder(root, states, 0)?;
    }
    Ok(walk.found.into_iter().collect())
}

/// Folders to walk from. One below another is walked with it, unless it is reached through a
/// symlink, which the outer walk does not follow.
fn roots(set: &GlobSet) -> Vec<PathBuf> {
    let wanted: BTreeSet<PathBuf> =
        set.patterns.iter().map(|pattern| walk_root(&pattern.text)).collect();
    let mut kept: Vec<(PathBuf, PathBuf)> = Vec::new();
    for root in wanted {
        // One that cannot be resolved is tried as written: the walk says what is wrong with it.
        let real = root.canonicalize().unwrap_or_else(|_| root.clone());
        let covered = kept.iter().any(|(outer, outer_real)| {
            root.strip_prefix(outer).is_ok_and(|below| outer_real.join(below) == real)
        });
        if !covered {
            kept.push((root, real));
        }
    }
    kept.into_iter().map(|(root, _)| root).collect()
}

impl Walk<'_> {
    /// Reads one folder, and those below that are still of interest.
    fn folder(&mut self, folder: PathBuf, states: States, depth: usize) -> Result<(), GlobError> {
        let mut waiting = vec![(folder, states, depth)];
        while let Some((folder, states, depth)) = waiting.pop() {
            if depth >= self.limits.depth {
                return Err(self.over("folders deep", self.limits.depth, &folder, &states));
            }
            match fs::read_dir(&folder) {
                Ok(entries) => self.entries(&folder, entries, &states, depth, &mut waiting)?,
                Err(error) => self.unreadable(&folder, error, &states)?,
            }
        }
        Ok(())
    }

    fn entries(
        &mut self,
        folder: &Path,
        entries: fs::ReadDir,
        states: &States,
        depth: usize,
        waiting: &mut Vec<(PathBuf, States, usize)>,
    ) -> Result<(), GlobError> {
        for entry in entries {
            let entry = entry.map_err(|source| self.failed(folder, source, states))?;
            let path = entry.path();
            self.count(&path, states)?;
            let next = self.set.advance(states, entry.file_name().as_bytes());
            if self.set.accepts(&next) {
                self.found(&path, &next)?;
            }
            if !self.set.alive(&next) {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push((path, next, depth + 1)),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(self.failed(&path, error, &next)),
            }
        }
        Ok(())
    }

    /// Notes a match, and its real path where that differs; a link that leads nowhere has none.
    fn found(&mut self, path: &Path, states: &States) -> Result<(), GlobError> {
        let real = path.canonicalize().ok();
        for path in std::iter::once(path.to_path_buf()).chain(real) {
            self.found.insert(path);
        }
        if self.found.len() > self.limits.matches {
            return Err(self.over("matches", self.limits.matches, path, states));
        }
        Ok(())
    }

    /// Counts one entry, inside the read loop: a folder of ten million stops at the limit.
    fn count(&mut self, path: &Path, states: &States) -> Result<(), GlobError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(self.over("entries", self.limits.entries, path, states));
        }
        Ok(())
    }

    /// A folder that cannot be read: gone is fine; closed to us is denied whole when its owner
    /// (us) could open it again from inside, and is as closed inside as here otherwise.
    fn unreadable(
        &mut self,
        folder: &Path,
        error: io::Error,
        states: &States,
    ) -> Result<(), GlobError> {
        let kind = error.kind();
        if matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory) {
            return Ok(());
        }
        if kind != ErrorKind::PermissionDenied {
            return Err(self.failed(folder, error, states));
        }
        let own = rustix::process::geteuid().as_raw();
        let ours = fs::symlink_metadata(folder).is_ok_and(|meta| meta.uid() == own);
        if ours { self.found(folder, states) } else { Ok(()) }
    }

    fn over(&self, unit: &'static str, limit: usize, at: &Path, states: &States) -> GlobError {
        GlobError::Limit { globs: self.set.names(states), unit, limit, at: at.to_path_buf() }
    }

    fn failed(&self, at: &Path, source: io::Error, states: &States) -> GlobError {
        GlobError::Io { globs: self.set.names(states), at: at.to_path_buf(), source }
    }
}
