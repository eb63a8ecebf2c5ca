//! Every name of what is denied is found.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use sandproof_scenarios::Profile;

use super::*;
use crate::confine::grants::Grants;

/// The rules for a plan that denies this.
fn rules(root: &Path, deny: &[PathBuf], globs: &[String]) -> Result<Rules, Refusal> {
    let around = Surroundings { workspace: root.to_path_buf(), ..Surroundings::default() };
    let plan = Plan {
        mask: deny.to_vec(),
        globs: globs.to_vec(),
        ..Plan::granting(Profile::Off, Grants::default())
    };
    super::rules(&plan, &around).map(|(rules, _)| rules)
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    (dir, root)
}

#[test]
fn what_is_denied_has_every_name() {
    let (_dir, root) = folder();
    fs::write(root.join("real"), "x").unwrap();
    fs::hard_link(root.join("real"), root.join("twin")).unwrap();
    symlink("real", root.join("link")).unwrap();
    let deny = [root.join("link"), root.join("missing/below")];
    let found = rules(&root, &deny, &[]).unwrap();
    let wanted = ["link", "missing/below", "real", "twin"].map(|name| root.join(name));
    assert_eq!(found.deny, wanted);
}

#[test]
fn what_a_matching_link_leads_to_is_denied_as_well() {
    let (_dir, root) = folder();
    fs::create_dir(root.join("in")).unwrap();
    fs::write(root.join("real.txt"), "x").unwrap();
    fs::write(root.join("in/a.pem"), "x").unwrap();
    symlink(root.join("real.txt"), root.join("in/b.pem")).unwrap();
    let globs = [format!("{}/in/*.pem", root.display())];
    let found = rules(&root, &[], &globs).unwrap();
    assert_eq!(found.deny, [root.join("real.txt")]);
    assert_eq!(found.glob_matches, ["in/a.pem", "in/b.pem"].map(|name| root.join(name)));
    assert_eq!(found.deny_globs, globs);
}

#[test]
fn a_glob_below_a_link_is_meant_below_its_target() {
    let (_dir, root) = folder();
    fs::create_dir(root.join("real")).unwrap();
    symlink("real", root.join("way")).unwrap();
    // The folder `none` is not there yet: the nearest that is counts.
    let globs = [format!("{}/way/none/**/*.pem", root.display())];
    let found = rules(&root, &[], &globs).unwrap();
    let other = format!("{}/real/none/**/*.pem", root.display());
    assert_eq!(found.deny_globs, [globs[0].clone(), other]);

    fs::create_dir(root.join("o[d]d")).unwrap();
    symlink("o[d]d", root.join("odd")).unwrap();
    let globs = [format!("{}/odd/*.pem", root.display())];
    let error = rules(&root, &[], &globs).unwrap_err().to_string();
    assert!(error.contains("cannot be named in a glob") && error.contains("o[d]d"), "{error}");
}

#[test]
fn a_glob_outside_the_grammar_is_a_refusal() {
    let (_dir, root) = folder();
    let globs = ["/a/{b,c}*".to_owned()];
    assert!(rules(&root, &[], &globs).unwrap_err().to_string().contains("/a/{b,c}*"));
}

#[test]
fn hard_links_of_matches_are_denied_and_missing_ones_told() {
    let (_dir, root) = folder();
    let (_other, elsewhere) = folder();
    for name in ["a.pem", "b.pem"] {
        fs::write(root.join(name), "x").unwrap();
    }
    fs::hard_link(root.join("a.pem"), root.join("twin")).unwrap();
    fs::hard_link(root.join("b.pem"), elsewhere.join("far")).unwrap();
    let around = Surroundings { workspace: root.clone(), ..Surroundings::default() };
    let globs = vec![format!("{}/*.pem", root.display())];
    let plan = Plan { globs, pins: false, ..Plan::granting(Profile::Off, Grants::default()) };
    let (found, unfound) = super::rules(&plan, &around).unwrap();
    assert_eq!(found.deny, [root.join("twin")]);
    assert_eq!(unfound, [(root.join("b.pem"), 1)]);
    assert!(!found.pin_deny);
}

#[test]
fn the_limits_of_the_plan_hold() {
    let (_dir, root) = folder();
    for name in ["a.pem", "b.pem"] {
        fs::write(root.join(name), "x").unwrap();
    }
    let around = Surroundings { workspace: root.clone(), ..Surroundings::default() };
    let globs = vec![format!("{}/*.pem", root.display())];
    let with = |matches| {
        let limits = Limits { matches, ..Limits::default() };
        let bare = Plan::granting(Profile::Off, Grants::default());
        super::rules(&Plan { globs: globs.clone(), limits, ..bare }, &around)
    };
    assert!(with(2).is_ok());
    assert!(with(1).unwrap_err().to_string().contains("more than 1 matches"));
}
