//! Which files are state, there or not.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

/// A GROK_HOME and a workspace, both writable.
fn place() -> (TempDir, PathBuf, PathBuf) {
    let dir = TempDir::new().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (grok, work) = (base.join("grok"), base.join("work"));
    fs::create_dir(&grok).unwrap();
    fs::create_dir(&work).unwrap();
    (dir, grok, work)
}

#[test]
fn what_is_missing_is_kept_where_it_could_be_made() {
    let (_dir, grok, work) = place();
    let state = of(&grok, &work, &[grok.clone(), work.clone()]).unwrap();
    assert_eq!(state.files.len(), FILES.len());
    assert_eq!(state.logs, LOGS.map(|name| grok.join(name)));
    assert_eq!(state.folders, [grok.join("sessions"), work.join(".grok")]);
    let state = of(&grok, &work, std::slice::from_ref(&grok)).unwrap();
    assert_eq!(state.folders, [grok.join("sessions")], "the workspace is not written");
}

#[test]
fn a_folder_of_the_workspace_stays_writable_but_for_its_profiles() {
    let (_dir, grok, work) = place();
    fs::create_dir(work.join(".grok")).unwrap();
    let state = of(&grok, &work, std::slice::from_ref(&work)).unwrap();
    assert_eq!(state.files, [work.join(".grok/sandbox.toml")]);
    assert_eq!(state.folders, Vec::<PathBuf>::new());
}

#[test]
fn a_linked_settings_file_is_kept_under_both_names() {
    let (_dir, grok, work) = place();
    fs::write(work.join("dotfiles.toml"), "").unwrap();
    symlink(work.join("dotfiles.toml"), grok.join("config.toml")).unwrap();
    let state = of(&grok, &work, &[]).unwrap();
    assert_eq!(state.files, [grok.join("config.toml"), work.join("dotfiles.toml")]);
}
