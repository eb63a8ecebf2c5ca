//! Every name is found, or the start is refused.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{others, within};

fn place() -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().canonicalize().unwrap();
    fs::create_dir_all(path.join("work/deep")).unwrap();
    fs::create_dir_all(path.join("outside")).unwrap();
    fs::write(path.join("work/secret"), "s").unwrap();
    (dir, path)
}

#[test]
fn a_file_with_one_name_has_no_other() {
    let (_dir, base) = place();
    assert_eq!(others(&[base.join("work/secret")], &[]).unwrap(), Vec::<PathBuf>::new());
}

#[test]
fn names_below_beside_and_outside_are_found() {
    let (_dir, base) = place();
    let secret = base.join("work/secret");
    let aliases = [base.join("outside/c"), base.join("work/b"), base.join("work/deep/a")];
    for alias in &aliases {
        fs::hard_link(&secret, alias).unwrap();
    }
    assert_eq!(others(std::slice::from_ref(&secret), &[]).unwrap(), aliases);
    let both = [secret, base.join("work/b")];
    assert_eq!(
        others(&both, &[base.join("work")]).unwrap(),
        [aliases[0].clone(), aliases[2].clone()]
    );
}

#[test]
fn a_name_that_is_not_found_is_a_refusal() {
    let (_dir, base) = place();
    let secret = base.join("work/secret");
    fs::hard_link(&secret, base.join("outside/c")).unwrap();
    let refusal = within(std::slice::from_ref(&secret), &[], 1).unwrap_err().to_string();
    assert!(refusal.contains("1 hard links of a file were not found"), "{refusal}");
    assert_eq!(within(&[secret], &[], 100).unwrap(), [base.join("outside/c")]);
}
