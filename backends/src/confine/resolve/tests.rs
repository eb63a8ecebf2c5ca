//! What an entry of a policy stands for.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Resolved, entry, links_on_the_way};

fn place() -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let base = dir.path().canonicalize().unwrap();
    fs::create_dir(base.join("dir")).unwrap();
    fs::write(base.join("dir/file"), "").unwrap();
    (dir, base)
}

fn existing(paths: &[&Path]) -> Resolved {
    Resolved { existing: paths.iter().map(|path| path.to_path_buf()).collect(), missing: vec![] }
}

fn missing(path: PathBuf) -> Resolved {
    Resolved { existing: vec![], missing: vec![path] }
}

#[test]
fn a_path_is_made_canonical() {
    let (_dir, base) = place();
    let file = base.join("dir/file");
    assert_eq!(entry(&base.join("dir/../dir/./file")).unwrap(), existing(&[&file]));
    assert_eq!(entry(&base.join("dir/")).unwrap(), existing(&[&base.join("dir")]));
    assert_eq!(entry(&base.join("dir/..")).unwrap(), existing(&[&base]));
}

#[test]
fn a_symlink_stands_for_itself_and_its_target() {
    let (_dir, base) = place();
    symlink("dir/file", base.join("link")).unwrap();
    symlink(base.join("link"), base.join("chain")).unwrap();
    let all = [base.join("chain"), base.join("link"), base.join("dir/file")];
    assert_eq!(entry(&base.join("chain")).unwrap().existing, all);
}

#[test]
fn a_symlinked_folder_on_the_way_is_followed() {
    let (_dir, base) = place();
    symlink("dir", base.join("way")).unwrap();
    assert_eq!(entry(&base.join("way/file")).unwrap(), existing(&[&base.join("dir/file")]));
}

#[test]
fn what_is_missing_is_named_below_what_exists() {
    let (_dir, base) = place();
    symlink("dir", base.join("way")).unwrap();
    assert_eq!(entry(&base.join("way/new")).unwrap(), missing(base.join("dir/new")));
    assert_eq!(entry(&base.join("way/a/b/new")).unwrap(), missing(base.join("dir/a/b/new")));
    assert!(entry(&base.join("a/../b")).unwrap_err().to_string().contains("`..`"));
}

#[test]
fn a_symlink_that_leads_nowhere_stands_for_itself_and_what_it_would_lead_to() {
    let (_dir, base) = place();
    symlink("gone", base.join("link")).unwrap();
    let both = Resolved { existing: vec![base.join("link")], missing: vec![base.join("gone")] };
    assert_eq!(entry(&base.join("link")).unwrap(), both);
    let below = Resolved { existing: vec![base.join("link")], missing: vec![base.join("gone/x")] };
    assert_eq!(entry(&base.join("link/x")).unwrap(), below);
}

#[test]
fn a_loop_is_refused() {
    let (_dir, base) = place();
    symlink("b", base.join("a")).unwrap();
    symlink("a", base.join("b")).unwrap();
    let refusal = entry(&base.join("a")).unwrap_err().to_string();
    assert!(refusal.contains("a loop of symlinks"), "{refusal}");
}

#[test]
fn a_path_of_the_looking_process_is_refused() {
    for path in ["/proc/self/environ", "/dev/fd/3"] {
        let refusal = entry(Path::new(path)).unwrap_err().to_string();
        assert!(refusal.contains("another file in every process"), "{refusal}");
    }
    assert_eq!(entry(Path::new("/proc/version")).unwrap(), existing(&[Path::new("/proc/version")]));
}

#[test]
fn links_on_the_way_are_found_behind_one_another() {
    let (_dir, base) = place();
    symlink("dir", base.join("second")).unwrap();
    symlink(base.join("second"), base.join("first")).unwrap();
    symlink("first/file", base.join("last")).unwrap();
    symlink("loop", base.join("loop")).unwrap();
    let found =
        |path: &str| -> Vec<PathBuf> { links_on_the_way(&base.join(path)).into_iter().collect() };
    let both = vec![base.join("first"), base.join("second")];
    assert_eq!(found("first/file"), both);
    assert_eq!(found("first/missing/below"), both);
    assert_eq!(found("last"), both);
    assert_eq!(found("dir/file"), Vec::<PathBuf>::new());
    assert_eq!(found("loop/file"), [base.join("loop")]);
}
