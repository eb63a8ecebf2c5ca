//! [`Host`]: facts of this machine, for `doctor`, provenance and planning.
//!
//! Settings are read where the kernel tells them, and are only told. What decides a skip is found
//! by doing ([`Abilities`]); the settings then say what mends it.

mod lack;
mod read;

use std::path::Path;
use std::time::Duration;

use sandproof_probes::ability::Abilities;
use sandproof_scenarios::{Capability, Platform};
use serde::{Deserialize, Serialize};

pub use lack::Lack;

/// This machine's family.
pub const PLATFORM: Platform =
    if cfg!(target_os = "macos") { Platform::Macos } else { Platform::Linux };

/// What this machine is and can do. Settings that this kernel does not have are `null`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// `linux` or `macos`.
    pub os: String,
    /// Name and version of the distribution, or the macOS version.
    pub os_version: Option<String>,
    /// Kernel release.
    pub kernel: String,
    /// Machine architecture.
    pub machine: String,
    /// Landlock's ABI, by the call; `null` when it is not enabled.
    pub landlock_abi: Option<u32>,
    /// Landlock's mask of fixed errata, by the call.
    pub landlock_errata: u32,
    /// Security modules in their order; `null` when securityfs cannot be read, see `notes`.
    pub lsm: Option<String>,
    /// AppArmor is enabled.
    pub apparmor: Option<bool>,
    /// `user.max_user_namespaces`.
    pub max_user_namespaces: Option<u64>,
    /// `kernel.unprivileged_userns_clone` (Debian).
    pub unprivileged_userns_clone: Option<u64>,
    /// `kernel.apparmor_restrict_unprivileged_userns` (Ubuntu).
    pub apparmor_restrict_unprivileged_userns: Option<u64>,
    /// `kernel.yama.ptrace_scope`.
    pub yama_ptrace_scope: Option<u64>,
    /// `kernel.io_uring_disabled`.
    pub io_uring_disabled: Option<u64>,
    /// `dev.tty.legacy_tiocsti`.
    pub legacy_tiocsti: Option<u64>,
    /// `fs.protected_hardlinks`.
    pub protected_hardlinks: Option<u64>,
    /// Effective uid.
    pub uid: u32,
    /// Effective gid.
    pub gid: u32,
    /// Supplementary groups, sorted.
    pub groups: Vec<u32>,
    /// Effective capabilities, hex as in `/proc/self/status`.
    pub capabilities: Option<String>,
    /// The container this runs in, as far as one can be told.
    pub container: Option<String>,
    /// The virtual machine this runs in, as far as one can be told.
    pub virtual_machine: Option<String>,
    /// What was found by doing.
    pub abilities: Abilities,
    /// What could not be found out, and why.
    pub notes: Vec<String>,
}

/// The subprocess that measures abilities takes milliseconds; a host where it hangs has none.
const PATIENCE: Duration = Duration::from_secs(30);

impl Host {
    /// Measures this machine. `exe ability` must print [`Abilities`] as JSON: they are found in a
    /// process of their own, as finding them forks.
    #[must_use]
    pub fn measure(exe: &Path) -> Self {
        let mut host = read::host();
        match abilities(exe) {
            Ok(abilities) => {
                host.landlock_abi = abilities.landlock_abi;
                host.landlock_errata = abilities.landlock_errata;
                host.abilities = abilities;
            }
            Err(why) => host.notes.push(format!("abilities are not known, taken for none: {why}")),
        }
        host
    }

    /// Whether this host has a capability.
    ///
    /// # Errors
    /// What is missing, and what mends it.
    pub fn has(&self, capability: Capability) -> Result<(), Lack> {
        lack::check(self, capability)
    }
}

/// Runs the measuring subprocess.
fn abilities(exe: &Path) -> Result<Abilities, String> {
    let line = format!("`{} ability`", exe.display());
    let expression = duct::cmd!(exe, "ability").stdin_null().stdout_capture().unchecked();
    let handle = expression.start().map_err(|error| format!("{line} cannot start: {error}"))?;
    let output = match handle.wait_timeout(PATIENCE) {
        Ok(Some(output)) => output.clone(),
        Ok(None) => {
            // It is ours, and hangs.
            let _ = handle.kill();
            return Err(format!("{line} did not end within {} s", PATIENCE.as_secs()));
        }
        Err(error) => return Err(format!("{line} failed: {error}")),
    };
    if !output.status.success() {
        return Err(format!("{line} ended with {}", output.status));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{line} printed no abilities: {error}"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A stand-in for sandproof that prints this when asked for abilities.
    fn stand_in(script: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let exe = dir.path().join("exe");
        std::fs::write(&exe, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&exe, PermissionsExt::from_mode(0o755)).unwrap();
        (dir, exe)
    }

    #[test]
    fn abilities_come_from_the_subprocess() {
        let known = Abilities { landlock_abi: Some(7), userns: true, ..Abilities::default() };
        let json = serde_json::to_string(&known).unwrap();
        let (_dir, exe) = stand_in(&format!("test \"$1\" = ability && echo '{json}'"));
        let host = Host::measure(&exe);
        assert_eq!(host.abilities, known);
        assert_eq!(host.landlock_abi, Some(7));
        assert!(!host.kernel.is_empty());
        assert!(host.has(Capability::Landlock(7)).is_ok());
        assert!(host.has(Capability::Landlock(8)).is_err());
    }

    #[test]
    fn a_subprocess_that_fails_leaves_no_ability_and_a_note() {
        for script in ["exit 3", "echo nonsense", "kill -9 $$"] {
            let (_dir, exe) = stand_in(script);
            let host = Host::measure(&exe);
            assert_eq!(host.abilities, Abilities::default(), "{script}");
            assert!(host.notes.iter().any(|note| note.contains("taken for none")), "{script}");
            assert!(host.has(Capability::Landlock(1)).is_err());
        }
    }
}
