//! What the profiles allow and deny, asked of the evaluator.

use std::path::Path;

use rstest::rstest;
use sandproof_scenarios::{Network, Profile};

use super::{plain, rules};
use crate::seatbelt::simulate::operation::Operation;
use crate::seatbelt::simulate::{self, About, Answer, Relation};
use crate::seatbelt::{Rules, text};

/// The answer of the profile for these rules.
fn ask(rules: &Rules, operation: &str, about: About<'_>) -> Answer {
    let profile = simulate::Profile::read(&text(rules).unwrap()).unwrap();
    profile.ask(Operation::named(operation).unwrap(), about)
}

fn allowed(rules: &Rules, operation: &str, path: &str) -> bool {
    match ask(rules, operation, About::Path(Path::new(path))) {
        Answer::Allowed(_) => true,
        Answer::Denied(_) => false,
        Answer::Disputed(one, other) => panic!("{operation} {path}: {one} or {other}"),
    }
}

/// Every single operation on files.
fn on_files() -> Vec<&'static str> {
    let families = ["file-read*", "file-write*"].map(Operation::of_family);
    let single = ["file-clone", "file-ioctl", "file-link", "file-map-executable", "process-exec"];
    families.iter().flatten().map(|one| one.name()).chain(single).collect()
}

#[rstest]
#[case(Profile::Workspace, "/Users/me/work/x", true, true)]
#[case(Profile::Workspace, "/Users/me/x", true, false)]
#[case(Profile::Workspace, "/private/tmp/x", true, true)]
#[case(Profile::ReadOnly, "/Users/me/work/x", true, false)]
#[case(Profile::ReadOnly, "/Users/me/.grok/x", true, true)]
#[case(Profile::Strict, "/Users/me/work/x", true, true)]
#[case(Profile::Strict, "/Users/me/x", false, false)]
#[case(Profile::Strict, "/private/etc/hosts", true, false)]
#[case(Profile::Devbox, "/Users/me/x", true, true)]
#[case(Profile::Devbox, "/data/x", true, false)]
#[case(Profile::WorkspaceWrite, "/Users/me/.grok/x", true, false)]
#[case(Profile::Off, "/data/x", true, true)]
fn grok_5_1_profiles_grant(
    #[case] profile: Profile,
    #[case] path: &str,
    #[case] read: bool,
    #[case] write: bool,
) {
    let rules = plain(profile);
    assert_eq!(allowed(&rules, "file-read-data", path), read);
    assert_eq!(allowed(&rules, "file-map-executable", path), read);
    for one in Operation::of_family("file-write*") {
        assert_eq!(allowed(&rules, one.name(), path), write, "{one}");
    }
    assert_eq!(allowed(&rules, "file-link", path), write);
}

#[test]
fn grok_5_1_processes_and_services() {
    let rules = plain(Profile::Workspace);
    let is = |operation: &str, about: About<'_>, wanted: bool| {
        let answer = ask(&rules, operation, about);
        assert_eq!(matches!(answer, Answer::Allowed(_)), wanted, "{operation}: {answer}");
        assert!(!matches!(answer, Answer::Disputed(..)));
    };
    for operation in ["process-exec", "process-fork", "sysctl-read", "pseudo-tty"] {
        is(operation, About::Nothing, true);
    }
    for operation in ["ipc-posix-shm*", "ipc-posix-sem*"] {
        is(operation, About::Nothing, true);
    }
    for operation in ["signal", "process-info*"] {
        is(operation, About::Process(Relation::Itself), true);
        is(operation, About::Process(Relation::Fellow), true);
        is(operation, About::Process(Relation::Stranger), false);
    }
    is("mach-lookup", About::Service("com.apple.system.logger"), true);
    for closed in ["SecurityServer", "securityd", "security.keychaind", "secd", "security.agent"] {
        let name = format!("com.apple.{closed}");
        is("mach-lookup", About::Service(&name), false);
    }
}

#[test]
fn grok_5_1_devices_and_terminals() {
    let rules = plain(Profile::Strict);
    for device in ["/dev/null", "/dev/tty", "/dev/ptmx", "/dev/fd/1"] {
        for operation in ["file-read-data", "file-write-data", "file-ioctl"] {
            assert!(allowed(&rules, operation, device), "{operation} {device}");
        }
    }
    // The terminal of somebody else: the extension that marks one's own is never held here.
    assert!(!allowed(&rules, "file-read-data", "/dev/ttys003"));
    assert!(!allowed(&rules, "file-write-data", "/dev/ttys003"));
    assert!(allowed(&rules, "file-ioctl", "/dev/ttys003"));
    assert!(!allowed(&rules, "file-write-data", "/dev/disk0"));
}

