//! Stubs leave the host as it was, and never take what is not theirs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rstest::rstest;
use tempfile::TempDir;

use super::{Shape, Stubs};

fn place() -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().canonicalize().unwrap();
    (dir, path)
}

fn held(paths: &[&Path], shape: Shape) -> Stubs {
    let mut stubs = Stubs::default();
    for path in paths {
        stubs.hold(path, shape).unwrap();
    }
    stubs
}

#[rstest]
#[case::file(Shape::File)]
#[case::folder(Shape::Folder)]
fn a_stub_comes_and_goes_without_a_trace(#[case] shape: Shape) {
    let (_dir, base) = place();
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::open(&base).unwrap().set_modified(old).unwrap();
    let path = base.join("late");
    let stubs = held(&[&path], shape);
    assert!(path.exists());
    assert_eq!(fs::metadata(&base).unwrap().modified().unwrap(), old);
    drop(stubs);
    assert!(!path.exists());
    assert_eq!(fs::metadata(&base).unwrap().modified().unwrap(), old);
}

#[test]
fn missing_parents_come_and_go_too() {
    let (_dir, base) = place();
    let stubs = held(&[&base.join("a/b/one"), &base.join("a/b/two")], Shape::File);
    assert_eq!(fs::read_dir(base.join("a/b")).unwrap().count(), 2);
    drop(stubs);
    assert_eq!(fs::read_dir(&base).unwrap().count(), 0);
}

#[test]
fn parents_that_were_used_stay() {
    let (_dir, base) = place();
    let stubs = held(&[&base.join("a/b/secret")], Shape::File);
    fs::write(base.join("a/mine"), "text").unwrap();
    drop(stubs);
    assert_eq!(fs::read_dir(base.join("a")).unwrap().count(), 1);
    assert!(base.join("a/mine").exists());
}

#[test]
fn what_exists_is_left_alone() {
    let (_dir, base) = place();
    let (file, empty) = (base.join("file"), base.join("empty"));
    fs::write(&file, "text").unwrap();
    fs::write(&empty, "").unwrap();
    drop(held(&[&file, &empty], Shape::File));
    assert_eq!(fs::read_to_string(&file).unwrap(), "text");
    assert!(empty.exists(), "an empty file of the user is no stub");
}

#[test]
fn a_stub_that_was_filled_stays() {
    let (_dir, base) = place();
    let path = base.join("late");
    let stubs = held(&[&path], Shape::File);
    fs::write(&path, "text").unwrap();
    drop(stubs);
    assert_eq!(fs::read_to_string(&path).unwrap(), "text");
}

#[test]
fn the_last_one_out_removes_a_shared_stub() {
    let (_dir, base) = place();
    let path = base.join("a/late");
    let first = held(&[&path], Shape::File);
    let second = held(&[&path], Shape::File);
    drop(first);
    assert!(path.exists(), "the second start still stands on it");
    drop(second);
    assert_eq!(fs::read_dir(&base).unwrap().count(), 0);
}

#[test]
fn a_stub_of_a_killed_start_is_taken_over() {
    let (_dir, base) = place();
    let path = base.join("a/late");
    held(&[&path], Shape::File).leave();
    assert!(path.exists());
    drop(held(&[&path], Shape::File));
    assert!(!path.exists());
}

#[test]
fn a_place_where_nothing_can_be_made_is_refused() {
    let (_dir, base) = place();
    fs::write(base.join("file"), "").unwrap();
    let refusal = Stubs::default().hold(&base.join("file/below"), Shape::File).unwrap_err();
    assert!(refusal.to_string().contains("cannot be held in place"), "{refusal}");
}

#[test]
fn a_folder_that_another_start_stands_on_stays() {
    let (_dir, base) = place();
    let folder = base.join("a");
    let whole = held(&[&folder], Shape::Folder);
    drop(held(&[&folder.join("late")], Shape::File));
    assert!(folder.exists(), "the folder was removed under another start");
    drop(whole);
    assert!(!folder.exists());
}
