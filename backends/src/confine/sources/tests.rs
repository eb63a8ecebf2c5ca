//! The rules about GROK_HOME, each with the state that is accepted beside the one that is not.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rstest::rstest;
use tempfile::TempDir;

use super::Sources;

/// A folder whose path holds no symlink, and a GROK_HOME in it that is not made yet.
fn place() -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let grok = dir.path().canonicalize().unwrap().join("home/.grok");
    (dir, grok)
}

fn refusal(grok: &Path) -> String {
    Sources::prepare(grok).unwrap_err().to_string()
}

#[test]
fn grok_6_3_missing_slots_are_made_once_and_never_emptied() {
    let (_dir, grok) = place();
    let first = Sources::prepare(&grok).unwrap();
    assert_eq!(first.paths(), [grok.join("hooks"), grok.join("hooks-paths")]);
    assert!(grok.join("hooks").is_dir());
    fs::write(grok.join("hooks-paths"), "# a note\n~/x\nrelative\n\n").unwrap();
    assert_eq!(Sources::prepare(&grok).unwrap().paths(), first.paths());
    assert!(fs::read_to_string(grok.join("hooks-paths")).unwrap().starts_with("# a note"));
}

#[test]
fn grok_6_6_targets_and_hook_files_are_sources() {
    let (dir, grok) = place();
    Sources::prepare(&grok).unwrap();
    let target = dir.path().canonicalize().unwrap().join("extra");
    fs::create_dir(&target).unwrap();
    for name in ["b.json", ".hidden.json", "c.json~", ".json", "d.txt"] {
        fs::write(target.join(name), "{}").unwrap();
    }
    fs::write(grok.join("hooks/a.json"), "{}").unwrap();
    fs::write(grok.join("hooks-paths"), format!("  {0} \n{0}\n", target.display())).unwrap();
    let paths = Sources::prepare(&grok).unwrap().paths();
    let wanted = [
        grok.join("hooks/a.json"),
        grok.join("hooks"),
        grok.join("hooks-paths"),
        target.join("b.json"),
        target.clone(),
    ];
    assert_eq!(paths, wanted);
}

#[test]
fn grok_6_2_a_symlink_on_the_way_is_refused() {
    let (dir, _) = place();
    let real = dir.path().canonicalize().unwrap().join("real");
    let link = dir.path().canonicalize().unwrap().join("link");
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    assert!(refusal(&link.join("below")).contains("a symlink leads to hook sources"));
    assert!(refusal(&link).contains("a symlink leads to hook sources"));
    assert_eq!(fs::read_dir(&real).unwrap().count(), 0);
    Sources::prepare(&real).unwrap();
}

#[rstest]
#[case::hooks_is_a_symlink("hooks", "a hook slot is no folder")]
#[case::registry_is_a_symlink("hooks-paths", "a hook slot is no file")]
fn grok_6_4_a_symlinked_slot_is_refused(#[case] slot: &str, #[case] why: &str) {
    let (dir, grok) = place();
    fs::create_dir_all(&grok).unwrap();
    let other = dir.path().join("other");
    if slot == "hooks" {
        fs::create_dir(&other).unwrap();
    } else {
        fs::write(&other, "").unwrap();
    }
    symlink(&other, grok.join(slot)).unwrap();
    assert!(refusal(&grok).contains(why));
}

#[test]
fn grok_6_4_a_slot_of_the_wrong_type_is_refused() {
    let (_dir, grok) = place();
    fs::create_dir_all(grok.join("hooks-paths")).unwrap();
    assert!(refusal(&grok).contains("a hook slot is no file"));
    fs::remove_dir(grok.join("hooks-paths")).unwrap();
    assert!(!grok.join("hooks").exists(), "a refusal made a slot");
    fs::write(grok.join("hooks"), "").unwrap();
    assert!(refusal(&grok).contains("a hook slot is no folder"));
}

