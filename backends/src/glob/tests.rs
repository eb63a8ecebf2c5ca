//! The subset, verdict by verdict; the walk, limit by limit.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rstest::rstest;

use super::{GlobError, GlobSet, Limits, walk_root};

fn set(patterns: &[&str]) -> GlobSet {
    let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
    GlobSet::compile(&patterns).unwrap()
}

#[rstest]
#[case("/w/*.pem", "/w/a.pem", true)]
#[case("/w/*.pem", "/w/.pem", true)]
#[case("/w/*.pem", "/w/.a.pem", true)]
#[case("/w/*.pem", "/w/X.PEM", false)]
#[case("/w/*.pem", "/w/a/x.pem", false)]
#[case("/w/*", "/w", false)]
#[case("/w/?", "/w/é", true)]
#[case("/w/??", "/w/é", false)]
#[case("/w/?", "/w/.", false)] // `.` is no name
#[case("/w/**/.env", "/w/.env", true)]
#[case("/w/**/.env", "/w/a/.b/.env", true)]
#[case("/w/**/.env", "/w/a/.envx", false)]
#[case("/w/**/.env", "/x/.env", false)]
#[case("/w/secrets/**", "/w/secrets", false)]
#[case("/w/secrets/**", "/w/secrets/a", true)]
#[case("/w/secrets/**", "/w/secrets/a/b", true)]
#[case("/w/**/a/**/b", "/w/a/b", true)]
#[case("/w/**/a/**/b", "/w/x/a/y/z/b", true)]
#[case("/w/**/a/**/b", "/w/x/b", false)]
#[case("/w/**/**", "/w/a", true)]
#[case("/**/x", "/x", true)]
#[case("/w/[abc]", "/w/b", true)]
#[case("/w/[a-c]x", "/w/bx", true)]
#[case("/w/[a-c]x", "/w/dx", false)]
#[case("/w/[!a]", "/w/b", true)]
#[case("/w/[^a]", "/w/a", false)]
#[case("/w/[^a]", "/w/^", true)]
#[case("/w/[!a]", "/w/é", true)]
#[case("/w/[é]", "/w/é", true)]
#[case("/w/[a-]", "/w/-", true)]
#[case("/w/[-a]", "/w/-", true)]
#[case("/w/a*b*c", "/w/aXbYbZc", true)]
#[case("/w/a*b*c", "/w/aXbYbZ", false)]
#[case("/w/*a", "/w/line\nbreak a", true)]
#[case("/w/$a", "/w/$a", true)]
#[case("/w/!a*", "/w/!ab", true)]
#[case("/w/(a)*", "/w/(a)", true)]
fn grok_3_4_what_the_grammar_accepts(
    #[case] pattern: &str,
    #[case] path: &str,
    #[case] expected: bool,
) {
    assert_eq!(set(&[pattern]).matches(Path::new(path)), expected);
}

#[test]
fn a_byte_that_is_no_character_is_one_unit() {
    let path = Path::new(OsStr::from_bytes(b"/w/\xff"));
    assert!(set(&["/w/?"]).matches(path));
    assert!(set(&["/w/[!a]"]).matches(path));
    assert!(set(&["/w/*"]).matches(path));
    assert!(!set(&["/w/[a-z]"]).matches(path));
    assert!(!set(&["/w/??"]).matches(path));
}

#[rstest]
#[case("w/*.pem", "not absolute")]
#[case("/w/{a,b}", "holds `{`")]
#[case("/w/a}", "holds `}`")]
#[case("/w/\\*", "holds `\\`")]
#[case("/w//*", "empty segment")]
#[case("/w/*/", "empty segment")]
#[case("/w/./*", "`.` segment")]
#[case("/w/../*", "`..` segment")]
#[case("/w/a**b", "whole segment")]
#[case("/w/**a", "whole segment")]
#[case("/w/***", "whole segment")]
#[case("/w/[]a]", "`]` first")]
#[case("/w/[!]a]", "`]` first")]
#[case("/w/[]", "`]` first")]
#[case("/w/[[:alpha:]]", "`[` inside")]
#[case("/w/[a-[]", "`[` inside")]
#[case("/w/[ab", "without its `]`")]
#[case("/w/[a/b]", "without its `]`")]
#[case("/w/[z-a]", "reversed range")]
fn grok_3_5_what_the_grammar_refuses(#[case] pattern: &str, #[case] why: &str) {
    let message = GlobSet::compile(&[pattern.to_owned()]).unwrap_err().to_string();
    assert!(message.contains(why), "{message}");
    assert!(message.contains(pattern), "{message}");
}

