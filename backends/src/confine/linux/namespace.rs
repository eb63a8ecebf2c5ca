//! Own namespaces for the command.

use std::fs;
use std::io;

use rustix::thread::{CapabilitySet, capabilities};

use nix::sched::{CloneFlags, unshare};

use crate::confine::refusal::Refusal;

/// Which namespaces are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Namespaces {
    /// For covers.
    pub(super) mount: bool,
    /// For a blocked network.
    pub(super) network: bool,
    /// Start without the network namespace when the host does not allow it.
    pub(super) network_optional: bool,
}

/// Moves this process into its own namespaces.
///
/// # Errors
/// The host forbids it.
pub(super) fn enter(wanted: Namespaces) -> Result<(), Refusal> {
    let network = || CloneFlags::CLONE_NEWNET;
    let mut flags = CloneFlags::empty();
    flags.set(CloneFlags::CLONE_NEWNS, wanted.mount);
    let with_network = if wanted.network { flags | network() } else { flags };
    if with_network.is_empty() {
        return Ok(());
    }
    match split(with_network) {
        Err(_) if wanted.network && wanted.network_optional && flags.is_empty() => Ok(()),
        Err(_) if wanted.network && wanted.network_optional => split(flags).map_err(forbidden),
        answer => answer.map_err(forbidden),
    }
}

/// As root without a user namespace, else with one.
fn split(flags: CloneFlags) -> io::Result<()> {
    let privileged =
        capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
    if privileged && unshare(flags).is_ok() {
        return Ok(());
    }
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    unshare(flags | CloneFlags::CLONE_NEWUSER)?;
    // A group map needs setgroups to be given up first.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1\n", uid = uid.as_raw()))?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1\n", gid = gid.as_raw()))
}

fn forbidden(error: io::Error) -> Refusal {
    Refusal::new(
        format!("this host does not let confine make namespaces ({error})"),
        "allow user namespaces (sysctl user.max_user_namespaces, \
         kernel.apparmor_restrict_unprivileged_userns=0), or install bubblewrap",
    )
}
