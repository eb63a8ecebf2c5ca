//! Translates a deny glob to the regular expressions of a profile, which also match what appears
//! later.

use std::path::{Path, PathBuf};

use super::TextError;
use crate::glob::walk_root;

/// One expression for each spelling of the folder the glob begins in. The glob must have been
/// compiled before; here it is only translated.
pub(super) fn regexes(
    glob: &str,
    other: fn(&Path) -> Option<PathBuf>,
) -> Result<Vec<String>, TextError> {
    if glob.chars().any(char::is_control) {
        return Err(TextError::Path { path: glob.to_owned(), why: "a control character" });
    }
    let root = walk_root(glob);
    let tail = Path::new(glob).strip_prefix(&root).unwrap_or(Path::new(glob));
    let tail = translate(&tail.to_string_lossy());
    let roots = std::iter::once(root.clone()).chain(other(&root));
    Ok(roots
        .map(|root| {
            let root = root.to_string_lossy();
            format!("^{}/{tail}$", escape(root.trim_end_matches('/')))
        })
        .collect())
}

/// Segments after the root.
fn translate(tail: &str) -> String {
    let segments: Vec<&str> = tail.split('/').collect();
    let last = segments.len() - 1;
    let translated = segments.iter().enumerate().map(|(index, segment)| match (*segment, index) {
        ("**", index) if index == last => ".+".to_owned(),
        ("**", _) => "(.*/)?".to_owned(),
        (segment, index) if index == last => inner(segment),
        (segment, _) => format!("{}/", inner(segment)),
    });
    translated.collect()
}

/// One segment.
fn inner(segment: &str) -> String {
    let mut out = String::new();
    let mut chars = segment.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '[' => out.push_str(&class(&mut chars)),
            c => out.push_str(&escape(&c.to_string())),
        }
    }
    out
}

/// A class; a negated one must not match a slash.
fn class(chars: &mut std::str::Chars<'_>) -> String {
    let body: String = chars.by_ref().take_while(|&c| c != ']').collect();
    match body.strip_prefix(['!', '^']) {
        Some(body) => format!("[^/{}]", body.replace('"', "\\\"")),
        None => format!("[{}]", body.replace('"', "\\\"")),
    }
}

/// Text that stands for itself.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if r".+*?()|[]{}^$\".contains(c) || c == '"' {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
