//! What the evaluator reads, what it refuses to read, and how it answers.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rstest::rstest;
use sandproof_probes::Attempt;

use super::asks::{Thing, asks};
use super::operation::Operation;
use super::{About, Answer, Profile};

fn ask(rules: &str, operation: &str, path: &str) -> Answer {
    let profile = Profile::read(&format!("(version 1)\n{rules}")).unwrap();
    profile.ask(Operation::named(operation).unwrap(), About::Path(Path::new(path)))
}

#[rstest]
#[case("(allow default)\n(deny file-read* (subpath \"/s\"))", "/s/x", false)]
#[case("(allow default)\n(deny file-read* (subpath \"/s\"))", "/s", false)]
#[case("(allow default)\n(deny file-read* (subpath \"/s\"))", "/sx", true)]
#[case("(allow default)\n(deny file-read* (literal \"/s\"))", "/s/x", true)]
#[case(
    "(deny default)\n(allow file-read* (subpath \"/\"))\n(deny file-read* (literal \"/s\"))",
    "/s",
    false
)]
#[case(
    "(deny default)\n(deny file-read* (literal \"/s\"))\n(allow file-read* (subpath \"/\"))",
    "/s",
    true
)]
#[case("(allow default)\n(deny file-read-data (regex #\"^/a\\.[bc]$\"))", "/a.b", false)]
#[case("(allow default)\n(deny file-read-data (regex #\"^/a\\.[bc]$\"))", "/aXb", true)]
#[case("(allow default)\n(deny file-read* (literal \"/q\\\"\\\\\"))", "/q\"\\", false)]
#[case(
    "(deny default)\n(allow file-read* (require-all (subpath \"/s\") (extension \"e\")))",
    "/s",
    false
)]
fn the_last_rule_of_an_operation_wins(#[case] rules: &str, #[case] path: &str, #[case] yes: bool) {
    let answer = ask(rules, "file-read-data", path);
    assert_eq!(matches!(answer, Answer::Allowed(_)), yes, "{answer}");
    assert!(!matches!(answer, Answer::Disputed(..)));
}

/// A denied family against an allowed operation, and the other way round: the kernel goes by the
/// operation, documents by the order. Nobody may count on either.
#[rstest]
#[case(
    "(deny default)\n(allow file-read-data (subpath \"/\"))\n(deny file-read* (literal \"/s\"))"
)]
#[case(
    "(deny default)\n(deny file-read-data (literal \"/s\"))\n(allow file-read* (subpath \"/\"))"
)]
fn what_readers_differ_about_is_disputed(#[case] rules: &str) {
    assert!(matches!(ask(rules, "file-read-data", "/s"), Answer::Disputed(..)));
}

#[test]
fn the_answer_names_the_rule() {
    let rules = "(allow default)\n(deny file-read* (literal \"/s\"))";
    let answer = ask(rules, "file-read-data", "/s").to_string();
    assert_eq!(answer, "denied by line 3 (deny file-read* (literal \"/s\"))");
    let other = ask(rules, "file-read-data", "/t").to_string();
    assert_eq!(other, "allowed by line 2 (allow default )");
}

#[rstest]
#[case("(deny default)\n(allow file-read* (subpath \"/a\")", "without its end")]
#[case("(deny default)\n(allow file-raed*)", "operation file-raed*")]
#[case("(deny default)\n(alow file-read*)", "neither allow nor deny")]
#[case("(deny default)\n(allow file-read* (prefix \"/a\"))", "the filter (prefix \"/a\")")]
#[case("(deny default)\n(allow file-read* (subpath \"a\"))", "no resolved one")]
#[case("(deny default)\n(allow file-read* (subpath \"/a/../b\"))", "no resolved one")]
#[case("(deny default)\n(allow file-read* (subpath \"/a\\n\"))", "the escape \\n")]
#[case("(deny default)\n(allow file-read* (regex #\"/a$\"))", "not anchored")]
#[case("(deny default)\n(allow file-read* (regex #\"^/a|b$\"))", "| in")]
#[case("(deny default)\n(allow file-read* (regex #\"^/[a$\"))", "without its end")]
#[case("(deny default)\n(allow file-read* (regex #\"^/[b-a]$\"))", "the range b-a")]
#[case("(deny default)\n(allow network-outbound (remote ip \"*:1\"))", "the filter (remote ip")]
#[case("(deny default)\n(import \"x\")", "neither allow nor deny")]
#[case("(deny default)\n; comment", "';' is not expected")]
#[case("(allow file-read*)", "no default")]
#[case("", "no default")]
fn what_we_do_not_print_is_not_read(#[case] rules: &str, #[case] why: &str) {
    let error = Profile::read(&format!("(version 1)\n{rules}")).unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
}

#[test]
fn paths_are_followed_before_asking() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir(root.join("real")).unwrap();
    fs::write(root.join("real/file"), "").unwrap();
    symlink("real", root.join("folder")).unwrap();
    symlink(root.join("folder/file"), root.join("link")).unwrap();
    let paths = |attempt: &Attempt| -> Vec<PathBuf> {
        let path = |thing| match thing {
            Thing::Path(path) => Some(path),
            Thing::Socket(_) | Thing::Internet | Thing::Domain(_) => None,
        };
        let asks = asks(attempt).unwrap();
        asks.into_iter().filter_map(|ask| path(ask.thing)).collect()
    };
    let read = paths(&Attempt::Read { path: root.join("link") });
    assert_eq!(read, ["link", "folder", "real/file"].map(|name| root.join(name)));
    let unlink = paths(&Attempt::Unlink { path: root.join("folder/gone") });
    assert_eq!(unlink, ["folder", "real/gone"].map(|name| root.join(name)));
    let loops = root.join("loop");
    symlink(&loops, &loops).unwrap();
    assert!(paths(&Attempt::Read { path: loops.clone() }).ends_with(&[loops]));
}
