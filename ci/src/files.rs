//! The files of the workspace, without what is built and without history.

use std::fs;
use std::path::Path;

use crate::finding::CheckError;

/// Folders that are not ours to check.
const SKIPPED: [&str; 2] = ["target", ".git"];

/// A text file.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Relative to the workspace, with `/`.
    pub(crate) path: String,
    /// What it holds.
    pub(crate) text: String,
}

impl Source {
    /// True for a Rust file.
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

/// All text files, sorted by path. Files that are no UTF-8 hold nothing that is checked.
pub(crate) fn all(root: &Path) -> Result<Vec<Source>, CheckError> {
    let mut sources = Vec::new();
    collect(root, "", &mut sources)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

/// All Rust files; none is an error, since a check of nothing would look like a success.
pub(crate) fn rust(root: &Path) -> Result<Vec<Source>, CheckError> {
    let mut sources = all(root)?;
    sources.retain(Source::is_rust);
    if sources.is_empty() {
        return Err(CheckError::Nothing { root: root.to_path_buf(), what: "Rust file" });
    }
    Ok(sources)
}

fn collect(folder: &Path, prefix: &str, sources: &mut Vec<Source>) -> Result<(), CheckError> {
    for entry in fs::read_dir(folder).map_err(CheckError::read(folder))? {
        let entry = entry.map_err(CheckError::read(folder))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(CheckError::read(&path))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let place = format!("{prefix}{name}");
        if kind.is_dir() && !SKIPPED.contains(&name.as_str()) {
            collect(&path, &format!("{place}/"), sources)?;
        } else if kind.is_file() && !SKIPPED.contains(&name.as_str()) {
            let bytes = fs::read(&path).map_err(CheckError::read(&path))?;
            if let Ok(text) = String::from_utf8(bytes) {
                sources.push(Source { path: place, text });
            }
        }
    }
    Ok(())
}

/// Plants files in a fresh folder, for tests.
#[cfg(test)]
pub(crate) fn planted(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a temporary folder");
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a new folder");
        fs::write(path, text).expect("a new file");
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_files_and_history_are_left_out() {
        let root = planted(&[("a/b.rs", ""), ("target/c.rs", ""), ("a/target/d.rs", "")]);
        fs::create_dir(root.path().join(".git")).unwrap();
        fs::write(root.path().join(".git/e.rs"), "").unwrap();
        fs::write(root.path().join("bytes.rs"), b"\xff").unwrap();
        let paths: Vec<_> = rust(root.path()).unwrap().into_iter().map(|s| s.path).collect();
        assert_eq!(paths, ["a/b.rs"]);
    }

    #[test]
    fn a_folder_without_rust_is_an_error() {
        let root = planted(&[("readme.md", "x\n")]);
        assert!(matches!(rust(root.path()), Err(CheckError::Nothing { .. })));
    }
}
