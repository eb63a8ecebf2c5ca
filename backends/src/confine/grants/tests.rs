//! Grants of each profile, over a file system that is made up.

use std::path::{Path, PathBuf};

use rstest::rstest;
use sandproof_scenarios::Profile;

use super::{Folders, Grants, of};
use crate::confine::surroundings::Surroundings;

/// A small host.
struct Made;

impl Folders for Made {
    fn exists(&self, path: &Path) -> bool {
        let there = [
            "/usr",
            "/lib",
            "/etc",
            "/dev",
            "/proc",
            "/tmp",
            "/var/tmp",
            "/dev/null",
            "/dev/tty",
            "/dev/pts",
            "/dev/fd",
        ];
        there.iter().any(|known| Path::new(known) == path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.exists(path)
    }

    fn top(&self) -> Vec<String> {
        ["usr", "data", "proc", "sys", "dev", "home"].map(str::to_owned).to_vec()
    }
}

fn granted(profile: Profile) -> Grants {
    let around = Surroundings {
        workspace: "/w".into(),
        home: "/h".into(),
        grok_home: "/h/.grok".into(),
        tmpdir: Some("/t".into()),
        cwd: "/w".into(),
        sandbox: None,
    };
    of(profile, &around, &Made)
}

fn paths(list: &[&str]) -> Vec<PathBuf> {
    list.iter().map(PathBuf::from).collect()
}

#[rstest]
#[case(Profile::Workspace, &["/"], &["/w", "/h/.grok", "/tmp", "/var/tmp", "/t"])]
#[case(Profile::ReadOnly, &["/"], &["/h/.grok", "/tmp", "/var/tmp", "/t"])]
#[case(
    Profile::Strict,
    &["/usr", "/lib", "/etc", "/dev", "/proc", "/tmp", "/w", "/h/.grok"],
    &["/w", "/h/.grok", "/tmp", "/var/tmp", "/t"]
)]
#[case(Profile::Devbox, &["/"], &["/usr", "/home", "/w"])]
#[case(Profile::WorkspaceWrite, &["/"], &["/w", "/tmp", "/t"])]
fn grok_1_3_roots_of_each_profile(
    #[case] profile: Profile,
    #[case] read: &[&str],
    #[case] write: &[&str],
) {
    let grants = granted(profile);
    assert!(grants.limited);
    assert_eq!(grants.read, paths(read));
    assert_eq!(grants.write, paths(write));
    let fd: &[&str] = if cfg!(target_os = "macos") { &["/dev/fd"] } else { &[] };
    assert_eq!(grants.devices, paths(&[&["/dev/null", "/dev/tty", "/dev/pts"], fd].concat()));
}

#[test]
fn off_limits_nothing() {
    assert_eq!(granted(Profile::Off), Grants::default());
}
