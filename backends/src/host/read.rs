//! Reads the settings of this machine. What cannot be read is absent.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Host;

/// Everything but the abilities.
pub(super) fn host() -> Host {
    let uname = rustix::system::uname();
    let mut notes = Vec::new();
    let mut groups: Vec<u32> = rustix::process::getgroups()
        .unwrap_or_default()
        .into_iter()
        .map(rustix::process::Gid::as_raw)
        .collect();
    groups.sort_unstable();
    Host {
        os: std::env::consts::OS.to_owned(),
        os_version: os_version(),
        kernel: uname.release().to_string_lossy().into_owned(),
        machine: uname.machine().to_string_lossy().into_owned(),
        lsm: lsm(&mut notes),
        apparmor: text("/sys/module/apparmor/parameters/enabled").map(|enabled| enabled == "Y"),
        max_user_namespaces: sysctl("user/max_user_namespaces"),
        unprivileged_userns_clone: sysctl("kernel/unprivileged_userns_clone"),
        apparmor_restrict_unprivileged_userns: sysctl(
            "kernel/apparmor_restrict_unprivileged_userns",
        ),
        yama_ptrace_scope: sysctl("kernel/yama/ptrace_scope"),
        io_uring_disabled: sysctl("kernel/io_uring_disabled"),
        legacy_tiocsti: sysctl("dev/tty/legacy_tiocsti"),
        protected_hardlinks: sysctl("fs/protected_hardlinks"),
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
        groups,
        capabilities: text("/proc/self/status").and_then(|s| field(&s, "CapEff:")),
        container: container(),
        virtual_machine: virtual_machine(),
        notes,
        ..Host::default()
    }
}

/// The trimmed text of a small file.
fn text(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn sysctl(name: &str) -> Option<u64> {
    text(Path::new("/proc/sys").join(name))?.parse().ok()
}

/// The rest of the line that begins with `name`.
fn field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(|rest| rest.trim().to_owned())
}

/// The list of security modules. securityfs is often not mounted in containers, and mounting it
/// is not ours to do.
fn lsm(notes: &mut Vec<String>) -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let list = text("/sys/kernel/security/lsm");
    if list.is_none() {
        notes.push(
            "the list of security modules is not known: /sys/kernel/security is not mounted \
             or not readable"
                .to_owned(),
        );
    }
    list
}

fn os_version() -> Option<String> {
    if cfg!(target_os = "macos") {
        let output = Command::new("/usr/bin/sw_vers").arg("-productVersion").output().ok()?;
        return Some(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let release = text("/etc/os-release")?;
    field(&release, "PRETTY_NAME=").map(|name| name.trim_matches('"').to_owned())
}

/// Signs of a container, the surest first.
fn container() -> Option<String> {
    let named = text("/run/systemd/container").or_else(|| std::env::var("container").ok());
    if let Some(name) = named.filter(|name| !name.is_empty()) {
        return Some(name);
    }
    for (sign, name) in [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")] {
        if Path::new(sign).exists() {
            return Some(name.to_owned());
        }
    }
    let groups = text("/proc/1/cgroup")?;
    ["kubepods", "docker", "lxc", "containerd"]
        .into_iter()
        .find(|name| groups.contains(name))
        .map(str::to_owned)
}

/// Signs of a virtual machine.
fn virtual_machine() -> Option<String> {
    let dmi = |name: &str| text(Path::new("/sys/class/dmi/id").join(name));
    let hypervisor = text("/proc/cpuinfo").is_some_and(|info| {
        field(&info, "flags").is_some_and(|flags| flags.split(' ').any(|f| f == "hypervisor"))
    });
    if !hypervisor {
        return None;
    }
    let parts: Vec<String> = ["sys_vendor", "product_name"]
        .into_iter()
        .filter_map(dmi)
        .filter(|p| !p.is_empty())
        .collect();
    Some(if parts.is_empty() { "unknown".to_owned() } else { parts.join(" ") })
}
