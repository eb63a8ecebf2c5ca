//! A fresh folder with the rooms of a run, and the two ways to run a command in it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::check::{Outcome, ensure};

/// Who runs the commands.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) name: &'static str,
    pub(crate) uid: u32,
}

/// This user; root also becomes nobody.
pub(crate) fn users() -> Vec<User> {
    let uid = rustix::process::geteuid().as_raw();
    if uid != 0 {
        return vec![User { name: "user", uid }];
    }
    vec![User { name: "root", uid }, User { name: "nobody", uid: 65534 }]
}

/// A folder for worlds: never below one that a profile grants, and for root one that nobody can
/// reach.
fn base() -> Option<PathBuf> {
    let root = rustix::process::geteuid().is_root();
    let cache = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let places = root.then(|| PathBuf::from("/srv")).into_iter().chain(cache);
    places.chain([PathBuf::from(env!("CARGO_TARGET_TMPDIR"))]).find(|place| {
        let granted = ["/tmp", "/var", "/run"].iter().any(|temp| place.starts_with(temp));
        !granted && rustix::fs::access(place, rustix::fs::Access::WRITE_OK).is_ok()
    })
}

/// What a command left: its status and output.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn ok(&self) -> bool {
        self.status == 0
    }
}

/// The rooms.
pub(crate) struct World {
    dir: TempDir,
    pub(crate) user: User,
    pub(crate) exe: PathBuf,
}

impl World {
    pub(crate) fn new(user: &User) -> Result<Self, String> {
        Self::make(user).map_err(|error| format!("no world: {error}"))
    }

    fn make(user: &User) -> std::io::Result<Self> {
        let base = base().ok_or_else(|| std::io::Error::other("no folder to work in"))?;
        let dir = tempfile::Builder::new().prefix("confine-test-").tempdir_in(base)?;
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755))?;
        // A hard link where possible: a copy of this executable for each test would be slow.
        let exe = dir.path().join("exe");
        let own = std::env::current_exe()?;
        fs::hard_link(&own, &exe).or_else(|_| fs::copy(&own, &exe).map(drop))?;
        let world = Self { dir, user: user.clone(), exe };
        for room in ["work", "home", "outside", "temp"] {
            fs::create_dir(world.at(room))?;
            world.own(room)?;
        }
        world.own("")?;
        for (path, text) in
            [("work/secret", "SECRET"), ("work/plain", "PLAIN"), ("outside/far", "FAR")]
        {
            world.write(path, text).map_err(std::io::Error::other)?;
        }
        Ok(world)
    }

    /// A path in the world.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// The same as text.
    pub(crate) fn text(&self, path: &str) -> String {
        self.at(path).display().to_string()
    }

    fn own(&self, path: &str) -> std::io::Result<()> {
        chown(self.at(path), Some(self.user.uid), Some(self.user.uid))
    }

    /// Writes a file from outside, with its folders.
    pub(crate) fn write(&self, path: &str, text: &str) -> Outcome {
        let made = (|| {
            let mut folder = PathBuf::new();
            for part in Path::new(path).parent().into_iter().flat_map(Path::components) {
                folder.push(part);
                if !self.at(&folder.display().to_string()).exists() {
                    fs::create_dir(self.at(&folder.display().to_string()))?;
                    self.own(&folder.display().to_string())?;
                }
            }
            fs::write(self.at(path), text)?;
            self.own(path)
        })();
        made.map_err(|error: std::io::Error| format!("{path}: {error}"))
    }

    /// Makes a folder from outside.
    pub(crate) fn folder(&self, path: &str) -> Outcome {
        self.write(&format!("{path}/.x"), "")?;
        fs::remove_file(self.at(path).join(".x")).map_err(|error| format!("{path}: {error}"))
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_else(|error| format!("<{error}>"))
    }

    /// A command of the user, in the workspace.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.at("work"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.at("home"))
            .env("TMPDIR", self.at("temp"))
            .env("EXE", &self.exe)
            .env("W", self.dir.path())
            .stdin(Stdio::null());
        if rustix::process::geteuid().is_root() && self.user.uid != 0 {
            command.uid(self.user.uid).gid(self.user.uid);
        }
        command
    }

    /// The sandbox with these options, up to the command; under workspace unless they say otherwise.
    pub(crate) fn sandbox(&self, options: &[&str]) -> Command {
        let mut command = self.unchosen(options);
        if !options.contains(&"--sandbox") {
            command.args(["--sandbox", "workspace"]);
        }
        command
    }

    /// The same without a profile, which something else may choose. The executable is readable in
    /// it.
    pub(crate) fn unchosen(&self, options: &[&str]) -> Command {
        let mut command = self.command(&self.exe);
        command.arg("confine").args(options).arg("--read-only").arg(&self.exe);
        command
    }

    /// Runs a shell script in the sandbox.
    pub(crate) fn confined(&self, options: &[&str], script: &str) -> Result<Ran, String> {
        run(self.sandbox(options).args(["--", "sh", "-c", script]))
    }

    /// Runs a shell script without any sandbox.
    pub(crate) fn bare(&self, script: &str) -> Result<Ran, String> {
        run(self.command("sh").args(["-c", script]))
    }

    /// Does something while a process of the same user runs outside.
    pub(crate) fn with_victim(&self, act: impl FnOnce(u32) -> Outcome) -> Outcome {
        let started = self.command("sleep").arg("60").spawn();
        let mut victim = started.map_err(|error| format!("no victim: {error}"))?;
        let outcome = act(victim.id());
        let ended = victim.kill().and_then(|()| victim.wait());
        ended.map_err(|error| format!("the victim: {error}"))?;
        outcome
    }

    /// The script works without the sandbox and fails in it; it must not change what it finds.
    pub(crate) fn denied(&self, options: &[&str], script: &str) -> Outcome {
        let confined = self.confined(options, script)?;
        ensure(confined.status != 125, &format!("refused: {}", confined.err))?;
        ensure(!confined.ok(), &format!("not denied: {script}: {confined:?}"))?;
        let bare = self.bare(script)?;
        ensure(bare.ok(), &format!("does not work without sandbox: {script}: {bare:?}"))
    }

    /// The script works in the sandbox.
    pub(crate) fn allowed(&self, options: &[&str], script: &str) -> Outcome {
        let confined = self.confined(options, script)?;
        ensure(confined.ok(), &format!("not allowed: {script}: {confined:?}"))
    }

    /// The sandbox refuses, the command does not run, and the message says `why`.
    pub(crate) fn refused(&self, options: &[&str], why: &str) -> Outcome {
        let ran = self.confined(options, "echo RAN")?;
        ensure(ran.status == 125, &format!("not refused: {ran:?}"))?;
        ensure(!ran.out.contains("RAN"), "the command ran")?;
        let said = ran.err.contains("confine: refused: ") && ran.err.contains(why);
        ensure(said, &format!("the message does not say `{why}`: {}", ran.err))
    }
}

/// Runs to the end.
pub(crate) fn run(command: &mut Command) -> Result<Ran, String> {
    let output = command.output().map_err(|error| format!("cannot start: {error}"))?;
    Ok(Ran {
        status: output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0)),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}
