//! What this host lacks, and what mends it.

use sandproof_scenarios::Capability;
use serde::{Deserialize, Serialize};

use super::Host;

/// A capability that this host does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lack {
    /// What is missing, a lower-case fragment.
    pub what: String,
    /// The command that mends it, or what to do.
    pub mend: String,
}

impl Lack {
    fn new(what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { what: what.into(), mend: mend.into() }
    }
}

/// Kernel versions that brought Landlock's ABIs, from ABI 1.
const KERNELS: [&str; 11] =
    ["5.13", "5.19", "6.2", "6.7", "6.10", "6.12", "6.15", "7.0", "7.1", "7.2", "7.3"];

/// Bit of the capability that lets root do what it likes with namespaces and terminals.
const CAP_SYS_ADMIN: u64 = 1 << 21;

/// See [`Host::has`].
pub(super) fn check(host: &Host, capability: Capability) -> Result<(), Lack> {
    let abilities = &host.abilities;
    let when = |there: bool, lack: fn(&Host) -> Lack| if there { Ok(()) } else { Err(lack(host)) };
    match capability {
        Capability::WriteScope
        | Capability::ReadScope
        | Capability::DenyList
        | Capability::DenyGlob
        | Capability::Protect
        | Capability::GrokHome
        | Capability::NetworkBlock
        | Capability::EnvPolicy
        | Capability::FdScope
        | Capability::ProcessScope
        | Capability::SyscallFilter
        | Capability::KillsTree
        | Capability::Metadata
        | Capability::GrokConfig
        | Capability::Sessions
        | Capability::AgentTools => Err(Lack::new(
            format!("`{capability}` is a capability of backends, no host has it"),
            "ask for a capability of hosts, such as landlock",
        )),
        Capability::Landlock(abi) => landlock(host, abi),
        Capability::Seccomp => when(abilities.seccomp, seccomp),
        Capability::Userns => when(abilities.userns || administrator(host), userns),
        Capability::Ia32 => when(abilities.ia32, ia32),
        Capability::X32 => when(abilities.x32, x32),
        Capability::IoUring => when(abilities.io_uring, io_uring),
        Capability::Mptcp => when(abilities.mptcp, mptcp),
        Capability::Tty => when(abilities.tty, tty),
        Capability::LegacyTiocsti => when(pushes_into_terminal(host), legacy_tiocsti),
        Capability::Root => {
            when(host.uid == 0, |_| Lack::new("this is not root", "run it as root"))
        }
        Capability::NotRoot => when(host.uid != 0, |_| {
            Lack::new("this is root", "run it as an ordinary user, or with `--as USER`")
        }),
    }
}

/// Root with the capability that containers usually take away.
fn administrator(host: &Host) -> bool {
    let mask = host.capabilities.as_ref().and_then(|hex| u64::from_str_radix(hex, 16).ok());
    host.uid == 0 && mask.is_some_and(|mask| mask & CAP_SYS_ADMIN != 0)
}

fn landlock(host: &Host, wanted: u32) -> Result<(), Lack> {
    match host.landlock_abi {
        Some(abi) if abi >= wanted => Ok(()),
        Some(abi) => {
            let index = usize::try_from(wanted).unwrap_or(usize::MAX).saturating_sub(1);
            let mend = KERNELS.get(index).map_or_else(
                || "a kernel newer than those this version knows".to_owned(),
                |kernel| format!("boot a kernel of at least {kernel}"),
            );
            Err(Lack::new(format!("Landlock has ABI {abi} here, not {wanted}"), mend))
        }
        None => Err(Lack::new("Landlock is not enabled", enable_landlock(host))),
    }
}

/// The module must be compiled in and named at boot.
fn enable_landlock(host: &Host) -> String {
    if host.os != "linux" {
        return "Landlock is a part of Linux, run it there".to_owned();
    }
    let list = host.lsm.as_deref().unwrap_or("yama,apparmor");
    let rest: Vec<&str> =
        list.split(',').filter(|name| !matches!(*name, "capability" | "landlock")).collect();
    let list = [&["landlock"], rest.as_slice()].concat().join(",");
    format!(
        "boot with `lsm={list}` a kernel of at least 5.13 that has CONFIG_SECURITY_LANDLOCK=y; \
         in a container, allow the landlock system calls"
    )
}

fn seccomp(host: &Host) -> Lack {
    let mend = if host.os == "linux" {
        "boot a kernel with CONFIG_SECCOMP_FILTER=y; in a container, allow the seccomp system call"
    } else {
        "seccomp is a part of Linux, run it there"
    };
    Lack::new("a seccomp filter cannot be installed", mend)
}

/// The setting that forbids user namespaces, the most likely first.
fn userns(host: &Host) -> Lack {
    let why = match host.abilities.userns_errno {
        Some(errno) => {
            format!(" ({})", std::io::Error::from_raw_os_error(errno))
        }
        None => String::new(),
    };
    let what = format!("this user cannot make user namespaces{why}");
    let mend = if host.os != "linux" {
        "user namespaces are a part of Linux, run it there"
    } else if host.max_user_namespaces == Some(0) {
        "sysctl user.max_user_namespaces=10000"
    } else if host.unprivileged_userns_clone == Some(0) {
        "sysctl kernel.unprivileged_userns_clone=1"
    } else if host.apparmor_restrict_unprivileged_userns.is_some_and(|value| value != 0) {
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for \
         sandproof that allows userns"
    } else if host.container.is_some() {
        "start the container with `--security-opt seccomp=unconfined --security-opt \
         apparmor=unconfined`, or run outside it"
    } else {
        "boot a kernel with CONFIG_USER_NS=y"
    };
    Lack::new(what, mend)
}

