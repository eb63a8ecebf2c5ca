//! Golden profiles, escaping, and that the expressions match what the globs match.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rstest::rstest;
use sandproof_scenarios::{Network, Profile};

use super::regex::regexes;
use super::{Rules, text};
use crate::confine::grants::{self, Folders};
use crate::confine::surroundings::Surroundings;
use crate::glob::GlobSet;

/// A small Mac.
struct Mac;

impl Folders for Mac {
    fn exists(&self, path: &Path) -> bool {
        let there =
            ["/usr", "/bin", "/etc", "/tmp", "/System", "/Library", "/private", "/dev/null"];
        there.iter().any(|known| Path::new(known) == path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.exists(path)
    }

    fn top(&self) -> Vec<String> {
        ["Users", "tmp"].map(str::to_owned).to_vec()
    }
}

fn rules(profile: Profile) -> Rules {
    let around = Surroundings {
        workspace: "/Users/me/work".into(),
        home: "/Users/me".into(),
        grok_home: "/Users/me/.grok".into(),
        tmpdir: Some("/private/var/folders/t".into()),
        cwd: "/Users/me/work".into(),
    };
    Rules {
        grants: grants::of(profile, &around, &Mac),
        deny: vec!["/Users/me/work/a/secret".into(), "/tmp/secret".into()],
        deny_globs: vec!["/Users/me/work/**/*.pem".into()],
        protect: vec!["/Users/me/.grok/hooks".into()],
        network: profile.network(),
    }
}

#[rstest]
#[case(Profile::Workspace)]
#[case(Profile::ReadOnly)]
#[case(Profile::Strict)]
#[case(Profile::Devbox)]
#[case(Profile::WorkspaceWrite)]
#[case(Profile::Off)]
fn golden(#[case] profile: Profile) {
    insta::assert_snapshot!(profile.name(), text(&rules(profile)).unwrap());
}

#[test]
fn paths_are_quoted_or_refused() {
    let with = |path: &str| Rules { deny: vec![path.into()], ..rules(Profile::Workspace) };
    let quoted = text(&with("/a \"b\" \\c (d)")).unwrap();
    assert!(quoted.contains(r#"(subpath "/a \"b\" \\c (d)")"#), "{quoted}");
    assert!(text(&with("/a\nb")).unwrap_err().to_string().contains("a control character"));
    let bytes = OsString::from_vec(vec![b'/', 0xff]);
    let odd = Rules { deny: vec![PathBuf::from(bytes)], ..with("/a") };
    assert!(text(&odd).unwrap_err().to_string().contains("not UTF-8"));
}

#[test]
fn a_glob_outside_the_grammar_is_refused() {
    let rules = Rules { deny_globs: vec!["/a/{b,c}".into()], ..rules(Profile::Off) };
    assert!(text(&rules).unwrap_err().to_string().contains("/a/{b,c}"));
}

#[test]
fn a_blocked_network_allows_no_address() {
    let rules = Rules { network: Network::Blocked, ..rules(Profile::Workspace) };
    let text = text(&rules).unwrap();
    assert!(!text.contains("(allow network*)\n"), "{text}");
}

#[test]
fn expressions_match_what_globs_match() {
    let globs = [
        "/w/**/.env",
        "/w/*.pem",
        "/w/secrets/**",
        "/w/a?c",
        "/w/[ab]x",
        "/w/[!ab]x",
        "/w/a.b",
        "/w/**/d/**/e",
        "/w/x*y/z",
        "/**/k",
    ];
    let paths = [
        "/w/.env",
        "/w/a/.env",
        "/w/a/b/.env",
        "/w/x.env",
        "/w/a.pem",
        "/w/.pem",
        "/w/a/b.pem",
        "/w/secrets",
        "/w/secrets/a",
        "/w/secrets/a/b",
        "/w/abc",
        "/w/a/c",
        "/w/ax",
        "/w/cx",
        "/w//x",
        "/w/a.b",
        "/w/aXb",
        "/w/d/e",
        "/w/d/q/e",
        "/w/p/d/e",
        "/w/p/d/q/r/e",
        "/w/xy/z",
        "/w/x1y/z",
        "/w/x/y/z",
        "/k",
        "/a/k",
        "/v/.env",
    ];
    for glob in globs {
        let set = GlobSet::compile(&[glob.to_owned()]).unwrap();
        let expressions = regexes(glob, |_| None).unwrap();
        let expression = regex::Regex::new(&expressions[0]).unwrap();
        for path in paths.iter().filter(|path| !path.contains("//")) {
            let wanted = set.matches(Path::new(path));
            assert_eq!(expression.is_match(path), wanted, "{glob} as {expression} on {path}");
        }
    }
}

#[test]
fn both_spellings_of_a_private_folder_are_named() {
    let text = text(&rules(Profile::Workspace)).unwrap();
    for path in ["/tmp/secret", "/private/tmp/secret"] {
        assert!(text.contains(&format!("(deny file-read* file-write* (subpath \"{path}\"))")));
    }
}
