//! `--as USER`: runs the whole engine in a child process of another account, so that arms,
//! victims, listeners and fixtures all belong to it, and nothing of root is inherited.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::unistd::User;
use sandproof_probes::{account, sys};

use crate::engine::{EngineError, Event};
use crate::request::Request;

/// The hidden first argument that turns sandproof into the engine alone.
pub const ARGUMENT: &str = "engine";

/// Where arenas of other users go.
const PLACE: &str = "/srv/sandproof";

/// The account of that name.
///
/// # Errors
/// Why it cannot be used, as a sentence for the user.
pub fn account(name: &str) -> Result<User, String> {
    if !nix::unistd::geteuid().is_root() {
        return Err("--as needs root: only root may become another user".to_owned());
    }
    match User::from_name(name) {
        Ok(Some(user)) => Ok(user),
        Ok(None) => Err(format!("--as: there is no account `{name}`")),
        Err(error) => Err(format!("--as: cannot look up `{name}`: {error}")),
    }
}

/// Carries a request out as that account; events come back over a pipe.
///
/// # Errors
/// See [`EngineError`].
pub fn carry_out_as(
    user: &User,
    mut request: Request,
    sink: &mut dyn FnMut(Event),
) -> Result<(), EngineError> {
    let place = request.arena_root.clone().unwrap_or_else(|| PathBuf::from(PLACE));
    let failed = |what: &str, error: io::Error| EngineError::Failed(format!("{what}: {error}"));
    let own = own_place(&place, user)
        .map_err(|error| failed(&format!("cannot make a place in {}", place.display()), error))?;
    request.arena_root = Some(own.clone());
    let executable = Executable::copy(&own).map_err(|e| failed("cannot copy sandproof", e))?;
    let mut command = engine_command(&executable.path, user, &own)
        .map_err(|error| failed("cannot become the user", error))?;
    let mut child = command.spawn().map_err(|e| failed("cannot start the engine", e))?;
    let input = child.stdin.take();
    let bytes = serde_json::to_vec(&request).map_err(|e| failed("cannot hand over", e.into()))?;
    // Written by a thread of its own: a large catalogue does not fit into the pipe.
    let writer = std::thread::spawn(move || input.map(|mut input| input.write_all(&bytes)));
    let mut wrong = None;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            match line.map(|line| serde_json::from_str(&line)) {
                Ok(Ok(Message::Event(event))) => sink(event),
                Ok(Ok(Message::Refused(why))) => wrong = Some(EngineError::Refused(why)),
                Ok(Ok(Message::Failed(why))) => wrong = Some(EngineError::Failed(why)),
                Ok(Err(error)) => wrong = Some(EngineError::Failed(error.to_string())),
                Err(error) => wrong = Some(EngineError::Failed(error.to_string())),
            }
        }
    }
    let status = child.wait().map_err(|e| failed("cannot wait for the engine", e))?;
    let _ = writer.join();
    match wrong {
        Some(error) => Err(error),
        None if status.success() => Ok(()),
        None => {
            Err(EngineError::Failed(format!("the engine of {} ended with {status}", user.name)))
        }
    }
}

/// One line from the engine.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Message {
    Event(Event),
    Refused(String),
    Failed(String),
}

/// Body of the hidden command: a request on stdin, messages on stdout.
pub fn main() -> i32 {
    let mut output = io::stdout().lock();
    let mut tell = move |message: &Message| -> bool {
        let line = serde_json::to_vec(message).unwrap_or_default();
        output.write_all(&line).and_then(|()| output.write_all(b"\n")).is_ok()
    };
    let request = match serde_json::from_reader(io::stdin().lock()) {
        Ok(request) => request,
        Err(error) => {
            tell(&Message::Failed(format!("the request cannot be read: {error}")));
            return 3;
        }
    };
    let carried = crate::request::carry_out(&request, &mut |event| {
        if !tell(&Message::Event(event)) {
            // Nobody listens any more: sandproof is dead. Supervisors end with this process.
            std::process::exit(3);
        }
    });
    match carried {
        Ok(()) => 0,
        Err(EngineError::Failed(why)) => i32::from(tell(&Message::Failed(why))) * 3,
        Err(other) => i32::from(tell(&Message::Refused(other.to_string()))) * 2,
    }
}

/// A folder of the account below `place`, which only it may enter.
fn own_place(place: &Path, user: &User) -> io::Result<PathBuf> {
    let made = !place.exists();
    fs::create_dir_all(place)?;
    if made {
        fs::set_permissions(place, fs::Permissions::from_mode(0o755))?;
    }
    let own = fs::canonicalize(place)?.join(user.uid.to_string());
    fs::create_dir_all(&own)?;
    chown(&own, Some(user.uid.as_raw()), Some(user.gid.as_raw()))?;
    fs::set_permissions(&own, fs::Permissions::from_mode(0o700))?;
    sweep(&own);
    Ok(own)
}

/// Removes the copies that killed runs left: those whose process is gone.
fn sweep(own: &Path) {
    for item in fs::read_dir(own).into_iter().flatten().flatten() {
        let name = item.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix("engine-")?.split('-').next());
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = fs::remove_file(item.path());
        }
    }
}

/// A copy of sandproof that the account may read, removed when dropped.
struct Executable {
    path: PathBuf,
}

impl Executable {
    fn copy(own: &Path) -> io::Result<Self> {
        let name = format!("engine-{}-{:08x}", std::process::id(), crate::rng::fresh_seed() as u32);
        let path = own.join(name);
        fs::copy(std::env::current_exe()?, &path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o555))?;
        Ok(Self { path })
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn engine_command(executable: &Path, user: &User, own: &Path) -> io::Result<Command> {
    let groups = account::groups(&user.name, user.gid)?;
    let (uid, gid) = (user.uid, user.gid);
    let mut command = Command::new(executable);
    command.arg(ARGUMENT).env_clear().current_dir("/");
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.env("HOME", own).env("USER", &user.name);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    sys::before_exec(&mut command, move || {
        account::become_user(&groups, gid, uid)?;
        sys::set_pdeathsig(Some(nix::sys::signal::Signal::SIGKILL))?;
        sys::close_on_exec_from(3);
        Ok(())
    });
    Ok(command)
}