#[rstest]
#[case("/w/certs/**/*.pem", "/w/certs")]
#[case("/home/**/.ssh", "/home")]
#[case("/**/x", "/")]
#[case("/w/a/b.txt", "/w/a")]
#[case("/*", "/")]
fn grok_3_9_walk_roots(#[case] pattern: &str, #[case] root: &str) {
    assert_eq!(walk_root(pattern), Path::new(root));
}

/// A folder with these files.
fn tree(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for file in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    (dir, root)
}

/// What these globs, given below `root`, match there, without the root.
fn found(root: &Path, globs: &[&str], limits: Limits) -> Result<Vec<String>, GlobError> {
    let globs: Vec<String> = globs.iter().map(|g| format!("{}/{g}", root.display())).collect();
    let paths = GlobSet::compile(&globs)?.expand(limits)?;
    let strip = |p: PathBuf| p.strip_prefix(root).unwrap().to_string_lossy().into_owned();
    Ok(paths.into_iter().map(strip).collect())
}

#[test]
fn expands_all_patterns_in_one_walk() {
    let (_dir, root) = tree(&["a.pem", "b/.env", "b/c/x.pem", ".h/y.pem", "secrets/s/k", "z"]);
    let globs = ["**/*.pem", "b/**/.env", "secrets/**", "none/**"];
    let all = found(&root, &globs, Limits::default()).unwrap();
    let expected =
        [".h/y.pem", "a.pem", "b/.env", "b/c/x.pem", "secrets/s", "secrets/s/k"].map(String::from);
    assert_eq!(all, expected);
}

#[test]
fn expansion_agrees_with_the_matcher() {
    let (_dir, root) = tree(&["a/b/c.pem", "a/.b/c", "x/a/y", "a/b/d/e.pem", "q"]);
    let globs: Vec<String> =
        ["a/**/*.pem", "*/[!b]*", "**/a/?"].map(|g| format!("{}/{g}", root.display())).to_vec();
    let set = GlobSet::compile(&globs).unwrap();
    let mut all = vec![root.clone()];
    let mut at = 0;
    while at < all.len() {
        if all[at].is_dir() {
            all.extend(fs::read_dir(&all[at]).unwrap().map(|e| e.unwrap().path()));
        }
        at += 1;
    }
    let mut expected: Vec<PathBuf> = all.into_iter().filter(|p| set.matches(p)).collect();
    expected.sort();
    assert!(expected.len() >= 4, "{expected:?}");
    assert_eq!(set.expand(Limits::default()).unwrap(), expected);
}

#[test]
fn a_matching_link_brings_its_target() {
    let (_dir, root) = tree(&["real/target"]);
    symlink(root.join("real/target"), root.join("l.pem")).unwrap();
    symlink("/nowhere/at/all", root.join("dangling.pem")).unwrap();
    symlink(root.join("real"), root.join("folder")).unwrap();
    let all = found(&root, &["*.pem", "folder/*", "**/target"], Limits::default()).unwrap();
    // `folder` is named by a pattern and so walked; `**/target` alone would not follow it.
    assert_eq!(all, ["dangling.pem", "folder/target", "l.pem", "real/target"].map(String::from));
}

#[test]
fn grok_3_11_limits_take_the_exact_number() {
    let (_dir, root) = tree(&["d/1.pem", "d/2.pem", "d/3.pem"]);
    let limits = |depth, matches, entries| Limits { depth, matches, entries };
    let try_it = |l| found(&root, &["**/*.pem"], l);
    assert_eq!(try_it(limits(2, 3, 5)).unwrap().len(), 3);
    for (limits, unit) in [
        (limits(1, 3, 5), "1 folders deep"),
        (limits(2, 2, 5), "2 matches"),
        (limits(2, 3, 4), "4 entries"),
    ] {
        let message = try_it(limits).unwrap_err().to_string();
        let below = format!("below `{}`", root.display());
        let at = format!("stopped at `{}/d", root.display());
        for word in [unit, "**/*.pem`", &below, &at, "raise --glob-"] {
            assert!(message.contains(word), "{message}");
        }
    }
    // A file may lie as deep as the limit, a folder may not.
    let (_dir, root) = tree(&["a/b/x.pem"]);
    assert_eq!(found(&root, &["**/*.pem"], limits(3, 9, 99)).unwrap().len(), 1);
    assert!(found(&root, &["**/*.pem"], limits(2, 9, 99)).is_err());
    // Matches are counted with the real paths of links, entries over all roots.
    let (_dir, root) = tree(&["a/1", "b/2"]);
    symlink(root.join("b/2"), root.join("a/l")).unwrap();
    assert_eq!(found(&root, &["a/*", "b/2"], limits(9, 3, 5)).unwrap().len(), 3);
    assert!(found(&root, &["a/*"], limits(9, 2, 5)).is_err());
    assert!(found(&root, &["a/*", "b/*"], limits(9, 9, 4)).is_err());
}

