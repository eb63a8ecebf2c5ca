//! Waiver files: what is read, and what is refused.

use std::fs;

use rstest::rstest;
use tempfile::TempDir;

use super::*;

const GOOD: &str = "id: fs/a, backend: codex, platform: linux, reason: known, \
                    link: 'https://example.org/1', date: 2026-01-31, expires: 2026-06-30";

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn file(waivers: &[&str]) -> String {
    let items: Vec<String> = waivers.iter().map(|keys| format!("  - {{ {keys} }}\n")).collect();
    format!("schema: 1\nwaivers:\n{}", items.concat())
}

fn refused(text: &str) -> Vec<Complaint> {
    load_waivers(folder(&[("codex.yaml", text)]).path()).unwrap_err()
}

#[test]
fn waivers_of_all_files_are_read() {
    let second = GOOD.replace("fs/a", "env/b, route: shell").replace("linux", "macos");
    let dir = folder(&[("x/codex.yaml", &file(&[GOOD])), ("more.yaml", &file(&[&second]))]);
    let waivers = load_waivers(dir.path()).unwrap();
    let subjects: Vec<String> = waivers.iter().map(Waiver::subject).collect();
    assert_eq!(subjects, ["env/b/shell on codex, macos", "fs/a on codex, linux"]);
    assert!(!waivers[1].expired_on("2026-06-30"));
    assert!(waivers[1].expired_on("2026-07-01"));
}

#[test]
fn an_empty_folder_waives_nothing() {
    assert_eq!(load_waivers(folder(&[]).path()), Ok(vec![]));
}

#[test]
fn a_folder_that_is_not_there_is_refused() {
    let found = load_waivers(&folder(&[]).path().join("none")).unwrap_err();
    assert!(found[0].to_string().contains("none"));
}

#[rstest]
#[case("id: fs/a", "id: FS/a", "FS/a")]
#[case("backend: codex", "backend: Codex", "Codex")]
#[case("platform: linux", "platform: windows", "windows")]
#[case("reason: known", "reason: ''", "reason")]
#[case("https://example.org/1", "somewhere", "somewhere")]
#[case("date: 2026-01-31", "date: 2026-02-30", "2026-02-30")]
#[case("date: 2026-01-31", "date: 31.1.2026", "31.1.2026")]
#[case("expires: 2026-06-30", "expires: 2026-01-31", "2026-01-31")]
#[case("expires: 2026-06-30", "expire: 2026-06-30", "expire")]
#[case(", reason: known", "", "reason")]
fn one_mistake_is_one_complaint(#[case] from: &str, #[case] to: &str, #[case] word: &str) {
    let complaints = refused(&file(&[&GOOD.replace(from, to)]));
    let [complaint] = complaints.as_slice() else { panic!("{complaints:?}") };
    assert_eq!((complaint.line, complaint.word.as_str()), (3, word), "{complaint}");
}

#[rstest]
#[case("schema: 2\nwaivers: []\n", "2")]
#[case("schema: 1\n", "waivers")]
#[case("schema: 1\nwaivers: []\nextra: 1\n", "extra")]
fn the_file_itself_is_strict(#[case] text: &str, #[case] word: &str) {
    let complaints = refused(text);
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert_eq!(complaints[0].word, word);
}

#[rstest]
#[case(GOOD.to_owned(), true)]
#[case(GOOD.replace("reason: known", "reason: other"), true)]
#[case(GOOD.replace("fs/a", "fs/a, route: shell"), true)]
#[case(GOOD.replace("codex", "nono"), false)]
#[case(GOOD.replace("linux", "macos"), false)]
fn two_waivers_for_one_cell_contradict(#[case] second: String, #[case] wrong: bool) {
    let dir = folder(&[("a.yaml", &file(&[GOOD])), ("b.yaml", &file(&[&second]))]);
    match load_waivers(dir.path()) {
        Ok(waivers) => assert!(!wrong && waivers.len() == 2),
        Err(complaints) => {
            assert!(wrong && complaints.len() == 1, "{complaints:?}");
            assert!(complaints[0].message.contains("a.yaml:3"), "{}", complaints[0]);
            assert!(complaints[0].origin.ends_with("b.yaml"));
        }
    }
}

#[rstest]
#[case("2024-02-29", true)]
#[case("2023-02-29", false)]
#[case("2000-02-29", true)]
#[case("1900-02-29", false)]
#[case("2026-13-01", false)]
#[case("2026-00-10", false)]
#[case("2026-1-1", false)]
#[case("2026-01-01 ", false)]
#[case("+026-01-01", false)]
fn days(#[case] text: &str, #[case] good: bool) {
    assert_eq!(is_day(text), good);
}
