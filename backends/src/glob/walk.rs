//! The walk of a [`GlobSet`]: one pass for all patterns, pruned where none can match any more.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{GlobError, GlobSet, Limits, States, walk_root};
use crate::confine::mutant::{self, Mutant};

/// One walk in progress.
struct Walk<'a> {
    set: &'a GlobSet,
    limits: Limits,
    /// Where it began, for messages.
    root: PathBuf,
    entries: usize,
    found: BTreeSet<PathBuf>,
}

/// A folder to be read.
struct Folder {
    path: PathBuf,
    /// Its real path, where that differs: the root was named through a symlink.
    real: Option<PathBuf>,
    states: States,
    depth: usize,
}

/// Which limit was reached.
#[derive(Clone, Copy)]
enum Bound {
    Depth,
    Matches,
    Entries,
}

/// See [`GlobSet::expand`].
pub(super) fn expand(set: &GlobSet, limits: Limits) -> Result<Vec<PathBuf>, GlobError> {
    let mut walk = Walk { set, limits, root: PathBuf::new(), entries: 0, found: BTreeSet::new() };
    for (root, real) in roots(set) {
        walk.root.clone_from(&root);
        let states = set.after(&root);
        walk.count(&root, &states)?;
        let real = Some(real).filter(|real| *real != root);
        walk.folder(Folder { path: root, real, states, depth: 0 })?;
    }
    Ok(walk.found.into_iter().collect())
}

/// Folders to walk from, with their real paths. One below another is walked with it, unless it is reached through a
/// symlink, which the outer walk does not follow.
fn roots(set: &GlobSet) -> Vec<(PathBuf, PathBuf)> {
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
    kept
}

impl Walk<'_> {
    /// Reads one folder, and those below that are still of interest.
    fn folder(&mut self, root: Folder) -> Result<(), GlobError> {
        let mut waiting = vec![root];
        while let Some(folder) = waiting.pop() {
            if folder.depth >= self.limits.depth {
                return Err(self.over(Bound::Depth, &folder.path, &folder.states));
            }
            match fs::read_dir(&folder.path) {
                Ok(entries) => self.entries(&folder, entries, &mut waiting)?,
                Err(error) => self.unreadable(&folder, error)?,
            }
        }
        Ok(())
    }

    fn entries(
        &mut self,
        folder: &Folder,
        entries: fs::ReadDir,
        waiting: &mut Vec<Folder>,
    ) -> Result<(), GlobError> {
        for entry in entries {
            let entry = entry.map_err(|error| self.failed(&folder.path, error, &folder.states))?;
            let name = entry.file_name();
            if mutant::on(Mutant::DotNamesUnmatched) && name.as_bytes().starts_with(b".") {
                continue;
            }
            let path = folder.path.join(&name);
            self.count(&path, &folder.states)?;
            let states = self.set.advance(&folder.states, name.as_bytes());
            let (found, alive) = (self.set.accepts(&states), self.set.alive(&states));
            if !found && !alive {
                continue;
            }
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(self.failed(&path, error, &states)),
            };
            let real = folder.real.as_ref().map(|real| real.join(&name));
            if found {
                // Only a link leads elsewhere than its folder; one that leads nowhere has no end.
                let open = mutant::on(Mutant::MatchedLinkTargetOpen);
                let link = kind.is_symlink() && !open;
                let end = if link { path.canonicalize().ok() } else { real.clone() };
                self.found(&path, end, &states)?;
            }
            if alive && kind.is_dir() {
                waiting.push(Folder { path, real, states, depth: folder.depth + 1 });
            }
        }
        Ok(())
    }

    /// Notes a match, and its real path where that differs.
    fn found(
        &mut self,
        path: &Path,
        real: Option<PathBuf>,
        states: &States,
    ) -> Result<(), GlobError> {
        self.found.insert(path.to_path_buf());
        self.found.extend(real);
        if self.found.len() > self.limits.matches {
            return Err(self.over(Bound::Matches, path, states));
        }
        Ok(())
    }

    /// Counts one entry, inside the read loop: a folder of ten million stops at the limit.
    fn count(&mut self, path: &Path, states: &States) -> Result<(), GlobError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(self.over(Bound::Entries, path, states));
        }
        Ok(())
    }

    /// A folder that cannot be read: gone is fine; closed to us is denied whole when its owner
    /// (us) could open it again from inside, and is as closed inside as here otherwise.
    fn unreadable(&mut self, folder: &Folder, error: io::Error) -> Result<(), GlobError> {
        let kind = error.kind();
        if matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory) {
            return Ok(());
        }
        if kind != ErrorKind::PermissionDenied {
            return Err(self.failed(&folder.path, error, &folder.states));
        }
        let own = rustix::process::geteuid().as_raw();
        let ours = fs::symlink_metadata(&folder.path).is_ok_and(|meta| meta.uid() == own);
        if !ours {
            return Ok(());
        }
        self.found(&folder.path, folder.real.clone(), &folder.states)
    }

    fn over(&self, bound: Bound, at: &Path, states: &States) -> GlobError {
        let (limit, unit, option) = match bound {
            Bound::Depth => (self.limits.depth, "folders deep", "--glob-depth"),
            Bound::Matches => (self.limits.matches, "matches", "--glob-matches"),
            Bound::Entries => (self.limits.entries, "entries", "--glob-entries"),
        };
        let (globs, root, at) = (self.set.names(states), self.root.clone(), at.to_path_buf());
        GlobError::Limit { globs, unit, limit, option, root, at }
    }

    fn failed(&self, at: &Path, source: io::Error, states: &States) -> GlobError {
        GlobError::Io { globs: self.set.names(states), at: at.to_path_buf(), source }
    }
}
