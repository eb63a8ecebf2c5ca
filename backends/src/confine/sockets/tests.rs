//! Which sockets are closed, and that those of this host are found.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use rstest::rstest;

use super::*;

fn none(_: &str) -> Option<OsString> {
    None
}

#[rstest]
#[case(Profile::Off, Network::Blocked, 0)]
#[case(Profile::Devbox, Network::Open, 0)]
#[case(Profile::Devbox, Network::Blocked, 14)]
#[case(Profile::Workspace, Network::Open, 4)]
#[case(Profile::Strict, Network::Blocked, 18)]
fn profiles(#[case] profile: Profile, #[case] network: Network, #[case] wanted: usize) {
    let places =
        Places { home: Path::new("/h"), session: Path::new("/s"), variable: &none, terminals: &[] };
    let paths = candidates(profile, network, places);
    assert_eq!(paths.len(), wanted, "{paths:?}");
}

#[rstest]
#[case("/run/agent", &["/run/agent"])]
#[case("unix:///run/docker.sock", &["/run/docker.sock"])]
#[case("unix:path=/run/bus,guid=1", &["/run/bus"])]
#[case("unix:guid=1,path=/a;unix:path=/b", &["/a", "/b"])]
#[case("unix:abstract=/tmp/dbus-x", &[])]
#[case("tcp://127.0.0.1:2375", &[])]
#[case("ssh://host", &[])]
#[case("relative", &[])]
#[case("", &[])]
fn variables_name_paths(#[case] value: &str, #[case] wanted: &[&str]) {
    let paths = named_in(&OsString::from(value));
    assert_eq!(paths, wanted.iter().map(PathBuf::from).collect::<Vec<_>>());
}

#[test]
fn variables_are_looked_at() {
    let variable = |name: &str| match name {
        "SSH_AUTH_SOCK" => Some(OsString::from("/agent")),
        "DBUS_SESSION_BUS_ADDRESS" => Some(OsString::from("unix:path=/bus")),
        _ => None,
    };
    let places = Places {
        home: Path::new("/h"),
        session: Path::new("/s"),
        variable: &variable,
        terminals: &[],
    };
    let closed = |network| candidates(Profile::Workspace, network, places);
    assert!(closed(Network::Blocked).contains(&PathBuf::from("/agent")));
    assert!(!closed(Network::Open).contains(&PathBuf::from("/agent")), "git needs its keys");
    assert!(closed(Network::Open).contains(&PathBuf::from("/bus")));
}

#[test]
fn terminal_servers_are_closed_but_new_ones_can_be_made() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().canonicalize().unwrap();
    let socket = folder.join("default");
    let _listener = UnixListener::bind(&socket).unwrap();
    let variable = |name: &str| (name == "TMUX").then(|| OsString::from("/t/own,12,0"));
    let terminals = [folder.clone()];
    let session = Path::new("/s");
    let places =
        Places { home: Path::new("/h"), session, variable: &variable, terminals: &terminals };
    let closed = candidates(Profile::Workspace, Network::Open, places);
    assert!(closed.contains(&socket), "{closed:?}");
    assert!(closed.contains(&PathBuf::from("/t/own")), "{closed:?}");
    assert!(!closed.contains(&folder), "a server of the command's own needs the folder");
    let devbox = candidates(Profile::Devbox, Network::Open, places);
    assert_eq!(devbox, Vec::<PathBuf>::new());
}

/// Closed sockets below HOME.
fn found(home: &Path) -> Vec<PathBuf> {
    let paths = of(Profile::Strict, Network::Blocked, home).unwrap();
    paths.into_iter().filter(|path| path.starts_with(home)).collect()
}

#[test]
fn only_sockets_that_exist_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    let socket = home.join(".docker/run/docker.sock");
    fs::create_dir_all(socket.parent().unwrap()).unwrap();
    fs::write(&socket, "").unwrap();
    assert_eq!(found(&home), Vec::<PathBuf>::new());
    fs::remove_file(&socket).unwrap();
    let _listener = UnixListener::bind(&socket).unwrap();
    assert_eq!(found(&home), [socket]);
}

#[test]
fn a_symlink_is_followed_and_a_loop_stops_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    let (link, real) = (home.join(".docker/run/docker.sock"), home.join("real.sock"));
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    let _listener = UnixListener::bind(&real).unwrap();
    symlink(&real, &link).unwrap();
    assert_eq!(found(&home), [link, real]);
    fs::create_dir_all(home.join(".gnupg")).unwrap();
    symlink("S.gpg-agent", home.join(".gnupg/S.gpg-agent")).unwrap();
    assert_eq!(found(&home).len(), 2);
}
