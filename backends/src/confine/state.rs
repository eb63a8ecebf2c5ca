//! What the sandbox itself goes by: its settings, its log, the records of sessions. A command that
//! could write them would choose its own sandbox the next time, or what is known of this one.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::cover::inside_any;
use super::mutant::{self, Mutant};
use super::refusal::Refusal;
use super::resolve;

/// The log of events.
pub const LOG: &str = "sandbox-events.jsonl";
/// What the log held before it grew too large.
pub const OLD_LOG: &str = "sandbox-events.jsonl.1";
/// Profiles, in GROK_HOME and in `.grok` of a workspace.
pub const PROFILES: &str = "sandbox.toml";
/// Records of sessions.
pub const SESSIONS: &str = "sessions";

/// Files of GROK_HOME that may be read and never written.
const FILES: [&str; 3] = [PROFILES, "config.toml", "requirements.toml"];

/// Files that may not even be read: they tell of other sessions, and whoever can open one can keep
/// a lock on it, which would hold up every start.
const LOGS: [&str; 2] = [LOG, OLD_LOG];

/// Canonical paths that are kept as they are, there or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Files; one that is missing reads as empty while the command runs.
    pub files: Vec<PathBuf>,
    /// Folders, with all that is in them.
    pub folders: Vec<PathBuf>,
    /// Files that are not read either.
    pub logs: Vec<PathBuf>,
}

/// The state of this GROK_HOME, and of this workspace. Where the command can write nothing, what is
/// missing needs nobody to keep its place.
///
/// # Errors
/// A path that cannot be resolved.
pub fn of(grok_home: &Path, workspace: &Path, write: &[PathBuf]) -> Result<State, Refusal> {
    let mut state = State::default();
    for name in FILES.iter().filter(|_| !mutant::on(Mutant::SettingsWritable)) {
        state.files.extend(kept(&grok_home.join(name), write)?);
    }
    for name in LOGS.iter().filter(|_| !mutant::on(Mutant::LogOpen)) {
        state.logs.extend(kept(&grok_home.join(name), write)?);
    }
    if !mutant::on(Mutant::RecordsWritable) {
        state.folders.extend(kept(&grok_home.join(SESSIONS), write)?);
    }
    let own = workspace.join(".grok");
    if fs::symlink_metadata(&own).is_ok() {
        state.files.extend(kept(&own.join(PROFILES), write)?);
    } else {
        // An empty folder: a file would show up in `git status`.
        state.folders.extend(kept(&own, write)?);
    }
    Ok(state)
}

/// The symlinks on the way to it: a `.grok` that is one could be replaced by another folder.
#[must_use]
pub fn ways(grok_home: &Path, workspace: &Path) -> BTreeSet<PathBuf> {
    let own = workspace.join(".grok").join(PROFILES);
    let paths = [grok_home.join(PROFILES), own];
    let paths = paths.iter().filter(|_| !mutant::on(Mutant::WaysUnpinned));
    paths.flat_map(|path| resolve::links_on_the_way(path)).collect()
}

/// A path with what it leads to. What is missing counts only where it could be made.
fn kept(path: &Path, write: &[PathBuf]) -> Result<Vec<PathBuf>, Refusal> {
    let resolved = resolve::entry(path)?;
    let missing = resolved.missing.into_iter();
    let missing = missing.filter(|path| {
        let held = inside_any(path, write) && can_be_made(path);
        held && !mutant::on(Mutant::MissingSettingsNotHeld)
    });
    Ok(resolved.existing.into_iter().chain(missing).collect())
}

/// Whether a process of this user could make it, now or after a change of mode.
fn can_be_made(path: &Path) -> bool {
    let Some(holder) = path.ancestors().skip(1).find(|holder| holder.exists()) else {
        return false;
    };
    match rustix::fs::access(holder, rustix::fs::Access::WRITE_OK) {
        Ok(()) => true,
        Err(rustix::io::Errno::ROFS) => false,
        Err(_) => {
            let owner = fs::metadata(holder).map(|meta| meta.uid());
            owner.is_ok_and(|uid| uid == rustix::process::geteuid().as_raw())
        }
    }
}

#[cfg(test)]
mod tests;
