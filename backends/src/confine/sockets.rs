//! Sockets of daemons that act for whoever may speak to them: a container daemon runs any command
//! outside, a service manager as well. No network filter sees them, since they are unix sockets.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use sandproof_scenarios::{Network, Profile};

use super::refusal::Refusal;
use super::resolve;

/// Container daemons, closed when the network is.
const CONTAINERS: [&str; 3] =
    ["/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock"];

/// The same, below the folder of the user's session.
const CONTAINERS_OF_SESSION: [&str; 2] = ["docker.sock", "podman/podman.sock"];

/// The same, below HOME.
const CONTAINERS_OF_HOME: [&str; 2] = [".docker/run/docker.sock", ".docker/desktop/docker.sock"];

/// Service managers and message buses, closed in every profile but `devbox` and `off`.
const MANAGERS: [&str; 2] = ["/run/systemd/private", "/run/dbus/system_bus_socket"];

/// The same, below the folder of the user's session.
const MANAGERS_OF_SESSION: [&str; 2] = ["systemd/private", "bus"];

/// Those that are to be masked and exist now.
///
/// # Errors
/// One exists and cannot be resolved.
pub fn of(profile: Profile, network: Network, home: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let session = format!("/run/user/{}", rustix::process::geteuid().as_raw());
    let mut paths = Vec::new();
    for path in candidates(profile, network, home, Path::new(&session)) {
        if fs::metadata(&path).is_ok_and(|meta| meta.file_type().is_socket()) {
            paths.extend(resolve::entry(&path)?.all());
        }
    }
    Ok(paths)
}

fn candidates(profile: Profile, network: Network, home: &Path, session: &Path) -> Vec<PathBuf> {
    let (containers, managers) = match profile {
        Profile::Off => (false, false),
        Profile::Devbox => (network == Network::Blocked, false),
        Profile::Workspace | Profile::ReadOnly | Profile::Strict | Profile::WorkspaceWrite => {
            (network == Network::Blocked, true)
        }
    };
    let mut paths = Vec::new();
    if containers {
        paths.extend(CONTAINERS.map(PathBuf::from));
        paths.extend(CONTAINERS_OF_SESSION.map(|name| session.join(name)));
        paths.extend(CONTAINERS_OF_HOME.map(|name| home.join(name)));
    }
    if managers {
        paths.extend(MANAGERS.map(PathBuf::from));
        paths.extend(MANAGERS_OF_SESSION.map(|name| session.join(name)));
    }
    paths
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Profile::Off, Network::Blocked, 0)]
    #[case(Profile::Devbox, Network::Open, 0)]
    #[case(Profile::Devbox, Network::Blocked, 7)]
    #[case(Profile::Workspace, Network::Open, 4)]
    #[case(Profile::Strict, Network::Blocked, 11)]
    fn profiles(#[case] profile: Profile, #[case] network: Network, #[case] wanted: usize) {
        let paths = candidates(profile, network, Path::new("/h"), Path::new("/s"));
        assert_eq!(paths.len(), wanted, "{paths:?}");
    }

    #[test]
    fn only_sockets_that_exist_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let socket = home.join(".docker/run/docker.sock");
        fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let found = || {
            let paths = of(Profile::Strict, Network::Blocked, &home).unwrap();
            paths.into_iter().filter(|path| path.starts_with(&home)).collect::<Vec<_>>()
        };
        fs::write(&socket, "").unwrap();
        assert_eq!(found(), Vec::<PathBuf>::new());
        fs::remove_file(&socket).unwrap();
        let _listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(found(), [socket]);
    }
}
