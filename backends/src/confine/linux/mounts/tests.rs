//! Verification without any mount: nothing passes for a cover.

use std::fs;
use std::path::{Path, PathBuf};

use rstest::rstest;

use super::{Laid, check, target};
use crate::confine::cover::{Cover, Kind};
use crate::confine::identity::Identity;

fn cover(kind: Kind, path: &Path) -> Cover {
    Cover { kind, path: path.to_path_buf(), identity: Identity::of(path).ok() }
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    (dir, path)
}

#[rstest]
#[case(Kind::Open)]
#[case(Kind::Fresh)]
#[case(Kind::Pin)]
#[case(Kind::Freeze)]
#[case(Kind::Mask)]
fn grok_4_15_a_path_without_its_mount_is_found(#[case] kind: Kind) {
    let (_dir, base) = place();
    let file = base.join("closed");
    fs::write(&file, "").unwrap();
    // As closed as a mask, but none.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o000);
    fs::set_permissions(&file, mode).unwrap();
    for path in [&base, &file] {
        let refusal = check(&[cover(kind, path)], false, &Laid::default()).unwrap_err();
        assert!(refusal.to_string().contains("a cover is not in place"), "{refusal}");
    }
}

/// Read-only file systems and mounts of the host are no covers of ours.
#[test]
fn grok_4_15_a_mount_of_the_host_is_no_cover() {
    let root = Path::new("/proc");
    for kind in [Kind::Freeze, Kind::Mask, Kind::Fresh] {
        assert!(check(&[cover(kind, root)], false, &Laid::default()).is_err(), "{kind:?}");
    }
    // It cannot be moved; but it is not the mount that was laid.
    assert!(check(&[cover(Kind::Pin, root)], false, &Laid::default()).is_ok());
    let laid = Laid { device: None, mounts: vec![Some(u64::MAX)] };
    assert!(check(&[cover(Kind::Pin, root)], false, &laid).is_err());
}

#[test]
fn grok_4_15_a_missing_path_is_found() {
    let (_dir, base) = place();
    assert!(check(&[cover(Kind::Mask, &base.join("none"))], false, &Laid::default()).is_err());
}

#[test]
fn grok_4_14_what_was_replaced_is_not_covered() {
    let (_dir, base) = place();
    let file = base.join("file");
    fs::write(&file, "a").unwrap();
    let planned = cover(Kind::Mask, &file);
    assert!(target(&planned).is_ok());
    fs::write(base.join("decoy"), "b").unwrap();
    fs::rename(base.join("decoy"), &file).unwrap();
    assert!(target(&planned).unwrap_err().to_string().contains("replaced"));
    // Another type, another number of links, a symlink on the way.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(target(&planned).is_err());
    let linked = base.join("linked");
    fs::write(&linked, "c").unwrap();
    let planned = cover(Kind::Freeze, &linked);
    fs::hard_link(&linked, base.join("second")).unwrap();
    assert!(target(&planned).is_err());
    let folder = base.join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("leaf"), "d").unwrap();
    let planned = cover(Kind::Freeze, &folder.join("leaf"));
    fs::rename(&folder, base.join("moved")).unwrap();
    std::os::unix::fs::symlink(base.join("moved"), &folder).unwrap();
    assert!(target(&planned).is_err());
}
