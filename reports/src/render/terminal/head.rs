//! First lines: what ran, on what.

use crate::Journal;
use crate::provenance::{facts, subjects};
use crate::text::wrap;

/// A key of the header, and how it is said.
type Said = (&'static str, &'static str);

/// First line.
const SYSTEM: [Said; 5] = [
    ("sandproof", "sandproof"),
    ("os", "on"),
    ("os_version", ""),
    ("kernel", "kernel"),
    ("machine", ""),
];

/// What the host offers. The machine formats hold every other fact.
const MECHANISMS: [Said; 7] = [
    ("landlock_abi", "Landlock ABI"),
    ("landlock_errata", "errata"),
    ("lsm", "LSMs"),
    ("abilities.seccomp", "seccomp"),
    ("abilities.userns", "user namespaces"),
    ("apparmor_restrict_unprivileged_userns", "AppArmor restriction"),
    ("abilities.io_uring", "io_uring"),
];

/// How it was run.
const RUN: [Said; 6] = [
    ("user", "user"),
    ("uid", "uid"),
    ("container", "container"),
    ("without", "without"),
    ("seed", "seed"),
    ("date", "date"),
];

/// The lines.
pub(super) fn render(journal: &Journal) -> String {
    let mut out = wrap("", &facts(journal, &SYSTEM));
    let lines = [facts(journal, &MECHANISMS), facts(journal, &RUN), subjects(journal).join(", ")];
    for line in lines.iter().filter(|line| !line.is_empty()) {
        out += &wrap("  ", line);
    }
    out
}