fn ia32(_: &Host) -> Lack {
    Lack::new(
        "the kernel runs no 32-bit x86 system calls",
        "boot an x86-64 kernel with CONFIG_IA32_EMULATION=y and `ia32_emulation=1`",
    )
}

fn x32(_: &Host) -> Lack {
    Lack::new(
        "the kernel runs no x32 system calls",
        "boot an x86-64 kernel with CONFIG_X86_X32_ABI=y (Debian: `syscall.x32=y`)",
    )
}

fn io_uring(host: &Host) -> Lack {
    let mend = match host.io_uring_disabled {
        Some(value) if value != 0 => "sysctl kernel.io_uring_disabled=0",
        Some(_) | None => {
            "boot a kernel with CONFIG_IO_URING=y; in a container, allow the io_uring system calls"
        }
    };
    Lack::new("io_uring cannot be set up", mend)
}

fn mptcp(_: &Host) -> Lack {
    Lack::new(
        "Multipath TCP sockets cannot be made",
        "boot a kernel with CONFIG_MPTCP=y, and `sysctl net.mptcp.enabled=1`",
    )
}

fn tty(_: &Host) -> Lack {
    Lack::new(
        "a new terminal cannot be made the controlling one",
        "mount devpts on /dev/pts: `mount -t devpts devpts /dev/pts`",
    )
}

/// Before 6.2 every kernel did it, and nothing could forbid it; since then root still can.
fn pushes_into_terminal(host: &Host) -> bool {
    let old = host.os == "linux" && version(&host.kernel).is_some_and(|version| version < (6, 2));
    host.legacy_tiocsti == Some(1) || administrator(host) || old
}

fn legacy_tiocsti(_: &Host) -> Lack {
    Lack::new(
        "the kernel lets no process push bytes into its terminal",
        "sysctl dev.tty.legacy_tiocsti=1",
    )
}

/// Major and minor of a kernel release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use sandproof_probes::ability::Abilities;

    use super::*;

    /// An ordinary Linux host on which nothing works.
    fn host() -> Host {
        Host {
            os: "linux".to_owned(),
            kernel: "6.18.44".to_owned(),
            uid: 1000,
            capabilities: Some("0000000000000000".to_owned()),
            legacy_tiocsti: Some(0),
            ..Host::default()
        }
    }

    fn mend(host: &Host, word: &str) -> String {
        host.has(word.parse().unwrap()).unwrap_err().mend
    }

    #[test]
    fn every_lack_says_what_and_what_mends_it() {
        for capability in Capability::ALL {
            let nothing =
                if capability == Capability::NotRoot { Host { uid: 0, ..host() } } else { host() };
            let lack = nothing.has(capability).unwrap_err();
            assert!(!lack.what.is_empty() && !lack.mend.is_empty(), "{capability}");
        }
    }

    #[test]
    fn what_works_is_there() {
        let abilities = Abilities {
            ia32: true,
            x32: true,
            io_uring: true,
            mptcp: true,
            userns: true,
            seccomp: true,
            tty: true,
            ..Abilities::default()
        };
        let host = Host { abilities, landlock_abi: Some(7), legacy_tiocsti: Some(1), ..host() };
        let of_host = Capability::ALL.into_iter().filter(|capability| capability.of_host());
        for capability in of_host.filter(|capability| *capability != Capability::Root) {
            assert_eq!(host.has(capability), Ok(()), "{capability}");
        }
    }

    #[rstest]
    #[case(Some(7), "landlock>=8", "at least 7.0")]
    #[case(Some(7), "landlock>=40", "newer than those")]
    #[case(None, "landlock>=7", "lsm=landlock,yama,apparmor")]
    fn landlock_is_mended(#[case] abi: Option<u32>, #[case] word: &str, #[case] expected: &str) {
        let host = Host { landlock_abi: abi, ..host() };
        assert!(mend(&host, word).contains(expected), "{}", mend(&host, word));
    }

    #[test]
    fn the_boot_list_keeps_the_modules_there_are() {
        let host = Host { lsm: Some("capability,yama,selinux".to_owned()), ..host() };
        assert!(mend(&host, "landlock").contains("`lsm=landlock,yama,selinux`"));
    }

    #[rstest]
    #[case(Host { max_user_namespaces: Some(0), ..host() }, "user.max_user_namespaces")]
    #[case(Host { unprivileged_userns_clone: Some(0), ..host() }, "unprivileged_userns_clone=1")]
    #[case(Host { apparmor_restrict_unprivileged_userns: Some(1), ..host() }, "apparmor_restrict")]
    #[case(Host { container: Some("docker".to_owned()), ..host() }, "seccomp=unconfined")]
    #[case(host(), "CONFIG_USER_NS")]
    fn namespaces_are_mended(#[case] host: Host, #[case] expected: &str) {
        assert!(mend(&host, "userns").contains(expected));
    }

    #[test]
    fn root_with_its_capabilities_needs_no_user_namespace() {
        let root = |mask: &str| Host { uid: 0, capabilities: Some(mask.to_owned()), ..host() };
        assert!(root("000001ffffffffff").has(Capability::Userns).is_ok());
        assert!(root("00000000a80425fb").has(Capability::Userns).is_err());
        assert!(root("000001ffffffffff").has(Capability::LegacyTiocsti).is_ok());
    }

    #[test]
    fn old_kernels_push_into_terminals() {
        let host =
            |kernel: &str| Host { kernel: kernel.to_owned(), legacy_tiocsti: None, ..host() };
        assert!(host("6.1.0-44-amd64").has(Capability::LegacyTiocsti).is_ok());
        assert!(host("6.2.0").has(Capability::LegacyTiocsti).is_err());
        assert!(host("unknown").has(Capability::LegacyTiocsti).is_err());
    }
}
