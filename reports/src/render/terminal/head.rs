//! First lines: what ran, on what.

use crate::Journal;
use crate::provenance::{facts, subjects};
use crate::text::wrap;

/// Keys of the header and how they are said, a line each.
const LINES: [&[(&str, &str)]; 3] = [
    &[("os", "on"), ("kernel", "kernel"), ("arch", "")],
    &[
        ("landlock-abi", "Landlock ABI"),
        ("landlock-errata", "errata"),
        ("lsms", "LSMs"),
        ("user-namespaces", "user namespaces:"),
        ("apparmor", "AppArmor:"),
    ],
    &[("user", "user"), ("uid", "uid"), ("seed", "seed"), ("date", "date")],
];

/// The lines.
pub(super) fn render(journal: &Journal) -> String {
    let [system, mechanisms, run] = LINES.map(|keys| facts(journal, keys));
    let mut out = wrap("", &format!("{} {system}", facts(journal, &[("sandproof", "sandproof")])));
    for line in [mechanisms, run, subjects(journal).join(", ")] {
        if !line.is_empty() {
            out += &wrap("  ", &line);
        }
    }
    out
}