#[test]
fn a_dead_branch_is_not_read() {
    let (_dir, root) = tree(&["keep/a.pem", "huge/1", "huge/2", "huge/3"]);
    // Root, keep, huge and a.pem: the entries of `huge` are never looked at.
    let limits = Limits { entries: 4, ..Limits::default() };
    assert_eq!(found(&root, &["[k]eep/*.pem"], limits).unwrap(), ["keep/a.pem"]);
}

#[test]
fn grok_3_10_limits_when_nothing_is_said() {
    assert_eq!(Limits::default(), Limits { depth: 64, matches: 4096, entries: 2_000_000 });
}

/// On every system: a class never reaches over a slash.
#[rstest]
#[case("/w/x[!a]y", "/w/x/y", false)]
#[case("/w/x[^a]y", "/w/x/y", false)]
#[case("/w/[.-0]x", "/w//x", false)]
#[case("/w/x[!a]y", "/w/xby", true)]
fn grok_3_6_a_negated_class_takes_no_slash(
    #[case] pattern: &str,
    #[case] path: &str,
    #[case] expected: bool,
) {
    assert_eq!(set(&[pattern]).matches(Path::new(path)), expected);
}

#[rstest]
#[case("/w/secrets/**", "/w/secrets/a/b", true)]
#[case("/w/secrets/**", "/w/secrets", false)]
#[case("/w/**/.env", "/w/.env", true)]
#[case("/w/**/.env", "/w/a/b/.env", true)]
#[case("/w/*.pem", "/w/.pem", true)]
#[case("/w/*.pem", "/w/X.PEM", false)]
#[case("/w/*.pem", "/w/a/x.pem", false)]
fn grok_3_7_stars_depth_and_case(
    #[case] pattern: &str,
    #[case] path: &str,
    #[case] expected: bool,
) {
    assert_eq!(set(&[pattern]).matches(Path::new(path)), expected);
}

#[test]
fn grok_3_14_a_nested_root_is_walked_once_unless_a_link_leads_there() {
    let (_dir, root) = tree(&["a/b/1.y", "a/2", "c/z.y"]);
    // a, b, 2 and 1.y: b is not walked a second time.
    let limits = Limits { entries: 4, ..Limits::default() };
    assert_eq!(found(&root, &["a/**/*.y", "a/b/*.y"], limits).unwrap(), ["a/b/1.y"]);
    symlink(root.join("c"), root.join("a/l")).unwrap();
    let all = found(&root, &["a/**/*.y", "a/l/*.y"], Limits::default()).unwrap();
    assert_eq!(all, ["a/b/1.y", "a/l/z.y", "c/z.y"]);
    // A root below a link that was walked already is not walked again: a, b, l, 2, 1.y; l, z.y.
    let limits = Limits { entries: 7, ..Limits::default() };
    assert_eq!(found(&root, &["a/**/*.y", "a/l/*.y", "a/l/**/*.y"], limits).unwrap().len(), 3);
}

#[test]
fn grok_3_15_a_folder_that_cannot_be_read_for_another_reason_refuses() {
    let (_dir, root) = tree(&["a/1.y"]);
    symlink(root.join("loop"), root.join("loop")).unwrap();
    let error = found(&root, &["loop/*.y"], Limits::default()).unwrap_err().to_string();
    assert!(error.contains("cannot read") && error.contains("loop/*.y`"), "{error}");
    assert_eq!(found(&root, &["none/*.y", "a/1.y/*"], Limits::default()).unwrap().len(), 0);
}
