//! What our sandbox needs of the host for a policy.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use sandproof_scenarios::Capability;

use super::Mechanism;

/// Capabilities of the host for a policy that asks for `wanted`, when these mechanisms are used.
pub(super) fn of(wanted: &BTreeSet<Capability>, used: &[Mechanism]) -> Vec<Capability> {
    let asks = |any: &[Capability]| any.iter().any(|one| wanted.contains(one));
    let scopes = asks(&[Capability::WriteScope, Capability::ReadScope, Capability::ProcessScope]);
    let covers = asks(&[
        Capability::WriteScope,
        Capability::DenyList,
        Capability::DenyGlob,
        Capability::Protect,
        Capability::GrokHome,
        Capability::Metadata,
    ]);
    let filters = covers || asks(&[Capability::NetworkBlock, Capability::SyscallFilter]);
    let mut needs = Vec::new();
    if scopes && used.contains(&Mechanism::Landlock) {
        // Signals and abstract sockets are scoped since ABI 6.
        let abi = if wanted.contains(&Capability::ProcessScope) { 6 } else { 1 };
        needs.push(Capability::Landlock(abi));
    }
    if covers && used.contains(&Mechanism::Mounts) && !bwrap_covers() {
        needs.push(Capability::Userns);
    }
    if filters && used.contains(&Mechanism::Seccomp) {
        needs.push(Capability::Seccomp);
    }
    needs
}

/// Whether `bwrap` lays covers for this user where confine may not. What root sees says nothing
/// about the user a run is for, and root needs no user namespace.
fn bwrap_covers() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        !rustix::process::geteuid().is_root()
            && Command::new("/usr/bin/bwrap")
                .args(["--ro-bind", "/", "/", "true"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ALL: [Mechanism; 3] = [Mechanism::Landlock, Mechanism::Seccomp, Mechanism::Mounts];

    #[rstest]
    #[case(&[], &[])]
    #[case(&[Capability::EnvPolicy], &[])]
    #[case(&[Capability::NetworkBlock], &[Capability::Seccomp])]
    #[case(&[Capability::WriteScope], &[Capability::Landlock(1), Capability::Seccomp])]
    #[case(
        &[Capability::WriteScope, Capability::ProcessScope],
        &[Capability::Landlock(6), Capability::Seccomp]
    )]
    #[case(&[Capability::DenyGlob], &[Capability::Seccomp])]
    fn each_item_needs_its_mechanisms(#[case] wanted: &[Capability], #[case] needs: &[Capability]) {
        let wanted: BTreeSet<Capability> = wanted.iter().copied().collect();
        let mut found = of(&wanted, &ALL);
        // Depends on who runs this, and on bwrap.
        found.retain(|need| *need != Capability::Userns);
        assert_eq!(found, needs);
    }

    #[test]
    fn a_mechanism_that_is_not_used_needs_nothing() {
        let wanted = BTreeSet::from([Capability::WriteScope, Capability::DenyList]);
        assert_eq!(of(&wanted, &[Mechanism::Landlock]), [Capability::Landlock(1)]);
        assert_eq!(of(&wanted, &[Mechanism::Seccomp]), [Capability::Seccomp]);
        assert_eq!(of(&wanted, &[Mechanism::NetworkNamespace]), []);
    }
}
