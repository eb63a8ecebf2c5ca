//! The matcher of Linux and the expressions of a profile agree, on generated globs and paths.

use std::path::Path;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use sandproof_scenarios::Profile;

use super::plain;
use crate::glob::GlobSet;
use crate::seatbelt::simulate::operation::Operation;
use crate::seatbelt::simulate::{self, About, Answer};
use crate::seatbelt::{Rules, text};

/// Names with what expressions, globs and strings read in their own way.
const NAMES: [&str; 24] = [
    "a", "b", "ab", "abc", "A", "aB", ".", ".env", ".a", "x.pem", "X.PEM", "a.b", "a+b", "(a)",
    "a|b", "^a$", "a-b", "-", "]", "a]", "\"", "é", "a b", "~a#",
];

/// Pieces of a segment.
const PIECES: [&str; 34] = [
    "*", "?", "a", "b", "A", ".", "-", "+", "(", ")", "|", "^", "$", "]", "\"", "~", "#", " ", "é",
    "[a]", "[ab.]", "[!a]", "[^a]", "[a-c]", "[!a-cX]", "[^^]", "[a^]", "[-a]", "[a-]", "[+--]",
    "[.-0]", "[!.-0]", "[A-z]", "[!A-z]",
];

/// Where globs and paths begin; the first two name the same folder on macOS.
const ROOTS: [&str; 4] = ["/tmp/w", "/private/tmp/w", "/Users/m.e/w (1)", "/w"];

fn segment() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES.to_vec()), 1..4);
    prop_oneof![
        1 => Just("**".to_owned()),
        4 => pieces.prop_map(|pieces| pieces.concat()),
        1 => prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned),
    ]
}

fn glob() -> impl Strategy<Value = (usize, String)> {
    (0..ROOTS.len(), prop::collection::vec(segment(), 1..4))
        .prop_map(|(root, segments)| (root, segments.join("/")))
}

/// A path that is likely to be near a glob: names that pieces make, and others.
fn path() -> impl Strategy<Value = (usize, String)> {
    let piece =
        prop::sample::select(PIECES.to_vec()).prop_map(|piece| match piece.chars().next() {
            Some('[') => "c".to_owned(),
            Some('*') => "xy".to_owned(),
            Some('?') => "z".to_owned(),
            _ => piece.to_owned(),
        });
    let made = prop::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat());
    let name = prop_oneof![made, prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned)]
        .prop_filter("a name", |name| name != "." && name != "..");
    (0..ROOTS.len(), prop::collection::vec(name, 1..5))
        .prop_map(|(root, names)| (root, names.join("/")))
}

/// What the profile that denies this glob says about a path.
fn denied(glob: &str, path: &str, fold_case: bool) -> bool {
    let deny_globs = vec![glob.to_owned()];
    read_denied(&Rules { deny_globs, fold_case, ..plain(Profile::Off) }, path)
}

fn read_denied(rules: &Rules, path: &str) -> bool {
    let profile = simulate::Profile::read(&text(rules).unwrap()).unwrap();
    let read = Operation::named("file-read-data").unwrap();
    match profile.ask(read, About::Path(Path::new(path))) {
        Answer::Denied(_) => true,
        Answer::Allowed(_) => false,
        Answer::Disputed(one, other) => panic!("{one} or {other}"),
    }
}

/// Whether Linux would mask the path, or a folder above it.
fn matches(globs: &[String], path: &str) -> bool {
    let set = GlobSet::compile(globs).unwrap();
    Path::new(path).ancestors().any(|path| set.matches(path))
}

/// The other name of a folder that macOS keeps in `/private`.
fn twin(text: &str) -> Option<String> {
    match text.strip_prefix("/private/tmp/") {
        Some(rest) => Some(format!("/tmp/{rest}")),
        None => text.strip_prefix("/tmp/").map(|rest| format!("/private/tmp/{rest}")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, max_global_rejects: 100_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn grok_5_7_the_matcher_and_the_expressions_agree(glob in glob(), path in path()) {
        let (root, tail) = glob;
        let glob = format!("{}/{tail}", ROOTS[root]);
        let set = vec![glob.clone()];
        prop_assume!(tail.contains(['*', '?', '[']));
        match GlobSet::compile(&set) {
            Err(_) => {
                let rules = Rules { deny_globs: set, ..plain(Profile::Off) };
                prop_assert!(text(&rules).is_err(), "{glob} is refused by the matcher alone");
            }
            Ok(_) => {
                // One path of its own root, so that many match; one of any root.
                for at in [root, path.0] {
                    let path = format!("{}/{}", ROOTS[at], path.1);
                    let wanted = matches(&set, &path)
                        || twin(&path).is_some_and(|other| matches(&set, &other));
                    prop_assert_eq!(denied(&glob, &path, false), wanted, "{} on {}", &glob, &path);
                }
            }
        }
    }

    /// Without ranges over both cases, folding is comparing in one case.
    #[test]
    fn grok_5_10_folding_is_comparing_in_one_case(glob in glob(), path in path()) {
        let (root, tail) = glob;
        let glob = format!("{}/{tail}", ROOTS[root]);
        prop_assume!(tail.contains(['*', '?', '[']) && !tail.contains("-z]"));
        prop_assume!(GlobSet::compile(std::slice::from_ref(&glob)).is_ok());
        let path = format!("{}/{}", ROOTS[root], path.1);
        let lower = |text: &str| text.to_lowercase();
        let wanted = matches(&[lower(&glob)], &lower(&path));
        prop_assert_eq!(denied(&glob, &path, true), wanted, "{} on {}", &glob, &path);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    /// Whatever a name holds, the rules are about it and what is below, and about nothing else.
    #[test]
    fn grok_5_6_a_path_is_denied_by_its_very_name(name in "[^/\\x00-\\x1f\\x7f-\\x9f]{1,12}", fold_case: bool) {
        prop_assume!(name != "." && name != "..");
        let path = format!("/w/{name}");
        let rules = Rules { deny: vec![path.clone().into()], fold_case, ..plain(Profile::Off) };
        let below = format!("{path}/x");
        prop_assert!(read_denied(&rules, &path) && read_denied(&rules, &below));
        for other in [format!("{path}x"), format!("/w/x{name}"), "/w".to_owned()] {
            prop_assert!(!read_denied(&rules, &other), "{other}");
        }
    }
}

/// The property above sees both sides often enough to mean something.
#[test]
fn generated_paths_match_generated_globs() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut hits, mut misses) = (0, 0);
    for _ in 0..2000 {
        let (root, tail) = glob().new_tree(&mut runner).unwrap().current();
        let (_, names) = path().new_tree(&mut runner).unwrap().current();
        let set = [format!("{}/{tail}", ROOTS[root])];
        let Ok(compiled) = GlobSet::compile(&set) else { continue };
        if compiled.matches(Path::new(&format!("{}/{names}", ROOTS[root]))) {
            hits += 1;
        } else {
            misses += 1;
        }
    }
    assert!(hits > 100 && misses > 100, "{hits} of {}", hits + misses);
}

/// A negated class takes no slash on either side; a range over the slash neither.
#[test]
fn grok_5_7_no_class_takes_a_slash() {
    for (glob, path) in [("/w/x[!a]y", "/w/x/y"), ("/w/x[.-0]y", "/w/x/y"), ("/w/[^a]", "/w//")] {
        assert!(!matches(&[glob.to_owned()], path));
        assert!(!denied(glob, path, false));
    }
    assert!(denied("/w/x[.-0]y", "/w/x.y", false) && denied("/w/x[.-0]y", "/w/x0y", false));
}
