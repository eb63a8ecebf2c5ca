//! Writes the text of a profile.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sandproof_scenarios::Network;

use super::regex::regexes;
use super::{Rules, TextError};
use crate::glob::GlobSet;

/// What every command needs to run at all.
const BASE: &str = "\
(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target self))
(allow process-info* (target same-sandbox))
(allow signal (target self))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-shm*)
(allow ipc-posix-sem*)
(allow pseudo-tty)
(allow mach-lookup)
(allow file-read* (literal \"/\"))
(allow file-read-metadata)
";

/// Services that hand out keys and passwords.
const KEYCHAIN: [&str; 5] = [
    "com.apple.SecurityServer",
    "com.apple.securityd",
    "com.apple.security.keychaind",
    "com.apple.secd",
    "com.apple.security.agent",
];

/// Folders of macOS that are symlinks into `/private`.
const PRIVATE: [&str; 3] = ["/tmp", "/var", "/etc"];

/// The whole profile.
///
/// # Errors
/// A path or glob that cannot stand in it.
pub fn text(rules: &Rules) -> Result<String, TextError> {
    // Even an invalid glob is refused, rather than written and then matching nothing.
    GlobSet::compile(&rules.deny_globs)?;
    let mut lines = if rules.grants.limited { limited(rules)? } else { free(rules) };
    lines.extend(covers(rules)?);
    Ok(lines.concat())
}

/// Grants over a closed base.
fn limited(rules: &Rules) -> Result<Vec<String>, TextError> {
    let mut lines = vec![BASE.to_owned()];
    let services = KEYCHAIN.map(|name| format!("(global-name \"{name}\")"));
    lines.push(format!("(deny mach-lookup {})\n", services.join(" ")));
    let grants = &rules.grants;
    for (actions, roots) in [
        ("file-read* file-map-executable", &grants.read),
        ("file-read* file-map-executable file-write*", &grants.write),
        ("file-read* file-write* file-ioctl", &grants.devices),
    ] {
        for root in spellings(roots) {
            lines.push(format!("(allow {actions} {})\n", subpath(&root)?));
        }
    }
    lines.push(network(rules.network).to_owned());
    Ok(lines)
}

/// Everything is granted but what follows.
fn free(rules: &Rules) -> Vec<String> {
    let mut lines = vec!["(version 1)\n(allow default)\n".to_owned()];
    if rules.network == Network::Blocked {
        lines.push("(deny network*)\n".to_owned());
        lines.push(network(Network::Blocked).to_owned());
    }
    lines
}

fn network(network: Network) -> &'static str {
    match network {
        Network::Open => "(allow network*)\n(allow system-socket)\n",
        Network::Blocked => {
            "(allow system-socket)\n(allow network-bind (local unix-socket))\n\
             (allow network* (remote unix-socket))\n"
        }
    }
}

/// What is denied and protected, and the pins of the folders that hold it.
fn covers(rules: &Rules) -> Result<Vec<String>, TextError> {
    let mut lines = Vec::new();
    for path in spellings(&rules.protect) {
        lines.push(format!("(deny file-write* {})\n", subpath(&path)?));
    }
    for path in spellings(&rules.deny) {
        lines.push(format!("(deny file-read* file-write* {})\n", subpath(&path)?));
    }
    for glob in &rules.deny_globs {
        for regex in regexes(glob, private)? {
            lines.push(format!("(deny file-read* file-write* (regex #\"{regex}\"))\n"));
        }
    }
    for pin in pins(rules) {
        let literal = format!("(literal {})", quoted(&pin)?);
        lines.push(format!("(deny file-write-unlink file-write-create {literal})\n"));
    }
    Ok(lines)
}

/// The folders between a leaf and the outermost write root that holds it. A rule goes by path, so
/// whoever moves such a folder moves what it holds out from under its rule.
fn pins(rules: &Rules) -> BTreeSet<PathBuf> {
    let leaves = spellings(&rules.deny.iter().chain(&rules.protect).cloned().collect::<Vec<_>>());
    let everything = [PathBuf::from("/")];
    let roots = if rules.grants.limited { &rules.grants.write[..] } else { &everything[..] };
    let roots = spellings(roots);
    leaves
        .iter()
        .filter_map(|leaf| Some((leaf, roots.iter().find(|root| leaf.starts_with(root))?)))
        .flat_map(|(leaf, root)| {
            leaf.ancestors().skip(1).take_while(move |folder| folder.starts_with(root))
        })
        .filter(|folder| folder.parent().is_some())
        .map(Path::to_path_buf)
        .collect()
}

/// Each path as it is and with `/private` toggled: rules go by the real path, programs by either.
fn spellings(paths: &[PathBuf]) -> BTreeSet<PathBuf> {
    paths.iter().flat_map(|path| std::iter::once(path.clone()).chain(private(path))).collect()
}

/// The other spelling of a path under a folder that is a symlink into `/private`.
fn private(path: &Path) -> Option<PathBuf> {
    let real = path.strip_prefix("/private").map(|rest| Path::new("/").join(rest));
    let plain = real.as_deref().unwrap_or(path);
    if !PRIVATE.iter().any(|folder| plain.starts_with(folder)) {
        return None;
    }
    let other =
        real.is_err().then(|| Path::new("/private").join(plain.strip_prefix("/").unwrap_or(plain)));
    other.or_else(|| Some(plain.to_path_buf()))
}

/// A path and all below it, whether it is a file, a folder, or not there yet.
fn subpath(path: &Path) -> Result<String, TextError> {
    Ok(format!("(subpath {})", quoted(path)?))
}

/// A path as a string of the profile language.
fn quoted(path: &Path) -> Result<String, TextError> {
    let refuse = |why| TextError::Path { path: path.display().to_string(), why };
    let text = path.to_str().ok_or_else(|| refuse("bytes that are not UTF-8"))?;
    if text.chars().any(char::is_control) {
        return Err(refuse("a control character"));
    }
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}
