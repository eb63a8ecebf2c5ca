//! Filters of a rule: which paths it is about, in every spelling.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::TextError;
use super::regex::{escape, fold};

/// Folders of macOS that are symlinks into `/private`.
const PRIVATE: [&str; 3] = ["/tmp", "/var", "/etc"];

/// Each path as it is and with `/private` toggled: rules go by the real path, programs by either.
pub(super) fn spellings(paths: &[PathBuf]) -> BTreeSet<PathBuf> {
    paths.iter().flat_map(|path| std::iter::once(path.clone()).chain(private(path))).collect()
}

/// The other spelling of a path under a folder that is a symlink into `/private`.
pub(super) fn private(path: &Path) -> Option<PathBuf> {
    let real = path.strip_prefix("/private").map(|rest| Path::new("/").join(rest));
    let plain = real.as_deref().unwrap_or(path);
    if !PRIVATE.iter().any(|folder| plain.starts_with(folder)) {
        return None;
    }
    let other =
        real.is_err().then(|| Path::new("/private").join(plain.strip_prefix("/").unwrap_or(plain)));
    other.or_else(|| Some(plain.to_path_buf()))
}

/// A folder and all below it.
pub(super) fn below(path: &Path) -> Result<String, TextError> {
    Ok(format!("(subpath {})", quoted(path)?))
}

/// This path alone.
pub(super) fn alone(path: &Path) -> Result<String, TextError> {
    Ok(format!("(literal {})", quoted(path)?))
}

/// A path and all below it, whether it is a file, a folder, or not there yet. Where case does not
/// matter to the volume it must not matter to the rule.
pub(super) fn whole(path: &Path, folded: bool) -> Result<Vec<String>, TextError> {
    let mut filters = vec![alone(path)?, below(path)?];
    if folded {
        filters.push(expression(&format!("^{}(/.*)?$", folded_path(path)?)));
    }
    Ok(filters)
}

/// This path alone, likewise.
pub(super) fn only(path: &Path, folded: bool) -> Result<Vec<String>, TextError> {
    let mut filters = vec![alone(path)?];
    if folded {
        filters.push(expression(&format!("^{}$", folded_path(path)?)));
    }
    Ok(filters)
}

/// A regular expression.
pub(super) fn expression(regex: &str) -> String {
    format!("(regex #\"{regex}\")")
}

fn folded_path(path: &Path) -> Result<String, TextError> {
    Ok(checked(path)?.chars().map(|c| fold(c).unwrap_or_else(|| escape(c))).collect())
}

/// A path as a string of the profile language.
fn quoted(path: &Path) -> Result<String, TextError> {
    Ok(format!("\"{}\"", checked(path)?.replace('\\', "\\\\").replace('"', "\\\"")))
}

fn checked(path: &Path) -> Result<&str, TextError> {
    let refuse = |why| TextError::Path { path: path.display().to_string(), why };
    let text = path.to_str().ok_or_else(|| refuse("bytes that are not UTF-8"))?;
    if text.chars().any(char::is_control) {
        return Err(refuse("a control character"));
    }
    Ok(text)
}