#[test]
fn grok_5_1_the_way_to_a_grant_can_be_seen_and_no_more() {
    let rules = plain(Profile::Strict);
    for folder in ["/Users", "/Users/me"] {
        assert!(allowed(&rules, "file-read-metadata", folder));
        assert!(!allowed(&rules, "file-read-data", folder));
    }
    assert!(!allowed(&rules, "file-read-metadata", "/Users/me/.ssh"));
    assert!(allowed(&rules, "file-read-data", "/"));
}

#[rstest]
#[case(Profile::Strict)]
#[case(Profile::Off)]
fn grok_5_2_a_blocked_network_is_blocked(#[case] profile: Profile) {
    let rules = Rules { network: Network::Blocked, ..plain(profile) };
    let open = Rules { network: Network::Open, ..plain(profile) };
    let yes = |rules: &Rules, operation: &str, about: About<'_>| match ask(rules, operation, about)
    {
        Answer::Allowed(_) => true,
        Answer::Denied(_) => false,
        Answer::Disputed(one, other) => panic!("{operation}: {one} or {other}"),
    };
    for operation in ["network-outbound", "network-inbound", "network-bind"] {
        assert!(!yes(&rules, operation, About::Internet), "{operation}");
        assert!(yes(&open, operation, About::Internet), "{operation}");
    }
    let work = About::Socket(Path::new("/Users/me/work/s.sock"));
    let temp = About::Socket(Path::new("/private/var/folders/t/s.sock"));
    let docker = About::Socket(Path::new("/private/var/run/docker.sock"));
    let names = About::Socket(Path::new("/private/var/run/mDNSResponder"));
    for operation in ["network-outbound", "network-bind"] {
        assert!(yes(&rules, operation, work) && yes(&rules, operation, temp), "{operation}");
        assert!(!yes(&rules, operation, docker), "{operation}");
    }
    assert!(!yes(&rules, "network-outbound", names));
    // Where nothing may be written no socket is made, however open the network.
    let home = About::Socket(Path::new("/Users/me/s.sock"));
    assert_eq!(yes(&open, "network-bind", home), profile == Profile::Off);
    assert!(yes(&open, "network-bind", work));
    assert!(yes(&open, "network-outbound", names) && yes(&open, "network-outbound", docker));
    assert!(yes(&rules, "system-socket", About::Domain("AF_UNIX")));
    let service = |rules, name| yes(rules, "mach-lookup", About::Service(name));
    for name in ["com.apple.mDNSResponder", "com.apple.nsurlsessiond", "com.example.unheard-of"] {
        assert!(!service(&rules, name) && service(&open, name), "{name}");
    }
    assert!(service(&rules, "com.apple.system.opendirectoryd.libinfo"));
    assert!(!service(&rules, "com.apple.SecurityServer"));
}

#[rstest]
#[case(Profile::Workspace)]
#[case(Profile::Strict)]
#[case(Profile::Devbox)]
#[case(Profile::Off)]
fn grok_5_3_nothing_can_be_done_to_what_is_denied(#[case] profile: Profile) {
    let rules = rules(profile);
    let control = plain(profile);
    for path in ["/Users/me/work/a/secret", "/Users/me/work/a/secret/below", "/Users/me/work/x.pem"]
    {
        for operation in on_files() {
            assert!(!allowed(&rules, operation, path), "{operation} {path}");
        }
        assert!(allowed(&control, "file-read-data", path));
        assert!(allowed(&control, "file-write-xattr", path));
        let socket = About::Socket(Path::new(path));
        for operation in ["network-outbound", "network-bind"] {
            assert!(matches!(ask(&rules, operation, socket), Answer::Denied(_)), "{operation}");
        }
    }
    for path in ["/Users/me/work/a/secret2", "/Users/me/work/a", "/Users/me/work/x.pem2"] {
        assert!(allowed(&rules, "file-read-data", path), "{path}");
    }
}