#[test]
fn grok_6_4_a_second_hard_link_is_refused() {
    let (dir, grok) = place();
    Sources::prepare(&grok).unwrap();
    for file in ["hooks/a.json", "hooks-paths"] {
        let (file, alias) = (grok.join(file), dir.path().join("alias"));
        fs::write(&file, "").unwrap();
        Sources::prepare(&grok).unwrap();
        fs::hard_link(&file, &alias).unwrap();
        assert!(refusal(&grok).contains("second hard link"));
        fs::remove_file(alias).unwrap();
    }
}

#[test]
fn grok_6_4_a_symlinked_hook_file_is_refused() {
    let (dir, grok) = place();
    Sources::prepare(&grok).unwrap();
    fs::write(dir.path().join("real.json"), "{}").unwrap();
    symlink(dir.path().join("real.json"), grok.join("hooks/a.json")).unwrap();
    assert!(refusal(&grok).contains("no regular file"));
}

#[test]
fn grok_6_4_a_missing_or_symlinked_target_is_refused() {
    let (dir, grok) = place();
    Sources::prepare(&grok).unwrap();
    let base = dir.path().canonicalize().unwrap();
    let target = base.join("hook.sh");
    fs::write(grok.join("hooks-paths"), target.display().to_string()).unwrap();
    assert!(refusal(&grok).contains("cannot be looked at"));
    fs::write(&target, "").unwrap();
    Sources::prepare(&grok).unwrap();
    fs::rename(&target, base.join("moved")).unwrap();
    symlink(base.join("moved"), &target).unwrap();
    assert!(refusal(&grok).contains("a symlink leads to hook sources"));
}

#[test]
fn grok_6_4_a_registry_that_is_not_text_is_refused() {
    let (_dir, grok) = place();
    Sources::prepare(&grok).unwrap();
    fs::write(grok.join("hooks-paths"), b"/\xff").unwrap();
    assert!(refusal(&grok).contains("hooks-paths"));
}

#[rstest]
#[case::replaced(|grok: &Path| {
    fs::rename(grok.join("hooks-paths"), grok.join("old")).unwrap();
    fs::write(grok.join("hooks-paths"), "").unwrap();
})]
#[case::late_hook_file(|grok: &Path| fs::write(grok.join("hooks/late.json"), "").unwrap())]
#[case::linked(|grok: &Path| {
    fs::hard_link(grok.join("hooks-paths"), grok.join("alias")).unwrap();
})]
fn grok_6_4_a_change_after_the_plan_is_seen(#[case] change: fn(&Path)) {
    let (_dir, grok) = place();
    let sources = Sources::prepare(&grok).unwrap();
    sources.recheck().unwrap();
    change(&grok);
    let refusal = sources.recheck().unwrap_err().to_string();
    assert!(refusal.contains("changed while confine started"), "{refusal}");
}

#[test]
fn grok_6_5_lines_are_trimmed_and_only_absolute_ones_count() {
    let (dir, grok) = place();
    Sources::prepare(&grok).unwrap();
    let target = dir.path().canonicalize().unwrap().join("hook.sh");
    fs::write(&target, "").unwrap();
    let path = target.display();
    let ignored = "# note\n\n~/hook.sh\nhook.sh\n./hook.sh\n$HOME/hook.sh\n";
    fs::write(grok.join("hooks-paths"), format!("{ignored}\t{path} \n{path}\n")).unwrap();
    let paths = Sources::prepare(&grok).unwrap().paths();
    assert_eq!(paths, [grok.join("hooks"), grok.join("hooks-paths"), target]);
}

#[test]
fn grok_6_7_a_target_may_lie_anywhere() {
    let (dir, grok) = place();
    Sources::prepare(&grok).unwrap();
    let outside = dir.path().canonicalize().unwrap().join("elsewhere.sh");
    fs::write(&outside, "").unwrap();
    fs::write(grok.join("hooks-paths"), outside.display().to_string()).unwrap();
    assert!(Sources::prepare(&grok).unwrap().paths().contains(&outside));
}

#[test]
fn grok_6_2_folders_of_the_system_may_be_symlinks() {
    // On macOS these are; here the rule is what can be seen.
    for exempt in super::EXEMPT {
        let below = Path::new(exempt).join("no-such-folder/grok");
        super::no_symlink(&below).unwrap();
    }
}
