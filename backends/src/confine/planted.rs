//! Symlinks that an earlier command could have planted. A root is what its path leads to, so whoever
//! replaces it by a link to another folder reads or writes there the next time.

use std::path::{Path, PathBuf};

use super::cover::inside_any;
use super::grants::TEMP;
use super::mutant::{self, Mutant};
use super::refusal::Refusal;
use super::resolve;

/// Refuses a root, called `what`, to which a symlink leads from inside the folders `written`
/// or one for temporary files. One that leads into the folders `granted` anyway changes nothing.
///
/// # Errors
/// There is such a link.
pub fn refuse(
    root: &Path,
    what: &str,
    written: &[PathBuf],
    granted: &[PathBuf],
) -> Result<(), Refusal> {
    let known = root.canonicalize().is_ok_and(|real| inside_any(&real, granted));
    if known || mutant::on(Mutant::PlantedRootsAccepted) {
        return Ok(());
    }
    let temp = TEMP.iter().filter_map(|temp| Path::new(temp).canonicalize().ok());
    let places: Vec<PathBuf> = temp.chain(written.iter().cloned()).collect();
    // The root itself is on the way to what lies in it.
    let links = resolve::links_on_the_way(&root.join("any"));
    match links.iter().find(|link| inside_any(link, &places)) {
        Some(link) => {
            let what = format!("a symlink that a command may have made leads to {what}");
            Err(Refusal::at(what, link, "name the folder that is meant"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn links_that_lead_out_of_what_is_written_are_refused() {
        let dir = TempDir::new().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for folder in ["work/real", "keys"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        symlink("../keys", base.join("work/out")).unwrap();
        symlink("real", base.join("work/in")).unwrap();
        let written = [base.join("work")];
        let answer = |path: &str, granted: &[PathBuf]| {
            refuse(&base.join(path), "a write root", &written, granted).is_ok()
        };
        assert!(!answer("work/out", &written));
        assert!(answer("work/in", &written));
        assert!(answer("work/real", &[]));
        assert!(!answer("work/in", &[]), "the workspace is not granted, its link leads into it");
    }
}
