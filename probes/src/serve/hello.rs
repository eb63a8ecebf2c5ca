//! What the probe finds out about itself before any attempt.

use crate::wire::Hello;

/// All of it. Nothing here fails where `/proc` is missing; it is then empty or asked differently.
pub(super) fn hello() -> Hello {
    let status = status();
    Hello {
        pid: rustix::process::getpid().as_raw_nonzero().get(),
        uid: rustix::process::geteuid().as_raw(),
        no_new_privs: match field(&status, "NoNewPrivs:") {
            Some(value) => value == "1",
            None => no_new_privs(),
        },
        seccomp: match field(&status, "Seccomp:").and_then(|value| value.parse().ok()) {
            Some(mode) => mode,
            None => seccomp(),
        },
        capabilities: field(&status, "CapEff:").map_or_else(capabilities, str::to_owned),
        namespaces: namespaces(),
        variables: variables(),
    }
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

fn variables() -> Vec<String> {
    let mut names: Vec<String> =
        std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

#[cfg(target_os = "linux")]
use linux::{capabilities, namespaces, no_new_privs, seccomp, status};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;

    /// Names under `/proc/self/ns`; those for children only would say the same twice.
    const NAMESPACES: [&str; 8] = ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"];

    pub(super) fn status() -> String {
        std::fs::read_to_string("/proc/self/status").unwrap_or_default()
    }

    pub(super) fn no_new_privs() -> bool {
        rustix::thread::no_new_privs().unwrap_or(false)
    }

    pub(super) fn seccomp() -> u32 {
        use rustix::thread::{SecureComputingMode, secure_computing_mode};
        match secure_computing_mode() {
            Ok(SecureComputingMode::Strict) => 1,
            Ok(SecureComputingMode::Filter) => 2,
            Ok(SecureComputingMode::Disabled) | Err(_) => 0,
        }
    }

    pub(super) fn capabilities() -> String {
        rustix::thread::capabilities(None)
            .map_or_else(|_| String::new(), |sets| format!("{:016x}", sets.effective.bits()))
    }

    pub(super) fn namespaces() -> BTreeMap<String, u64> {
        let inode = |name: &&str| {
            let target = std::fs::read_link(format!("/proc/self/ns/{name}")).ok()?;
            let digits = target.to_str()?.strip_prefix(name)?.strip_prefix(":[")?;
            Some(((*name).to_owned(), digits.strip_suffix(']')?.parse().ok()?))
        };
        NAMESPACES.iter().filter_map(inode).collect()
    }
}

#[cfg(not(target_os = "linux"))]
use elsewhere::{capabilities, namespaces, no_new_privs, seccomp, status};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::collections::BTreeMap;

    pub(super) fn status() -> String {
        String::new()
    }

    pub(super) fn no_new_privs() -> bool {
        false
    }

    pub(super) fn seccomp() -> u32 {
        0
    }

    pub(super) fn capabilities() -> String {
        String::new()
    }

    pub(super) fn namespaces() -> BTreeMap<String, u64> {
        BTreeMap::new()
    }
}
