//! [`Sources`]: GROK_HOME and the hook sources in it, checked before anything is started.
//!
//! A hook is run outside the sandbox later, so whoever can write one gets out. The two slots
//! `hooks` and `hooks-paths` are made when they are missing, since a missing one could be made from
//! inside. A symlink or a second hard link would be a second way to the same file, and is refused.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::identity::Identity;
use super::mutant::{self, Mutant};
use super::refusal::Refusal;

/// Folders of the system that may be symlinks.
const EXEMPT: [&str; 6] = ["/tmp", "/var", "/etc", "/private/tmp", "/private/var", "/private/etc"];

/// The slots, the files and folders that `hooks-paths` names, and the hook files in folders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    leaves: Vec<(PathBuf, Identity)>,
}

impl Sources {
    /// Makes the slots of this GROK_HOME where they are missing, and lists every source.
    ///
    /// # Errors
    /// A symlink, a wrong type, a second hard link, or a missing target.
    pub fn prepare(grok_home: &Path) -> Result<Self, Refusal> {
        no_symlink(grok_home)?;
        let (hooks, registry) = (grok_home.join("hooks"), grok_home.join("hooks-paths"));
        // What exists is checked before anything is made: a refusal leaves nothing behind.
        Self::list(&hooks, &registry)?;
        make(grok_home, fs::create_dir_all(grok_home))?;
        no_symlink(grok_home)?;
        make(&hooks, DirBuilder::new().mode(0o777).create(&hooks))?;
        make(&registry, new_file(&registry))?;
        Self::list(&hooks, &registry)
    }

    /// Lists the sources of the slots that exist.
    fn list(hooks: &Path, registry: &Path) -> Result<Self, Refusal> {
        let mut sources = Self::default();
        if let Some(meta) = look_if_there(hooks)? {
            if !meta.is_dir() {
                return Err(wrong(hooks, "a hook slot is no folder"));
            }
            sources.add(hooks)?;
        }
        if let Some(meta) = look_if_there(registry)? {
            if !meta.is_file() {
                return Err(wrong(registry, "a hook slot is no file"));
            }
            sources.add(registry)?;
            for target in targets(registry)? {
                no_symlink(&target)?;
                sources.add(&target)?;
            }
        }
        Ok(sources)
    }

    /// Adds a file, or a folder with the hook files in it.
    fn add(&mut self, path: &Path) -> Result<(), Refusal> {
        let meta = look(path)?;
        if meta.is_dir() {
            for file in hook_files(path)? {
                self.add_file(&file)?;
            }
            self.leaves.push((path.to_path_buf(), Identity::from(&meta)));
            return Ok(());
        }
        self.add_file(path)
    }

    fn add_file(&mut self, path: &Path) -> Result<(), Refusal> {
        let meta = look(path)?;
        if !meta.is_file() {
            return Err(wrong(path, "a hook source is no regular file and no folder"));
        }
        if meta.nlink() > 1 && !mutant::on(Mutant::HookLinksAccepted) {
            let mend = "copy it, so that it has one name";
            return Err(Refusal::at("a hook source has a second hard link", path, mend));
        }
        self.leaves.push((path.to_path_buf(), Identity::from(&meta)));
        Ok(())
    }

    /// Paths to protect.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        self.leaves.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Looks again whether everything still is what it was.
    ///
    /// # Errors
    /// A source was replaced, or a hook file came or went.
    pub fn recheck(&self) -> Result<(), Refusal> {
        let changed = |path: &Path| {
            Refusal::at("a hook source changed while confine started", path, "start again")
        };
        let mut files = BTreeSet::new();
        for (path, identity) in &self.leaves {
            if Identity::of(path).ok() != Some(*identity) {
                return Err(changed(path));
            }
            if path.is_dir() {
                files.extend(hook_files(path)?);
            }
        }
        let new = files.iter().find(|file| !self.leaves.iter().any(|(path, _)| path == *file));
        new.map_or(Ok(()), |file| Err(changed(file)))
    }
}

/// Refuses a path of which an existing part is a symlink; those of the system are exempt.
pub(super) fn no_symlink(path: &Path) -> Result<(), Refusal> {
    let parts: Vec<&Path> = path.ancestors().collect();
    for part in parts.into_iter().rev() {
        let exempt = EXEMPT.iter().any(|exempt| Path::new(exempt) == part);
        match fs::symlink_metadata(part) {
            Ok(_) if mutant::on(Mutant::HookSymlinksAccepted) => {}
            Ok(meta) if meta.is_symlink() && !exempt => {
                let mend = "set GROK_HOME or write hooks-paths without symlinks";
                return Err(Refusal::at("a symlink leads to hook sources", part, mend));
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unseen(part, &error)),
        }
    }
    Ok(())
}

/// What may exist already is fine; it is looked at afterwards.
fn make(path: &Path, made: io::Result<()>) -> Result<(), Refusal> {
    match made {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            let what = format!("a hook slot cannot be made ({error})");
            Err(Refusal::at(what, path, "make it, or set GROK_HOME to a folder of yours"))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn new_file(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(drop)
}

/// The absolute paths that the registry names, one a line; all else in it is ignored.
fn targets(registry: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let text = fs::read_to_string(registry).map_err(|error| unseen(registry, &error))?;
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with('/'));
    let unique: BTreeSet<PathBuf> = lines.map(PathBuf::from).collect();
    Ok(unique.into_iter().collect())
}

/// The hook files directly in a folder, sorted.
fn hook_files(folder: &Path) -> Result<BTreeSet<PathBuf>, Refusal> {
    let entries = fs::read_dir(folder).map_err(|error| unseen(folder, &error))?;
    let mut files = BTreeSet::new();
    for entry in entries {
        let entry = entry.map_err(|error| unseen(folder, &error))?;
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.ends_with(b".json") && name.len() > 5 && !name.starts_with(b".") {
            files.insert(entry.path());
        }
    }
    Ok(files)
}

fn look(path: &Path) -> Result<Metadata, Refusal> {
    fs::symlink_metadata(path).map_err(|error| unseen(path, &error))
}

fn look_if_there(path: &Path) -> Result<Option<Metadata>, Refusal> {
    match fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unseen(path, &error)),
    }
}

fn wrong(path: &Path, what: &str) -> Refusal {
    Refusal::at(what, path, "move it away; confine makes what is missing")
}

fn unseen(path: &Path, error: &io::Error) -> Refusal {
    let what = format!("a hook source cannot be looked at ({error})");
    Refusal::at(what, path, "make it readable, or take it out of hooks-paths")
}

#[cfg(test)]
mod tests;
