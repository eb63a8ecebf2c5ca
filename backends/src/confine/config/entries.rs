//! The paths in `sandbox.toml`: what is accepted, and the pattern at the end of a root.

use std::path::{Path, PathBuf};

use crate::confine::mutant::{self, Mutant};

/// Patterns at the end of a root that mean the folder itself; the longest that fits is taken.
const ENDINGS: [&str; 4] = ["/**/*", "/**/", "/**", "/*"];

/// What is wrong with an entry of any list: nothing here is expanded or trimmed, so what looks as
/// if it should be would name a path nobody meant.
#[must_use]
pub fn mistake(entry: &str) -> Option<String> {
    let wrong = if entry.is_empty() {
        "the path is empty; remove it"
    } else if entry.trim() != entry {
        "the path begins or ends with a space; write it without, nothing is trimmed"
    } else if entry.starts_with('~') && !mutant::on(Mutant::ConfigTildeAccepted) {
        "`~` is not expanded; write the whole path"
    } else if entry.split('/').any(|part| part.starts_with('$')) {
        "variables are not expanded; write the whole path"
    } else if entry.contains(char::is_control) {
        "the path holds a control character; name a folder above it"
    } else {
        return None;
    };
    Some(wrong.to_owned())
}

/// The root that an entry of `read_only` or `read_write` names: exactly one pattern at its end is
/// taken off, any other is a mistake.
pub(super) fn root(entry: &str) -> Result<PathBuf, String> {
    let stripped = ENDINGS.iter().find_map(|ending| entry.strip_suffix(ending));
    let root = match stripped {
        Some("") => "/",
        Some(root) => root,
        None => entry,
    };
    if root.contains(['*', '?', '[']) {
        return Err(format!(
            "`{entry}` is a pattern; name folders here, with `/**` at their end at most"
        ));
    }
    Ok(PathBuf::from(root))
}

/// What is wrong with a root that exists. One that does not is no mistake.
pub(super) fn no_folder(root: &Path, cwd: &Path) -> Option<String> {
    let path = cwd.join(root);
    let file = path.metadata().is_ok_and(|meta| !meta.is_dir());
    (file && !mutant::on(Mutant::ConfigFileAsRoot))
        .then(|| "a file cannot be a root; name the folder that holds it".to_owned())
}
