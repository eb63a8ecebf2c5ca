//! Words that steps take from the system: signals, ioctl requests, namespaces, mount flags.

use sandproof_probes::Abi;

/// True on macOS. Numbers differ between systems; which ones apply is asked when running, as this
/// crate holds no code for one system only.
fn macos() -> bool {
    std::env::consts::OS == "macos"
}

/// Signal, its number on Linux, its number on macOS.
const SIGNALS: [(&str, i32, i32); 19] = [
    ("HUP", 1, 1),
    ("INT", 2, 2),
    ("QUIT", 3, 3),
    ("ILL", 4, 4),
    ("TRAP", 5, 5),
    ("ABRT", 6, 6),
    ("BUS", 7, 10),
    ("FPE", 8, 8),
    ("KILL", 9, 9),
    ("USR1", 10, 30),
    ("SEGV", 11, 11),
    ("USR2", 12, 31),
    ("PIPE", 13, 13),
    ("ALRM", 14, 14),
    ("TERM", 15, 15),
    ("CHLD", 17, 20),
    ("CONT", 18, 19),
    ("STOP", 19, 17),
    ("TSTP", 20, 18),
];

/// Ioctl request, its number on Linux, its number on macOS when it has one.
const IOCTLS: [(&str, u64, Option<u64>); 6] = [
    ("TIOCSTI", 0x5412, Some(0x8001_7472)),
    ("TIOCGWINSZ", 0x5413, Some(0x4008_7468)),
    ("TIOCSCTTY", 0x540e, Some(0x2000_7461)),
    ("TIOCNOTTY", 0x5422, Some(0x2000_7471)),
    ("TIOCLINUX", 0x541c, None),
    ("FIONREAD", 0x541b, Some(0x4004_667f)),
];

/// Namespaces of `unshare`.
pub(crate) const NAMESPACES: [&str; 8] =
    ["user", "mount", "pid", "network", "ipc", "uts", "cgroup", "time"];

/// Flags of `mount`.
pub(crate) const MOUNT_FLAGS: [&str; 19] = [
    "bind",
    "rec",
    "remount",
    "move",
    "ro",
    "rw",
    "nosuid",
    "nodev",
    "noexec",
    "noatime",
    "nodiratime",
    "relatime",
    "strictatime",
    "sync",
    "silent",
    "private",
    "shared",
    "slave",
    "unbindable",
];

/// Flags of `open`.
pub(crate) const OPEN_FLAGS: [&str; 11] = [
    "r",
    "w",
    "rw",
    "path",
    "dir",
    "create",
    "exclusive",
    "truncate",
    "append",
    "nofollow",
    "tmpfile",
];

/// Kinds of `mknod`.
pub(crate) const NODE_KINDS: [&str; 5] = ["fifo", "socket", "char", "block", "whiteout"];

/// Tables of `syscall`.
pub(crate) const ABIS: [&str; 3] = ["native", "x32", "i386"];

/// Calls of `send`.
pub(crate) const SEND_CALLS: [&str; 3] = ["sendto", "sendmsg", "sendmmsg"];

/// Types of unix sockets.
pub(crate) const SOCKET_TYPES: [&str; 2] = ["stream", "datagram"];

/// Names that `signal` knows.
pub(crate) fn signals() -> impl Iterator<Item = &'static str> {
    SIGNALS.into_iter().map(|(name, ..)| name)
}

/// Names that `ioctl` knows.
pub(crate) fn ioctls() -> impl Iterator<Item = &'static str> {
    IOCTLS.into_iter().map(|(name, ..)| name)
}

/// The number of a signal, by name with or without `SIG`, or `0`.
pub(crate) fn signal(word: &str) -> Option<i32> {
    if word == "0" {
        return Some(0);
    }
    let name = word.strip_prefix("SIG").unwrap_or(word);
    let (_, linux, mac) = SIGNALS.into_iter().find(|(known, ..)| *known == name)?;
    Some(if macos() { mac } else { linux })
}

/// The number of an ioctl request: decimal, `0x` hexadecimal, or a known name. The outer absence
/// is an unknown word, the inner one a request that this system does not have.
pub(crate) fn ioctl(word: &str) -> Option<Option<u64>> {
    if let Some(hex) = word.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(Some);
    }
    if let Ok(number) = word.parse() {
        return Some(Some(number));
    }
    let (_, linux, mac) = IOCTLS.into_iter().find(|(known, ..)| *known == word)?;
    Some(if macos() { mac } else { Some(linux) })
}

/// The number of a system call.
pub(crate) fn syscall(abi: Abi, name: &str) -> Option<i64> {
    sandproof_probes::syscalls::number(abi, name)
}

/// False for a name that no system call has. Only where all tables are at hand can that be said.
pub(crate) fn is_syscall(abi: Abi, name: &str) -> bool {
    let here = (std::env::consts::OS, std::env::consts::ARCH) == ("linux", "x86_64");
    !here || syscall(abi, name).is_some()
}

/// Lower-case letters, digits and single hyphens.
pub(crate) fn is_kebab(word: &str) -> bool {
    !word.is_empty()
        && word.split('-').all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
}

/// The name of an environment variable.
pub(crate) fn is_variable(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_found_by_either_name() {
        assert_eq!(signal("TERM"), Some(15));
        assert_eq!(signal("SIGTERM"), Some(15));
        assert_eq!(signal("0"), Some(0));
        assert_eq!(signal("15"), None);
        assert_eq!(signal("BOO"), None);
    }

    #[test]
    fn ioctls_are_numbers_or_names() {
        assert!(matches!(ioctl("TIOCSTI"), Some(Some(_))));
        assert_eq!(ioctl("0x10"), Some(Some(16)));
        assert_eq!(ioctl("16"), Some(Some(16)));
        assert_eq!(ioctl("TIOCBOO"), None);
    }

    /// The words are those of the types that the probe crate defines.
    #[test]
    fn words_decode() {
        fn all<T: serde::de::DeserializeOwned>(words: &[&str]) {
            for word in words {
                assert!(crate::yaml::read::<T>(word, "word").is_ok(), "{word}");
            }
            let unknown = crate::yaml::read::<T>("wrong", "word").err().unwrap();
            for word in words {
                assert!(words.len() > 9 || unknown[0].message.contains(&format!("`{word}`")));
            }
            assert_eq!(unknown[0].message.matches('`').count() / 2 - 1, words.len() % 11);
        }
        all::<sandproof_probes::OpenFlag>(&OPEN_FLAGS);
        all::<sandproof_probes::NodeKind>(&NODE_KINDS);
        all::<Abi>(&ABIS);
        all::<sandproof_probes::SocketType>(&SOCKET_TYPES);
        all::<sandproof_probes::SendCall>(&SEND_CALLS);
    }

    #[test]
    fn kebab_is_kebab() {
        assert!(is_kebab("deny-glob2"));
        for wrong in ["", "-a", "a-", "a--b", "A", "a_b", "ä", "a b"] {
            assert!(!is_kebab(wrong), "{wrong}");
        }
    }
}