#[test]
fn grok_5_4_every_spelling_is_denied() {
    for (given, path) in [
        ("/tmp/s", "/private/tmp/s"),
        ("/private/tmp/s", "/tmp/s"),
        ("/var/s", "/private/var/s"),
        ("/etc/s", "/private/etc/s"),
        ("/private/etc/s", "/etc/s"),
    ] {
        let rules = Rules { deny: vec![given.into()], ..plain(Profile::Off) };
        for name in [given, path] {
            assert!(!allowed(&rules, "file-read-data", name), "{given}: {name}");
            assert!(!allowed(&rules, "file-read-data", &format!("{name}/below")));
        }
        assert!(allowed(&plain(Profile::Off), "file-read-data", path));
    }
    // A file, a folder, or nothing yet: both filters stand there, whatever it is now.
    let text = text(&rules(Profile::Off)).unwrap();
    assert!(text.contains(r#"(literal "/tmp/secret") (subpath "/tmp/secret")"#), "{text}");
}

#[test]
fn grok_5_5_a_denied_device_is_no_device() {
    let rules = Rules { deny: vec!["/dev/null".into()], ..plain(Profile::Workspace) };
    for operation in ["file-read-data", "file-write-data", "file-ioctl"] {
        assert!(!allowed(&rules, operation, "/dev/null"), "{operation}");
        assert!(allowed(&rules, operation, "/dev/tty"), "{operation}");
    }
}

#[test]
fn grok_5_6_odd_names_are_denied_and_nothing_else() {
    for odd in [r#"/w/a "b" \c"#, "/w/(x))", "/w/$^.*", "/w/;", "/w/é"] {
        for fold_case in [false, true] {
            let rules = Rules { deny: vec![odd.into()], fold_case, ..plain(Profile::Off) };
            assert!(!allowed(&rules, "file-read-data", odd), "{odd}");
            assert!(!allowed(&rules, "file-read-data", &format!("{odd}/x")), "{odd}");
            assert!(allowed(&rules, "file-read-data", "/w/other"), "{odd}");
        }
    }
}

#[test]
fn grok_5_7_globs_hold_for_what_comes_later() {
    let rules = rules(Profile::Workspace);
    for path in ["/Users/me/work/x.pem", "/Users/me/work/a/b/c.pem", "/Users/me/work/.pem"] {
        assert!(!allowed(&rules, "file-read-data", path), "{path}");
        assert!(!allowed(&rules, "file-write-create", path), "{path}");
    }
    assert!(allowed(&rules, "file-read-data", "/Users/me/x.pem"));
}

#[test]
fn grok_5_8_what_is_protected_is_read_and_never_written() {
    let rules = rules(Profile::Workspace);
    for path in ["/Users/me/.grok/hooks", "/Users/me/.grok/hooks/pre.json"] {
        for operation in Operation::of_family("file-read*") {
            assert!(allowed(&rules, operation.name(), path), "{operation}");
        }
        for operation in Operation::of_family("file-write*") {
            assert!(!allowed(&rules, operation.name(), path), "{operation}");
        }
        assert!(!allowed(&rules, "file-link", path));
    }
    // The folder above stays, what lies beside is free.
    assert!(!allowed(&rules, "file-write-unlink", "/Users/me/.grok"));
    assert!(!allowed(&rules, "file-write-create", "/Users/me/.grok"));
    assert!(allowed(&rules, "file-write-create", "/Users/me/.grok/session.txt"));
    assert!(allowed(&rules, "file-write-mode", "/Users/me/.grok"));
}

#[test]
fn grok_5_9_the_folders_above_what_is_denied_are_pinned() {
    let pinned = rules(Profile::Workspace);
    let loose = Rules { pin_deny: false, ..rules(Profile::Workspace) };
    let folders = ["/Users/me/work/a", "/Users/me/work", "/Users/me/work/certs/deep"];
    for folder in folders {
        for operation in ["file-write-unlink", "file-write-create"] {
            assert!(!allowed(&pinned, operation, folder), "{operation} {folder}");
            assert!(allowed(&loose, operation, folder), "{operation} {folder}");
        }
        assert!(allowed(&pinned, "file-write-create", &format!("{folder}/new")));
    }
    // Protected folders stay pinned.
    assert!(!allowed(&loose, "file-write-unlink", "/Users/me/.grok"));
    assert!(allowed(&pinned, "file-write-unlink", "/Users/me/work/other"));
}

#[test]
fn grok_5_10_where_case_does_not_matter_it_does_not_matter_to_the_rules() {
    let folded = Rules { fold_case: true, ..rules(Profile::Workspace) };
    let exact = rules(Profile::Workspace);
    for path in ["/Users/me/work/A/SECRET", "/users/ME/work/a/Secret/x", "/Users/me/work/X.PEM"] {
        assert!(!allowed(&folded, "file-read-data", path), "{path}");
        assert!(allowed(&exact, "file-read-data", path), "{path}");
    }
    assert!(!allowed(&folded, "file-write-data", "/Users/me/.Grok/Hooks/pre.json"));
    assert!(!allowed(&folded, "file-write-unlink", "/Users/me/WORK/A"));
    assert!(allowed(&folded, "file-read-data", "/Users/me/work/a/secret2"));
    assert!(allowed(&folded, "file-write-unlink", "/Users/me/work/ab"));
}
