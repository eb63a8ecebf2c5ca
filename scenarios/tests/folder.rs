//! Folders of scenarios: what is read, what is passed over, what is refused.

use std::fs;
use std::path::Path;

use sandproof_scenarios::{Complaint, load};
use tempfile::TempDir;

/// A functional scenario with this id.
fn scenario(id: &str) -> String {
    format!(
        "schema: 1\nid: {id}\ntitle: t\nwhy: w\nclaim: ours\nseverity: low\n\
         policy: {{ profiles: [strict] }}\nroutes: {{ one: [{{ list: work }}] }}\nworks: true\n"
    )
}

/// A folder with these files.
fn folder(files: &[(&str, String)]) -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }
    dir
}

fn refused(dir: &Path) -> Vec<Complaint> {
    load::folder(dir).expect_err("a refusal")
}

#[test]
fn files_are_found_at_every_depth_and_sorted_by_id() {
    let dir = folder(&[
        ("z.yaml", scenario("z")),
        ("fs/b.yaml", scenario("fs/b")),
        ("fs/a/deep.yaml", scenario("fs/a/deep")),
        ("src/c.yaml", scenario("src/c")),
    ]);
    let ids: Vec<String> = load::folder(dir.path()).unwrap().into_iter().map(|s| s.id).collect();
    assert_eq!(ids, ["fs/a/deep", "fs/b", "src/c", "z"]);
}

#[test]
fn hidden_files_waivers_and_other_files_are_passed_over() {
    let bad = || "nonsense".to_owned();
    let dir = folder(&[
        ("a.yaml", scenario("a")),
        (".b.yaml", bad()),
        (".git/c.yaml", bad()),
        ("waivers/confine.yaml", bad()),
        ("README.md", bad()),
        ("scenario.schema.json", bad()),
    ]);
    assert_eq!(load::folder(dir.path()).unwrap().len(), 1);
}

#[test]
fn a_folder_without_a_scenario_is_refused() {
    let dir = folder(&[("notes.txt", String::new()), ("waivers/x.yaml", String::new())]);
    let told = refused(dir.path());
    assert_eq!(told.len(), 1);
    assert!(told[0].message.contains("no scenario"), "{}", told[0]);
    assert!(told[0].message.contains(&dir.path().display().to_string()));
}

#[test]
fn a_folder_that_is_not_there_is_refused() {
    let dir = folder(&[]);
    let told = refused(&dir.path().join("nowhere"));
    assert!(told[0].message.contains("nowhere"), "{}", told[0]);
}

#[test]
fn another_ending_is_refused_with_the_right_one() {
    let dir = folder(&[("a.yaml", scenario("a")), ("b.yml", scenario("b"))]);
    let told = refused(dir.path());
    assert_eq!(told.len(), 1);
    assert!(told[0].message.contains("rename it to `b.yaml`"), "{}", told[0]);
}

#[test]
fn mistakes_of_all_files_are_told() {
    let dir = folder(&[
        ("a.yaml", scenario("a").replace("severity: low", "severity: lwo")),
        ("b.yaml", scenario("wrong")),
        ("c.yaml", String::new()),
        ("d.yaml", scenario("d")),
    ]);
    let words: Vec<String> = refused(dir.path()).into_iter().map(|c| c.word).collect();
    assert_eq!(words, ["lwo", "wrong", ""]);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let dir = folder(&[("a.yaml", scenario("a"))]);
    fs::write(dir.path().join("b.yaml"), b"schema: \xff\n").unwrap();
    assert_eq!(refused(dir.path())[0].word, "0xff");
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_refused() {
    let dir = folder(&[("a.yaml", scenario("a"))]);
    std::os::unix::fs::symlink("nowhere", dir.path().join("b.yaml")).unwrap();
    let told = refused(dir.path());
    assert_eq!(told.len(), 1);
    assert!(told[0].message.contains("cannot be read"), "{}", told[0]);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_folder_is_refused() {
    let dir = folder(&[("a.yaml", scenario("a"))]);
    std::os::unix::fs::symlink(".", dir.path().join("loop")).unwrap();
    let told = refused(dir.path());
    assert_eq!(told.len(), 1);
    assert!(told[0].message.contains("link to a folder"), "{}", told[0]);
}
