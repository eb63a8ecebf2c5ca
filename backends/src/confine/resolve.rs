//! Resolves what a policy names to the paths that have to be covered.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use super::refusal::Refusal;

/// Canonical paths; a symlink gives itself and what it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// Those that exist.
    pub existing: Vec<PathBuf>,
    /// Those that do not exist yet.
    pub missing: Vec<PathBuf>,
}

impl Resolved {
    /// All of them.
    #[must_use]
    pub fn all(self) -> Vec<PathBuf> {
        self.existing.into_iter().chain(self.missing).collect()
    }
}

/// What stands for the process that looks.
const OWN: [&str; 5] = ["/proc/self", "/proc/thread-self", "/dev/fd", "/dev/stdin", "/dev/stdout"];

/// Links followed from one entry before it is taken for a loop.
const LINKS: usize = 40;

/// Resolves one absolute path.
///
/// # Errors
/// A loop of symlinks, `..` in a part that does not exist, or a path that cannot be looked at.
pub fn entry(path: &Path) -> Result<Resolved, Refusal> {
    if OWN.iter().any(|own| path.starts_with(own)) {
        let mend = "name a process by its number, or leave it out";
        return Err(Refusal::at("a path means another file in every process", path, mend));
    }
    let mut resolved = Resolved::default();
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        match step(&path)? {
            Step::Existing(real) => {
                resolved.existing.push(real);
                return Ok(resolved);
            }
            Step::Missing(real) => {
                resolved.missing.push(real);
                return Ok(resolved);
            }
            Step::Link { real, target } => {
                resolved.existing.push(real);
                path = target;
            }
        }
    }
    Err(Refusal::at("a path leads through a loop of symlinks", &path, "name what it stands for"))
}

/// The symlinks on the way to a path, and to what it leads to if it is one, by their canonical
/// names. Whoever replaces one of them leads the next start elsewhere.
#[must_use]
pub fn links_on_the_way(path: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    follow(path, &mut found);
    if let (Ok(target), Some(folder)) = (fs::read_link(path), path.parent()) {
        follow(&folder.join(target), &mut found);
    }
    found
}

fn follow(path: &Path, found: &mut BTreeSet<PathBuf>) {
    for holder in path.ancestors().skip(1) {
        let Ok(target) = fs::read_link(holder) else { continue };
        let (Some(Ok(folder)), Some(name)) =
            (holder.parent().map(Path::canonicalize), holder.file_name())
        else {
            continue;
        };
        // What it leads to is on the way as well.
        if found.insert(folder.join(name)) {
            follow(&folder.join(target).join(name), found);
        }
    }
}

/// Resolves many paths of the same folders with few looks.
#[derive(Debug, Default)]
pub struct Resolver {
    /// The folder seen last, and whether its path is canonical.
    folder: Option<(PathBuf, bool)>,
}

impl Resolver {
    /// What a path that was just seen stands for, as far as it exists.
    ///
    /// # Errors
    /// See [`entry`].
    pub fn existing(&mut self, path: PathBuf) -> Result<Vec<PathBuf>, Refusal> {
        let plain = fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_symlink());
        if plain && path.parent().is_some_and(|folder| self.is_canonical(folder)) {
            return Ok(vec![path]);
        }
        entry(&path).map(|resolved| resolved.existing)
    }

    fn is_canonical(&mut self, folder: &Path) -> bool {
        if let Some((seen, canonical)) = &self.folder
            && seen.as_os_str() == folder.as_os_str()
        {
            return *canonical;
        }
        let canonical = folder.canonicalize().is_ok_and(|real| real == folder);
        self.folder = Some((folder.to_path_buf(), canonical));
        canonical
    }
}

/// What one look at a path finds.
enum Step {
    Existing(PathBuf),
    Missing(PathBuf),
    /// The last name is a symlink.
    Link {
        real: PathBuf,
        target: PathBuf,
    },
}

fn step(path: &Path) -> Result<Step, Refusal> {
    let (Some(parent), Some(Component::Normal(name))) =
        (path.parent(), path.components().next_back())
    else {
        return whole(path);
    };
    match parent.canonicalize() {
        Ok(parent) => named(&parent, name),
        Err(error) => unreached(path, &error),
    }
}

/// A path without a last name: `/`, or one that ends in `..`.
fn whole(path: &Path) -> Result<Step, Refusal> {
    path.canonicalize().map(Step::Existing).map_err(|error| unseen(path, &error))
}

/// A name in a folder that exists.
fn named(parent: &Path, name: &OsStr) -> Result<Step, Refusal> {
    let real = parent.join(name);
    match fs::symlink_metadata(&real) {
        Ok(meta) if meta.is_symlink() => {
            let target = fs::read_link(&real).map_err(|error| unseen(&real, &error))?;
            Ok(Step::Link { target: parent.join(target), real })
        }
        Ok(_) => Ok(Step::Existing(real)),
        Err(error) if absent(&error) => Ok(Step::Missing(real)),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            // The folder lets us not look inside: it is covered as a whole.
            Ok(Step::Existing(parent.to_path_buf()))
        }
        Err(error) => Err(unseen(&real, &error)),
    }
}

/// A path whose folder cannot be resolved.
fn unreached(path: &Path, error: &io::Error) -> Result<Step, Refusal> {
    if !absent(error) && error.kind() != ErrorKind::PermissionDenied {
        return Err(unseen(path, error));
    }
    let holder = path
        .ancestors()
        .skip(1)
        .find_map(|holder| holder.canonicalize().ok().map(|real| (holder, real)));
    let Some((holder, real)) = holder else {
        return Err(unseen(path, error));
    };
    if error.kind() == ErrorKind::PermissionDenied {
        return Ok(Step::Existing(real));
    }
    let rest = path.strip_prefix(holder).unwrap_or(path);
    if !rest.components().all(|part| matches!(part, Component::Normal(_))) {
        let mend = "write it without `..`";
        return Err(Refusal::at("a path that does not exist holds `..`", path, mend));
    }
    dangling(&real, rest).unwrap_or_else(|| Ok(Step::Missing(real.join(rest))))
}

/// The first name that is missing may be a symlink that leads nowhere.
fn dangling(holder: &Path, rest: &Path) -> Option<Result<Step, Refusal>> {
    let first = rest.components().next()?;
    let link = holder.join(first);
    let target = fs::read_link(&link).ok()?;
    let below: PathBuf = rest.components().skip(1).collect();
    Some(Ok(Step::Link { real: link, target: holder.join(target).join(below) }))
}

fn absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn unseen(path: &Path, error: &io::Error) -> Refusal {
    Refusal::at(format!("a path cannot be looked at ({error})"), path, "name one that can")
}

#[cfg(test)]
mod tests;
