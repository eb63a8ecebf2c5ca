//! Which paths are protected.

use std::fs;

use tempfile::TempDir;

use super::of;

#[test]
fn names_at_the_top_are_protected_whether_there_or_not() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::create_dir_all(root.join("sub/.git")).unwrap();
    let wanted = [root.join(".git"), root.join(".agents"), root.join(".codex")];
    assert_eq!(of(&[root]).unwrap(), wanted);
}

#[test]
fn a_git_file_is_followed() {
    let dir = TempDir::new().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (root, repository) = (base.join("tree"), base.join("main/.git/worktrees/tree"));
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(&repository).unwrap();
    fs::write(root.join(".git"), "gitdir: ../main/.git/worktrees/tree\n").unwrap();
    let paths = of(std::slice::from_ref(&root)).unwrap();
    assert!(paths.contains(&repository) && paths.contains(&root.join(".git")), "{paths:?}");
    fs::write(root.join(".git"), "gitdir: ../nowhere\n").unwrap();
    assert_eq!(of(&[root]).unwrap().len(), 3);
}
