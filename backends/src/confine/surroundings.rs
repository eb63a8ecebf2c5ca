//! [`Surroundings`]: what the plan needs to know of the system, looked up once.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::args::Args;
use super::grants;
use super::planted;
use super::refusal::Refusal;

/// Folders of this user and this start; canonical where they exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The workspace.
    pub workspace: PathBuf,
    /// HOME.
    pub home: PathBuf,
    /// GROK_HOME as it was given, else `.grok` in HOME.
    pub grok_home: PathBuf,
    /// `$TMPDIR`, when it is a folder.
    pub tmpdir: Option<PathBuf>,
    /// Where the command is started.
    pub cwd: PathBuf,
    /// `$GROK_SANDBOX`, when it is set and not empty.
    pub sandbox: Option<OsString>,
}

impl Surroundings {
    /// Looks at the environment and the current folder.
    ///
    /// # Errors
    /// The workspace or the current folder is no folder that can be entered.
    pub fn look(args: &Args) -> Result<Self, Refusal> {
        let cwd = env::current_dir().map_err(|error| {
            Refusal::new(
                format!("the current folder cannot be named: {error}"),
                "start from a folder that exists",
            )
        })?;
        let asked = args.workspace.clone().unwrap_or_else(|| cwd.clone());
        let workspace = folder(&asked).ok_or_else(|| {
            Refusal::at("the workspace is no folder", &asked, "name one with --workspace")
        })?;
        let home = set("HOME").map_or_else(|| PathBuf::from("/root"), PathBuf::from);
        let home = home.canonicalize().unwrap_or(home);
        let grok_home = set("GROK_HOME").map_or_else(|| home.join(".grok"), PathBuf::from);
        if !grok_home.is_absolute() {
            let mend = "give GROK_HOME an absolute path";
            return Err(Refusal::at("GROK_HOME is relative", &grok_home, mend));
        }
        let tmpdir = set("TMPDIR").and_then(|path| folder(Path::new(&path)));
        let around = Self { workspace, home, grok_home, tmpdir, cwd, sandbox: set("GROK_SANDBOX") };
        around.check_tmpdir()?;
        if let Some(named) = set("TMPDIR").filter(|_| around.tmpdir.is_some()) {
            let written = [around.workspace.clone(), around.grok_home.clone()];
            let temp = grants::TEMP.map(PathBuf::from);
            planted::refuse(Path::new(&named), "TMPDIR", &written, &temp)?;
        }
        Ok(around)
    }

    /// `$TMPDIR` is written in nearly every profile; one that holds HOME or the workspace would
    /// make these writable by a side door. Below the fixed temp folders it adds nothing.
    fn check_tmpdir(&self) -> Result<(), Refusal> {
        let Some(tmpdir) = &self.tmpdir else {
            return Ok(());
        };
        let fixed = grants::TEMP.iter().any(|temp| tmpdir.starts_with(temp));
        if fixed || ![&self.home, &self.workspace].iter().any(|held| held.starts_with(tmpdir)) {
            return Ok(());
        }
        let mend = "set TMPDIR to a folder of its own";
        Err(Refusal::at("TMPDIR holds HOME or the workspace", tmpdir, mend))
    }
}

/// A variable that is set and not empty.
pub(super) fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The canonical path of a folder that exists.
fn folder(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_dir())
}
