//! [`Grants`]: what a profile lets the command read and write.

use std::path::{Path, PathBuf};

use sandproof_scenarios::Profile;
use serde::{Deserialize, Serialize};

use super::surroundings::Surroundings;

/// What may be read and written; everything below a root is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants {
    /// False for `off`: nothing is limited, the lists are empty.
    pub limited: bool,
    /// Read roots.
    pub read: Vec<PathBuf>,
    /// Write roots, readable as well.
    pub write: Vec<PathBuf>,
    /// Device files, read and write.
    pub devices: Vec<PathBuf>,
}

/// Folders for temporary files on every system.
pub(super) const TEMP: [&str; 2] = ["/tmp", "/var/tmp"];

/// More of them on macOS.
const TEMP_MACOS: [&str; 3] = ["/private/tmp", "/private/var/tmp", "/private/var/folders"];

/// What `strict` reads besides workspace and GROK_HOME; those that exist.
const STRICT: [&str; 14] = [
    "/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/dev", "/proc", "/sys", "/tmp", "/run",
    "/var", "/System", "/Library",
];

/// Device files and device folders of every profile but `off`.
///
/// None is opened to try it: `/dev/tty` cannot be opened without a terminal, and still is needed
/// for one that the command makes.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"];

/// A device folder on macOS. On Linux it is a symlink to a folder of the process that looks, and
/// what is opened through it has the rights of what it leads to.
const DEVICES_MACOS: [&str; 1] = ["/dev/fd"];

/// Folders directly under `/` that `devbox` does not write.
const DEVBOX_CLOSED: [&str; 4] = ["data", "proc", "sys", "dev"];

/// What the rules below ask of the file system.
pub trait Folders {
    /// Whether the path exists.
    fn exists(&self, path: &Path) -> bool;
    /// Whether it is a folder.
    fn is_folder(&self, path: &Path) -> bool;
    /// The names of the folders directly under `/`.
    fn top(&self) -> Vec<String>;
}

/// The file system of this host.
#[derive(Clone, Copy, Debug)]
pub struct Host;

impl Folders for Host {
    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn top(&self) -> Vec<String> {
        let entries = std::fs::read_dir("/").into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.path().is_dir());
        folders.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }
}

/// What `profile` grants in these surroundings. The paths are as the rules name them, neither
/// canonical nor known to exist.
#[must_use]
pub fn of(profile: Profile, around: &Surroundings, folders: &dyn Folders) -> Grants {
    let everything = || vec![PathBuf::from("/")];
    let (read, write) = match profile {
        Profile::Off => return Grants::default(),
        Profile::Workspace => (everything(), with_grok_home(Some(&around.workspace), around)),
        Profile::ReadOnly => (everything(), with_grok_home(None, around)),
        Profile::Strict => {
            (strict_read(around, folders), with_grok_home(Some(&around.workspace), around))
        }
        Profile::Devbox => (everything(), devbox_write(around, folders)),
        Profile::WorkspaceWrite => (everything(), vec![around.workspace.clone()]),
    };
    let mut write = write;
    match profile {
        Profile::Workspace | Profile::ReadOnly | Profile::Strict => {
            write.extend(temp(&TEMP, around, folders));
        }
        Profile::WorkspaceWrite => write.extend(temp(&TEMP[..1], around, folders)),
        Profile::Devbox | Profile::Off => {}
    }
    let devices = DEVICES.iter().chain(DEVICES_MACOS.iter().filter(|_| cfg!(target_os = "macos")));
    let devices = devices.map(PathBuf::from).filter(|path| folders.exists(path)).collect();
    Grants { limited: true, read, write, devices }
}

/// The workspace, if it is written, and GROK_HOME.
fn with_grok_home(workspace: Option<&Path>, around: &Surroundings) -> Vec<PathBuf> {
    workspace.into_iter().chain([around.grok_home.as_path()]).map(Path::to_path_buf).collect()
}

/// The temp set: fixed folders, and `$TMPDIR`.
fn temp(usual: &[&str], around: &Surroundings, folders: &dyn Folders) -> Vec<PathBuf> {
    let fixed = usual.iter().chain(TEMP_MACOS.iter().filter(|_| cfg!(target_os = "macos")));
    let fixed = fixed.map(PathBuf::from).filter(|path| folders.is_folder(path));
    fixed.chain(around.tmpdir.clone()).collect()
}

/// System folders, and those of the user that `strict` reads.
fn strict_read(around: &Surroundings, folders: &dyn Folders) -> Vec<PathBuf> {
    let system = STRICT
        .iter()
        .map(PathBuf::from)
        .chain([PathBuf::from("/private"), around.home.join("Library")]);
    let system = system.filter(|path| folders.exists(path));
    system.chain([around.workspace.clone(), around.grok_home.clone()]).collect()
}

/// The workspace, and every folder directly under `/` but four.
fn devbox_write(around: &Surroundings, folders: &dyn Folders) -> Vec<PathBuf> {
    let top = folders.top().into_iter().filter(|name| !DEVBOX_CLOSED.contains(&name.as_str()));
    top.map(|name| Path::new("/").join(name)).chain([around.workspace.clone()]).collect()
}

#[cfg(test)]
mod tests;
