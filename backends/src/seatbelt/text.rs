//! Writes the text of a profile: first what is granted, then what is denied.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sandproof_scenarios::Network;

use super::covers::covers;
use super::filter::{alone, below, spellings};
use super::{Rules, TextError};
use crate::confine::cover::inside_any;
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

/// The only services there are when the network is blocked: logs, settings, accounts, power. Any
/// other may reach the network for whoever asks, and a list of those that do is always one behind.
const OFFLINE: [&str; 11] = [
    "com.apple.system.logger",
    "com.apple.logd",
    "com.apple.system.notification_center",
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.opendirectoryd.membership",
    "com.apple.bsd.dirhelper",
    "com.apple.PowerManagement.control",
    "com.apple.cfprefsd.daemon",
    "com.apple.cfprefsd.agent",
    "com.apple.SystemConfiguration.configd",
    "com.apple.SystemConfiguration.DNSConfiguration",
];

/// A profile is an argument, and macOS takes a megabyte of them, with the environment.
const LONGEST: usize = 768 * 1024;

/// The whole profile.
///
/// # Errors
/// A path or glob that cannot stand in it.
pub fn text(rules: &Rules) -> Result<String, TextError> {
    // Even an invalid glob is refused, rather than written and then matching nothing.
    GlobSet::compile(&rules.deny_globs)?;
    let mut lines = if rules.grants.limited { limited(rules)? } else { free(rules)? };
    lines.extend(covers(rules)?);
    let text = lines.concat();
    if text.len() > LONGEST { Err(TextError::Long { length: text.len() }) } else { Ok(text) }
}

/// Grants over a closed base.
fn limited(rules: &Rules) -> Result<Vec<String>, TextError> {
    let mut lines = vec![BASE.to_owned()];
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
        Network::Open => open(rules)?,
        Network::Blocked => blocked(rules)?,
    });
    Ok(lines)
}

/// Everything but sockets where nothing may be written, and who hands out keys.
fn open(rules: &Rules) -> Result<Vec<String>, TextError> {
    let mut lines =
        vec!["(allow network*)\n(allow system-socket)\n(allow mach-lookup)\n".to_owned()];
    lines.push(services("deny", &KEYCHAIN));
    lines.push("(deny network-bind (local unix-socket (subpath \"/\")))\n".to_owned());
    for root in spellings(&rules.grants.write) {
        lines.push(bind(&root)?);
    }
    Ok(lines)
}

/// Everything is granted but what follows.
fn free(rules: &Rules) -> Result<Vec<String>, TextError> {
    let mut lines = vec!["(version 1)\n(allow default)\n".to_owned()];
    if rules.network == Network::Blocked {
        lines.push("(deny network*)\n(deny mach-lookup)\n".to_owned());
        lines.extend(blocked(rules)?);
    }
    Ok(lines)
}

/// Nothing but unix sockets below some folders, and nobody who could call out instead. The socket
/// that looks names up is not below them: a name can carry anything out.
fn blocked(rules: &Rules) -> Result<Vec<String>, TextError> {
    let mut lines = vec!["(allow system-socket (socket-domain AF_UNIX))\n".to_owned()];
    let written: Vec<PathBuf> = spellings(&rules.grants.write).into_iter().collect();
    for root in spellings(&rules.sockets) {
        if !rules.grants.limited || inside_any(&root, &written) {
            lines.push(bind(&root)?);
        }
        let below = below(&root)?;
        lines.push(format!("(allow network-outbound (remote unix-socket {below}))\n"));
    }
    lines.push(services("allow", &OFFLINE));
    Ok(lines)
}

/// Lets unix sockets be made below a folder.
fn bind(root: &Path) -> Result<String, TextError> {
    Ok(format!("(allow network-bind (local unix-socket {}))\n", below(root)?))
}

/// Opens or closes Mach services.
fn services(action: &str, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("(global-name \"{name}\")")).collect();
    format!("({action} mach-lookup {})\n", names.join(" "))
}

/// The folders on the way to what is granted: who may not look at them cannot arrive.
fn ancestors(grants: &Grants) -> BTreeSet<PathBuf> {
    let roots = [&grants.read, &grants.write, &grants.devices];
    let roots = roots.into_iter().flat_map(|list| spellings(list));
    let above = |root: PathBuf| root.ancestors().skip(1).map(Path::to_path_buf).collect::<Vec<_>>();
    roots.flat_map(above).collect()
}
