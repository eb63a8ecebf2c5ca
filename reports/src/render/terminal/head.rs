//! First lines: what ran, on what.

use crate::Journal;
use crate::provenance::{facts, other_facts, subjects};
use crate::text::wrap;

/// A key of the header, and how it is said.
type Said = (&'static str, &'static str);

/// First line.
const SYSTEM: [Said; 4] =
    [("sandproof", "sandproof"), ("os", "on"), ("kernel", "kernel"), ("arch", "")];

/// What the host offers.
const MECHANISMS: [Said; 5] = [
    ("landlock-abi", "Landlock ABI"),
    ("landlock-errata", "errata"),
    ("lsms", "LSMs"),
    ("user-namespaces", "user namespaces:"),
    ("apparmor", "AppArmor:"),
];

/// How it was run.
const RUN: [Said; 5] =
    [("user", "user"), ("uid", "uid"), ("without", "without"), ("seed", "seed"), ("date", "date")];

/// The lines.
pub(super) fn render(journal: &Journal) -> String {
    let known = [&SYSTEM[..], &MECHANISMS, &RUN].concat();
    let known: Vec<&str> = known.iter().map(|(key, _)| *key).collect();
    let mut out = wrap("", &facts(journal, &SYSTEM));
    let lines = [
        facts(journal, &MECHANISMS),
        // A fact that a later version records is shown before this file knows its name.
        other_facts(journal, &known),
        facts(journal, &RUN),
        subjects(journal).join(", "),
    ];
    for line in lines.iter().filter(|line| !line.is_empty()) {
        out += &wrap("  ", line);
    }
    out
}
