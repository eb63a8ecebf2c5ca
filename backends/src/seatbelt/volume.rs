//! Whether a volume takes `A` and `a` for the same letter, found by asking it.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// True when a folder on the way to `path` is found under a name in the other case as well.
#[must_use]
pub fn folds_case(path: &Path) -> bool {
    path.ancestors().any(|folder| {
        let found = turned(folder).and_then(|other| fs::symlink_metadata(other).ok());
        found.is_some_and(|other| fs::symlink_metadata(folder).is_ok_and(|own| same(&own, &other)))
    })
}

fn same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// The path with the letters of its last name turned around; nothing when it has none.
fn turned(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let turn = |c: char| {
        if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
    };
    let other: String = name.chars().map(turn).collect();
    (other != name).then(|| path.with_file_name(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_the_other_case_is_the_same_file_only_when_the_volume_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("aB9");
        fs::write(&path, "").unwrap();
        assert_eq!(turned(&path), Some(dir.path().join("Ab9")));
        assert_eq!(turned(Path::new("/12")), None);
        assert!(!folds_case(&path));
        // A second name of the same file is what a volume that folds looks like from here.
        fs::hard_link(&path, dir.path().join("Ab9")).unwrap();
        assert!(folds_case(&path));
    }
}
