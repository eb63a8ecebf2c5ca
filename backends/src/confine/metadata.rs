//! The metadata that `workspace-write` protects at the top of each write root.

use std::fs;
use std::path::{Path, PathBuf};

use super::refusal::Refusal;
use super::resolve;

/// Names at the top of a write root that may be read and not written, there or not.
const NAMES: [&str; 3] = [".git", ".agents", ".codex"];

/// The metadata of these write roots; where `.git` is a file that points to a repository
/// elsewhere, that as well.
///
/// # Errors
/// A path that cannot be resolved.
pub fn of(roots: &[PathBuf]) -> Result<Vec<PathBuf>, Refusal> {
    let mut paths = Vec::new();
    for root in roots.iter().filter(|root| root.is_dir()) {
        for name in NAMES {
            paths.extend(resolve::entry(&root.join(name))?.all());
        }
        if let Some(repository) = pointed_to(&root.join(".git")) {
            paths.push(repository);
        }
    }
    Ok(paths)
}

/// Where a `.git` file leads, if it is one and leads anywhere.
fn pointed_to(file: &Path) -> Option<PathBuf> {
    // A named pipe would wait for a writer.
    fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    let text = fs::read_to_string(file).ok()?;
    let target = text.lines().next()?.strip_prefix("gitdir:")?.trim();
    file.parent()?.join(target).canonicalize().ok()
}

#[cfg(test)]
mod tests;
