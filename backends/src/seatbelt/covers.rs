//! Rules for what is denied and protected, and the pins of the folders that hold it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::filter::{expression, only, private, spellings, whole};
use super::regex::regexes;
use super::{Rules, TextError};

/// Every way to learn what a file holds, or to run it. A family alone would not do: see the notes
/// on how the kernel reads a profile.
const READING: &str = "file-read* file-read-data file-read-metadata file-read-xattr \
                       file-map-executable file-ioctl process-exec";

/// Every way to change a file, or to give it another name.
const WRITING: &str = "file-write* file-write-data file-write-create file-write-unlink \
                       file-write-mode file-write-owner file-write-flags file-write-times \
                       file-write-setugid file-write-xattr file-link";

/// A copy on write reads a file without reading it.
const COPYING: &str = "file-clone";

/// What moves or replaces a folder.
const MOVING: &str = "file-write-unlink file-write-create";

/// All rules, the weaker ones first.
pub(super) fn covers(rules: &Rules) -> Result<Vec<String>, TextError> {
    let folded = rules.fold_case;
    let mut lines = Vec::new();
    for path in spellings(&rules.protect) {
        let filters = whole(&path, folded)?;
        lines.push(format!("(deny {WRITING} {})\n", filters.join(" ")));
        lines.push(format!("(deny network-bind {})\n", sockets("local", &filters)));
    }
    for path in spellings(&rules.deny) {
        lines.extend(deny(&whole(&path, folded)?));
    }
    for glob in &rules.deny_globs {
        for regex in regexes(glob, private, folded)? {
            lines.extend(deny(&[expression(&regex)]));
        }
    }
    for pin in pins(rules) {
        lines.push(format!("(deny {MOVING} {})\n", only(&pin, folded)?.join(" ")));
    }
    Ok(lines)
}

/// Closes paths whole, as files and as sockets.
fn deny(filters: &[String]) -> Vec<String> {
    vec![
        format!("(deny {READING} {COPYING} {WRITING} {})\n", filters.join(" ")),
        format!("(deny network-outbound {})\n", sockets("remote", filters)),
        format!("(deny network-bind {})\n", sockets("local", filters)),
    ]
}

fn sockets(end: &str, filters: &[String]) -> String {
    let filters: Vec<String> =
        filters.iter().map(|filter| format!("({end} unix-socket {filter})")).collect();
    filters.join(" ")
}

/// The folders between a leaf and the outermost write root that holds it. A rule goes by path, so
/// whoever moves such a folder moves what it holds out from under its rule.
fn pins(rules: &Rules) -> BTreeSet<PathBuf> {
    let mut leaves = rules.protect.clone();
    if rules.pin_deny {
        leaves.extend(rules.deny.iter().chain(&rules.glob_matches).cloned());
    }
    let everything = [PathBuf::from("/")];
    let roots = if rules.grants.limited { &rules.grants.write[..] } else { &everything[..] };
    let roots = spellings(roots);
    spellings(&leaves)
        .iter()
        .filter_map(|leaf| Some((leaf, roots.iter().find(|root| leaf.starts_with(root))?)))
        .flat_map(|(leaf, root)| {
            leaf.ancestors().skip(1).take_while(move |folder| folder.starts_with(root))
        })
        .filter(|folder| folder.parent().is_some())
        .map(Path::to_path_buf)
        .collect()
}
