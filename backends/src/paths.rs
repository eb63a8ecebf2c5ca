//! Lists of paths: which of them already cover the others.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// The real paths of these (a dangling or missing one as written), sorted, without those at or
/// below another. Who masks a folder need not, and often cannot, mask what is in it.
#[must_use]
pub fn outermost(paths: &[PathBuf]) -> Vec<PathBuf> {
    let real: BTreeSet<PathBuf> =
        paths.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).collect();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in real {
        // Sorted by component, everything below a path follows it at once.
        if !kept.last().is_some_and(|outer| path.starts_with(outer)) {
            kept.push(path);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_another_is_dropped() {
        let paths = ["/q/a/b", "/q/a-b", "/q/a", "/q/a/b/c", "/q/b"].map(PathBuf::from);
        assert_eq!(outermost(&paths), ["/q/a", "/q/a-b", "/q/b"].map(PathBuf::from));
    }

    #[test]
    fn links_are_resolved() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        std::os::unix::fs::symlink(root.join("file"), root.join("link")).unwrap();
        assert_eq!(outermost(&[root.join("link"), root.join("file")]), [root.join("file")]);
    }
}
