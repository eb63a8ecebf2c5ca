//! Every name is found, or the start is refused.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{Found, others, search, within};

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
fn grok_3_27_a_link_of_a_named_file_that_is_not_found_is_a_refusal() {
    let (_dir, base) = place();
    let secret = [base.join("work/secret")];
    fs::hard_link(&secret[0], base.join("outside/c")).unwrap();
    let refusal = within(&secret, &[], &[], 1).unwrap_err().to_string();
    assert!(refusal.contains("1 hard links of a file were not found"), "{refusal}");
    assert_eq!(within(&secret, &[], &[], 100).unwrap().names, [base.join("outside/c")]);
}

#[test]
fn grok_3_27_a_link_of_a_matched_file_that_is_not_found_is_told() {
    let (_dir, base) = place();
    let secret = [base.join("work/secret")];
    fs::hard_link(&secret[0], base.join("outside/c")).unwrap();
    let near = [base.join("work")];
    let told = Found { names: vec![], unknown: vec![(secret[0].clone(), 1)] };
    assert_eq!(search(&[], &secret, &near).unwrap(), told);
    let near = [base.join("work"), base.join("outside")];
    let found = Found { names: vec![base.join("outside/c")], unknown: vec![] };
    assert_eq!(search(&[], &secret, &near).unwrap(), found);
    // Named as well, it is looked for everywhere.
    assert_eq!(search(&secret, &secret, &[]).unwrap(), found);
}

#[test]
fn grok_3_27_links_among_the_matches_need_no_search() {
    let (_dir, base) = place();
    let both = [base.join("work/secret"), base.join("work/twin")];
    fs::hard_link(&both[0], &both[1]).unwrap();
    assert_eq!(search(&[], &both, &[]).unwrap(), Found::default());
    assert_eq!(search(&both, &[], &[]).unwrap(), Found::default());
}
