//! What would be started: where a program lies, and the SHA-256 of it.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// SHA-256 (hex) of a file.
///
/// # Errors
/// The file cannot be read.
pub fn sha256(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize().iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

/// The file that this name would start: itself when it holds a slash, else the first executable
/// of that name on `PATH`.
#[must_use]
pub fn find(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return startable(path).then(|| path.to_path_buf());
    }
    let search = std::env::var_os("PATH")?;
    std::env::split_paths(&search).map(|folder| folder.join(path)).find(|file| startable(file))
}

/// A file that this user may execute.
fn startable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_content() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "abc").unwrap();
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&file).unwrap(), known);
    }

    #[test]
    fn finds_what_can_be_started_only() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "abc").unwrap();
        assert_eq!(find(file.as_os_str()), None);
        assert_eq!(find(dir.path().as_os_str()), None);
        assert!(find(OsStr::new("sh")).is_some_and(|sh| sh.ends_with("sh")));
        assert_eq!(find(OsStr::new("no-such-program-anywhere")), None);
    }
}
