//! Writes the text of a profile: first what is granted, then what is denied.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sandproof_scenarios::Network;

use super::covers::covers;
use super::filter::{alone, below, spellings};
use super::{Rules, TextError};
use crate::confine::grants::Grants;
use crate::glob::GlobSet;

/// What every command needs to run at all. A terminal is its own when it was made inside; of
/// those that were there before, only open ones can be used, by `ioctl`.
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
(allow file-read* file-write* file-ioctl (literal \"/dev/ptmx\") (subpath \"/dev/fd\"))
(allow file-read* file-write* (require-all (regex #\"^/dev/ttys[0-9]+$\") (extension \"com.apple.sandbox.pty\")))
(allow file-ioctl (regex #\"^/dev/ttys[0-9]+$\"))
(allow mach-lookup)
(allow file-read* (literal \"/\"))
";

/// Services that hand out keys and passwords.
const KEYCHAIN: [&str; 5] = [
    "com.apple.SecurityServer",
    "com.apple.securityd",
    "com.apple.security.keychaind",
    "com.apple.secd",
    "com.apple.security.agent",
];

/// Services that reach the network for whoever asks: names, certificates, downloads.
const NETWORKERS: [&str; 8] = [
    "com.apple.mDNSResponder",
    "com.apple.dnssd.service",
    "com.apple.networkd",
    "com.apple.nsurlsessiond",
    "com.apple.cfnetwork.cfnetworkagent",
    "com.apple.ocspd",
    "com.apple.trustd",
    "com.apple.trustd.agent",
];

/// The socket of the service that looks names up: a name can carry anything out.
const RESOLVER: &str = "/var/run/mDNSResponder";

/// The whole profile.
///
/// # Errors
/// A path or glob that cannot stand in it.
pub fn text(rules: &Rules) -> Result<String, TextError> {
    // Even an invalid glob is refused, rather than written and then matching nothing.
    GlobSet::compile(&rules.deny_globs)?;
    let mut lines = if rules.grants.limited { limited(rules)? } else { free(rules)? };
    lines.extend(covers(rules)?);
    Ok(lines.concat())
}

/// Grants over a closed base.
fn limited(rules: &Rules) -> Result<Vec<String>, TextError> {
    let mut lines = vec![BASE.to_owned(), services(&KEYCHAIN)];
    let grants = &rules.grants;
    for folder in ancestors(grants) {
        lines.push(format!("(allow file-read-metadata {})\n", alone(&folder)?));
    }
    for root in spellings(&grants.read) {
        lines.push(format!("(allow file-read* file-map-executable {})\n", below(&root)?));
    }
    for root in spellings(&grants.write) {
        // Only a file that could be changed anyway gets a second name.
        let actions = "file-read* file-map-executable file-write* file-link file-clone";
        lines.push(format!("(allow {actions} {})\n", below(&root)?));
    }
    for device in spellings(&grants.devices) {
        let filters = format!("{} {}", alone(&device)?, below(&device)?);
        lines.push(format!("(allow file-read* file-write* file-ioctl {filters})\n"));
    }
    lines.extend(match rules.network {
        Network::Open => vec!["(allow network*)\n(allow system-socket)\n".to_owned()],
        Network::Blocked => blocked(rules)?,
    });
    Ok(lines)
}

/// Everything is granted but what follows.
fn free(rules: &Rules) -> Result<Vec<String>, TextError> {
    let mut lines = vec!["(version 1)\n(allow default)\n".to_owned()];
    if rules.network == Network::Blocked {
        lines.push("(deny network*)\n".to_owned());
        lines.extend(blocked(rules)?);
    }
    Ok(lines)
}

/// Nothing but unix sockets below some folders, and nobody who calls out instead.
fn blocked(rules: &Rules) -> Result<Vec<String>, TextError> {
    let mut lines = vec!["(allow system-socket (socket-domain AF_UNIX))\n".to_owned()];
    for root in spellings(&rules.sockets) {
        let below = below(&root)?;
        lines.push(format!("(allow network-bind (local unix-socket {below}))\n"));
        lines.push(format!("(allow network-outbound (remote unix-socket {below}))\n"));
    }
    for socket in spellings(&[PathBuf::from(RESOLVER)]) {
        lines.push(format!("(deny network-outbound (remote unix-socket {}))\n", below(&socket)?));
    }
    lines.push(services(&NETWORKERS));
    Ok(lines)
}

/// Closes Mach services.
fn services(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("(global-name \"{name}\")")).collect();
    format!("(deny mach-lookup {})\n", names.join(" "))
}

/// The folders on the way to what is granted: who may not look at them cannot arrive.
fn ancestors(grants: &Grants) -> BTreeSet<PathBuf> {
    let roots = [&grants.read, &grants.write, &grants.devices];
    let roots = roots.into_iter().flat_map(|list| spellings(list));
    let above = |root: PathBuf| root.ancestors().skip(1).map(Path::to_path_buf).collect::<Vec<_>>();
    roots.flat_map(above).collect()
}
