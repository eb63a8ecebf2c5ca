//! Sockets of daemons that act for whoever may speak to them: a container daemon runs any command
//! outside, a service manager as well, an agent signs with the user's keys. No network filter sees
//! them, since they are unix sockets.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use sandproof_scenarios::{Network, Profile};

use super::mutant::{self, Mutant};
use super::refusal::Refusal;
use super::{resolve, say};

/// Container daemons, closed when the network is.
const CONTAINERS: [&str; 3] =
    ["/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock"];

/// The same and agents that hold keys, below the folder of the user's session.
const CONTAINERS_OF_SESSION: [&str; 7] = [
    "docker.sock",
    "podman/podman.sock",
    "gnupg/S.gpg-agent",
    "gnupg/S.gpg-agent.ssh",
    "gnupg/S.gpg-agent.extra",
    "keyring/ssh",
    "keyring/control",
];

/// The same, below HOME.
const CONTAINERS_OF_HOME: [&str; 4] = [
    ".docker/run/docker.sock",
    ".docker/desktop/docker.sock",
    ".gnupg/S.gpg-agent",
    ".gnupg/S.gpg-agent.ssh",
];

/// The same, named by variables: as a path, or behind `unix://`.
const CONTAINERS_OF_VARIABLES: [&str; 3] = ["DOCKER_HOST", "CONTAINER_HOST", "SSH_AUTH_SOCK"];

/// Service managers and message buses, closed in every profile but `devbox` and `off`.
const MANAGERS: [&str; 2] = ["/run/systemd/private", "/run/dbus/system_bus_socket"];

/// The same, below the folder of the user's session.
const MANAGERS_OF_SESSION: [&str; 2] = ["systemd/private", "bus"];

/// The same, named by variables: `unix:path=...`.
const MANAGERS_OF_VARIABLES: [&str; 2] = ["DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS"];

/// Folders of servers that run commands in terminals outside, one socket for each server; those
/// that are there are closed like managers. The uid follows.
const TERMINALS: [&str; 2] = ["/tmp/tmux-", "/run/tmux/"];

/// The same, named by variables: the path of the socket comes first, behind it `,` and numbers.
const TERMINALS_OF_VARIABLES: [&str; 1] = ["TMUX"];

/// Those that are to be masked and exist now; one that is a symlink with what it leads to.
///
/// # Errors
/// One exists and cannot be resolved.
pub fn of(profile: Profile, network: Network, home: &Path) -> Result<Vec<PathBuf>, Refusal> {
    if mutant::on(Mutant::DaemonSocketsOpen) {
        return Ok(Vec::new());
    }
    let uid = rustix::process::geteuid().as_raw();
    let session = PathBuf::from(format!("/run/user/{uid}"));
    let terminals = TERMINALS.map(|begin| PathBuf::from(format!("{begin}{uid}")));
    let variable = |name: &str| env::var_os(name);
    let places = Places { home, session: &session, variable: &variable, terminals: &terminals };
    let mut paths = Vec::new();
    for path in candidates(profile, network, places) {
        match fs::metadata(&path) {
            Ok(meta) if meta.file_type().is_socket() => paths.extend(resolve::entry(&path)?.all()),
            Ok(_) => {}
            Err(error) if unreachable(&error) => {}
            // It may be there. That alone stops nobody's work.
            Err(error) => say(&format!(
                "a socket cannot be looked at and stays open: {} ({error})",
                path.display()
            )),
        }
    }
    Ok(paths)
}

/// It is not there, or as closed to the command, which has the same user and no privilege.
fn unreachable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied
    )
}

/// Where sockets are looked for.
#[derive(Clone, Copy)]
struct Places<'a> {
    home: &'a Path,
    session: &'a Path,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// Folders of terminal servers.
    terminals: &'a [PathBuf],
}

/// What lies in a folder that can be read.
fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn candidates(profile: Profile, network: Network, places: Places<'_>) -> Vec<PathBuf> {
    let blocked = network == Network::Blocked;
    let (containers, managers) = match profile {
        Profile::Off => (false, false),
        Profile::Devbox => (blocked, false),
        Profile::Workspace | Profile::ReadOnly | Profile::Strict | Profile::WorkspaceWrite => {
            (blocked, true)
        }
    };
    let named = |names: &[&str]| -> Vec<PathBuf> {
        names.iter().filter_map(|name| (places.variable)(name)).flat_map(|v| named_in(&v)).collect()
    };
    let mut paths = Vec::new();
    if containers {
        paths.extend(CONTAINERS.map(PathBuf::from));
        paths.extend(CONTAINERS_OF_SESSION.map(|name| places.session.join(name)));
        paths.extend(CONTAINERS_OF_HOME.map(|name| places.home.join(name)));
        paths.extend(named(&CONTAINERS_OF_VARIABLES));
    }
    if managers {
        paths.extend(MANAGERS.map(PathBuf::from));
        paths.extend(MANAGERS_OF_SESSION.map(|name| places.session.join(name)));
        paths.extend(named(&MANAGERS_OF_VARIABLES));
        paths.extend(TERMINALS_OF_VARIABLES.iter().filter_map(|name| {
            let value = (places.variable)(name)?;
            let socket = value.as_bytes().split(|byte| *byte == b',').next()?.to_vec();
            Some(PathBuf::from(OsString::from_vec(socket)))
        }));
        paths.extend(places.terminals.iter().flat_map(|folder| in_folder(folder)));
    }
    paths
}

/// The paths in a variable: a path alone, `unix:///path`, or a list of `unix:path=/path,key=value`
/// divided by `;`. Addresses of another kind name none.
fn named_in(value: &OsString) -> Vec<PathBuf> {
    let path = |bytes: &[u8]| {
        bytes.starts_with(b"/").then(|| PathBuf::from(OsString::from_vec(bytes.to_vec())))
    };
    let addresses = value.as_bytes().split(|byte| *byte == b';');
    let named = addresses.filter_map(|address| match address.strip_prefix(b"unix:") {
        None => path(address),
        Some(rest) => match rest.strip_prefix(b"//") {
            Some(rest) => path(rest),
            None => rest
                .split(|byte| *byte == b',')
                .find_map(|part| part.strip_prefix(b"path="))
                .and_then(path),
        },
    });
    named.collect()
}

#[cfg(test)]
mod tests;
