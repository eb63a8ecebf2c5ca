//! Golden profiles of a small Mac, each profile and each feature, and what the evaluator says
//! about them.

mod agree;
mod answers;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rstest::rstest;
use sandproof_scenarios::{Network, Profile};

use super::{Rules, text};
use crate::confine::grants::{self, Folders};
use crate::confine::surroundings::Surroundings;

/// A small Mac.
struct Mac;

impl Folders for Mac {
    fn exists(&self, path: &Path) -> bool {
        let there = [
            "/usr",
            "/bin",
            "/etc",
            "/tmp",
            "/var",
            "/System",
            "/Library",
            "/private",
            "/dev/null",
            "/dev/tty",
        ];
        there.iter().any(|known| Path::new(known) == path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.exists(path)
    }

    fn top(&self) -> Vec<String> {
        ["Users", "tmp"].map(str::to_owned).to_vec()
    }
}

/// The profile with nothing denied.
fn plain(profile: Profile) -> Rules {
    let around = Surroundings {
        workspace: "/Users/me/work".into(),
        home: "/Users/me".into(),
        grok_home: "/Users/me/.grok".into(),
        tmpdir: Some("/private/var/folders/t".into()),
        cwd: "/Users/me/work".into(),
        sandbox: None,
    };
    Rules {
        grants: grants::of(profile, &around, &Mac),
        sockets: vec!["/Users/me/work".into(), "/private/var/folders/t".into()],
        deny: Vec::new(),
        deny_globs: Vec::new(),
        glob_matches: Vec::new(),
        pin_deny: true,
        protect: Vec::new(),
        network: profile.network(),
        fold_case: false,
    }
}

/// The profile with one of everything.
fn rules(profile: Profile) -> Rules {
    Rules {
        deny: vec!["/Users/me/work/a/secret".into(), "/tmp/secret".into()],
        deny_globs: vec!["/Users/me/work/**/*.pem".into()],
        glob_matches: vec!["/Users/me/work/certs/deep/x.pem".into()],
        protect: vec!["/Users/me/.grok/hooks".into()],
        ..plain(profile)
    }
}

#[rstest]
#[case(Profile::Workspace)]
#[case(Profile::ReadOnly)]
#[case(Profile::Strict)]
#[case(Profile::Devbox)]
#[case(Profile::WorkspaceWrite)]
#[case(Profile::Off)]
fn golden_profile(#[case] profile: Profile) {
    insta::assert_snapshot!(profile.name(), text(&plain(profile)).unwrap());
}

/// What a feature adds to the profile `off`, which has nothing of its own.
#[rstest]
#[case("deny", Rules { deny: vec!["/Users/me/a/secret".into()], ..plain(Profile::Off) })]
#[case("deny-alias", Rules { deny: vec!["/tmp/secret".into()], ..plain(Profile::Off) })]
#[case("deny-unpinned", Rules {
    deny: vec!["/Users/me/a/secret".into()],
    pin_deny: false,
    ..plain(Profile::Off)
})]
#[case("deny-folded", Rules {
    deny: vec!["/Users/me/Secret-1".into()],
    fold_case: true,
    ..plain(Profile::Off)
})]
#[case("glob", Rules {
    deny_globs: vec!["/var/w/**/[!a-c]?.pem".into()],
    glob_matches: vec!["/var/w/d/xy.pem".into()],
    ..plain(Profile::Off)
})]
#[case("glob-folded", Rules {
    deny_globs: vec!["/w/**/[a-c]é*.pem".into()],
    fold_case: true,
    ..plain(Profile::Off)
})]
#[case("protect", Rules { protect: vec!["/Users/me/.grok/hooks".into()], ..plain(Profile::Off) })]
#[case("blocked", Rules { network: Network::Blocked, ..plain(Profile::Off) })]
fn golden_feature(#[case] name: &str, #[case] rules: Rules) {
    insta::assert_snapshot!(name, text(&rules).unwrap());
}

#[test]
fn grok_5_6_paths_are_quoted_or_refused() {
    let with = |path: &str| Rules { deny: vec![path.into()], ..rules(Profile::Workspace) };
    let quoted = text(&with("/a \"b\" \\c (d)")).unwrap();
    assert!(quoted.contains(r#"(subpath "/a \"b\" \\c (d)")"#), "{quoted}");
    for odd in ["/a\nb", "/a\u{1b}", "/a\u{7f}"] {
        assert!(text(&with(odd)).unwrap_err().to_string().contains("a control character"));
    }
    let bytes = PathBuf::from(OsString::from_vec(vec![b'/', 0xff]));
    let odd = Rules { deny: vec![bytes.clone()], ..with("/a") };
    assert!(text(&odd).unwrap_err().to_string().contains("not UTF-8"));
    let odd = Rules { protect: vec![bytes], ..with("/a") };
    assert!(text(&odd).unwrap_err().to_string().contains("not UTF-8"));
}

#[rstest]
#[case("/a/{b,c}")]
#[case("/a/b\\*")]
#[case("/a//*")]
#[case("/a/*/")]
#[case("/a/../*")]
#[case("/a/b**")]
#[case("/a/[]b]")]
#[case("/a/[[:alpha:]]")]
#[case("/a/[b-a]")]
#[case("/a/[b")]
#[case("/a\n/*")]
fn grok_5_7_what_the_grammar_refuses_stands_in_no_profile(#[case] glob: &str) {
    let rules = Rules { deny_globs: vec![glob.into()], ..plain(Profile::Off) };
    assert!(text(&rules).is_err());
}

#[test]
fn grok_5_7_a_glob_below_an_aliased_folder_has_two_expressions() {
    let rules = Rules { deny_globs: vec!["/tmp/p/**/.env".into()], ..plain(Profile::Off) };
    let text = text(&rules).unwrap();
    for body in [r"^/tmp/p/(.*/)?\.env(/.*)?$", r"^/private/tmp/p/(.*/)?\.env(/.*)?$"] {
        assert!(text.contains(&format!("(regex #\"{body}\")")), "{text}");
    }
}

#[test]
fn a_profile_that_fits_no_command_line_is_refused() {
    let deny = (0..3000).map(|n| format!("/Users/me/{n:0100}").into()).collect();
    let error = text(&Rules { deny, ..plain(Profile::Off) }).unwrap_err().to_string();
    assert!(error.contains("too long for a command line"), "{error}");
}
