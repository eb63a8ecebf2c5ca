//! [`Operation`]: the operations that our profiles name, and the family of each.

use std::fmt;

/// One operation, or a family of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation(usize);

/// Name and family.
const TABLE: &[(&str, &str)] = &[
    ("default", ""),
    ("file-clone", "default"),
    ("file-ioctl", "default"),
    ("file-link", "default"),
    ("file-map-executable", "default"),
    ("file-read*", "default"),
    ("file-read-data", "file-read*"),
    ("file-read-metadata", "file-read*"),
    ("file-read-xattr", "file-read*"),
    ("file-write*", "default"),
    ("file-write-create", "file-write*"),
    ("file-write-data", "file-write*"),
    ("file-write-flags", "file-write*"),
    ("file-write-mode", "file-write*"),
    ("file-write-owner", "file-write*"),
    ("file-write-setugid", "file-write*"),
    ("file-write-times", "file-write*"),
    ("file-write-unlink", "file-write*"),
    ("file-write-xattr", "file-write*"),
    ("ipc-posix-sem*", "default"),
    ("ipc-posix-shm*", "default"),
    ("mach-lookup", "default"),
    ("network*", "default"),
    ("network-bind", "network*"),
    ("network-inbound", "network*"),
    ("network-outbound", "network*"),
    ("process-exec", "default"),
    ("process-fork", "default"),
    ("process-info*", "default"),
    ("pseudo-tty", "default"),
    ("signal", "default"),
    ("sysctl-read", "default"),
    ("system-socket", "default"),
];

impl Operation {
    /// The operation of this name, if a profile of ours can name it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().position(|(known, _)| *known == name).map(Self)
    }

    /// Every single operation of a family.
    #[must_use]
    pub fn of_family(family: &str) -> Vec<Self> {
        let members = TABLE.iter().enumerate().filter(|(_, (_, of))| *of == family);
        members.map(|(at, _)| Self(at)).collect()
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        TABLE[self.0].0
    }

    /// Itself, its family, and so on up to the default.
    #[must_use]
    pub fn chain(self) -> Vec<Self> {
        let above = |one: &Self| Self::named(TABLE[one.0].1);
        std::iter::successors(Some(self), above).collect()
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
