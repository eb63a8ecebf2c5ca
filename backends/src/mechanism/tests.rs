//! The command lines, and that `confine` reads them as they are meant.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser;
use rstest::rstest;
use sandproof_scenarios::policy::{EnvPolicy, PolicySpec};
use sandproof_scenarios::{Policy, Profile, Rooms};

use super::{Alone, Confine, Mechanism, all, by_name, name};
use crate::confine::args::Args;
use crate::{Backend, Express, Launch};

fn rooms() -> Rooms {
    Rooms::below(Path::new("/arena"))
}

fn policy(profile: Profile) -> Policy {
    let spec = PolicySpec {
        profiles: vec![profile],
        deny: vec!["work/secret".into(), "work/**/*.pem".into()],
        protect: vec!["work/conf".parse().unwrap()],
        read_only: vec!["outside/r".parse().unwrap()],
        read_write: vec!["outside/w".parse().unwrap()],
        network: None,
        env: Some(EnvPolicy::default()),
        named: true,
        session: None,
    };
    spec.resolve(profile, &rooms(), Path::new("/probe"))
}

fn bare_policy(profile: Profile) -> Policy {
    let spec = PolicySpec {
        profiles: vec![profile],
        deny: vec![],
        protect: vec![],
        read_only: vec![],
        read_write: vec![],
        network: None,
        env: None,
        named: true,
        session: None,
    };
    spec.resolve(profile, &rooms(), Path::new("/probe"))
}

fn launch(backend: &dyn Backend, policy: &Policy) -> Launch {
    backend.launch(policy, &rooms(), &["sh".into(), "-c".into(), "--deny".into()]).unwrap()
}

/// The arguments as `confine` reads them.
fn read(launch: &Launch) -> Args {
    assert_eq!(launch.argv[..2], ["/exe", "confine"].map(OsString::from));
    let args = Args::try_parse_from(&launch.argv[1..]).unwrap();
    assert_eq!(args.command, ["sh", "-c", "--deny"]);
    args
}

#[test]
fn confine_puts_every_item() {
    let confine = Confine::new("/exe".into(), vec![Mechanism::Seccomp]);
    let launch = launch(&confine, &policy(Profile::Strict));
    let args = read(&launch);
    assert_eq!(args.without, [Mechanism::Seccomp]);
    assert_eq!(args.workspace, Some(PathBuf::from("/arena/work")));
    assert_eq!(args.deny, ["/arena/work/secret", "/arena/work/**/*.pem"]);
    assert_eq!(args.protect, [PathBuf::from("/arena/work/conf")]);
    assert_eq!(args.read_only, ["/arena/outside/r", "/probe"].map(PathBuf::from));
    assert_eq!(args.read_write, [PathBuf::from("/arena/outside/w")]);
    assert_eq!(args.env_policy, Some(launch.files[0].0.clone()));
    assert!(launch.receipt.iter().all(|item| item.express == Express::Expressed));
    assert_eq!(launch.receipt.len(), 6);
}

#[rstest]
#[case(Mechanism::Landlock, 1)]
#[case(Mechanism::Seccomp, 1)]
#[case(Mechanism::Mounts, 2)]
fn alone_says_what_it_leaves_out(#[case] mechanism: Mechanism, #[case] approximated: usize) {
    let alone = Alone::new("/exe".into(), mechanism).unwrap();
    let launch = launch(&alone, &bare_policy(Profile::Strict));
    assert_eq!(read(&launch).only, Some(mechanism));
    let left_out = launch.receipt.iter().filter(|item| item.express != Express::Expressed);
    assert_eq!(left_out.count(), approximated);
}

#[rstest]
#[case(Mechanism::Landlock)]
#[case(Mechanism::Seccomp)]
#[case(Mechanism::Mounts)]
fn alone_refuses_what_it_has_no_means_for(#[case] mechanism: Mechanism) {
    let alone = Alone::new("/exe".into(), mechanism).unwrap();
    let answer = alone.launch(&policy(Profile::Workspace), &rooms(), &[]);
    assert!(answer.unwrap_err().why.contains(alone.name()));
}

#[test]
fn names_go_both_ways() {
    for mechanism in [Mechanism::Landlock, Mechanism::Mounts, Mechanism::NetworkNamespace] {
        assert_eq!(by_name(&name(mechanism)).unwrap(), mechanism);
    }
    assert!(by_name("selinux").unwrap_err().contains("landlock seccomp mounts"));
    let names: Vec<String> =
        all(Path::new("/exe")).iter().map(|backend| backend.name().to_owned()).collect();
    assert_eq!(names[..4], ["confine", "landlock", "seccomp", "mounts"]);
    assert_eq!(names.contains(&"seatbelt".to_owned()), cfg!(target_os = "macos"));
}
