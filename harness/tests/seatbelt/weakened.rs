//! Weakened profiles: each must break a cell that holds under the whole one. What none of them
//! shows is not tested.
//!
//! `backends/MUTANTS-SEATBELT.md` says which scenarios notice which. A trial plays one weakened
//! profile on those. `UPDATE_MUTANTS=1` plays each on the whole catalogue and writes the table anew.

mod edit;
mod table;

use std::collections::BTreeSet;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};

use super::play::{Cell, Shown};
use edit::{
    DENY, PIN, PROTECT, READING, WRITING, after_grants, data_alone, denies_first, in_denies, lines,
    without,
};

/// What is taken away from a profile, or added to it.
#[derive(Clone, Copy)]
struct Weakening {
    name: &'static str,
    area: &'static str,
    promise: &'static str,
    weaken: fn(&str) -> String,
}

const fn row(
    area: &'static str,
    name: &'static str,
    promise: &'static str,
    weaken: fn(&str) -> String,
) -> Weakening {
    Weakening { name, area, promise, weaken }
}

const WEAKENINGS: [Weakening; 27] = [
    row("deny", "deny-not-written", "what is denied cannot be read", |text| without(text, DENY)),
    row("deny", "deny-reading-alone", "what is denied cannot be moved and read", |text| {
        in_denies(text, &WRITING, "")
    }),
    row("deny", "deny-writing-alone", "what is denied cannot be read", |text| {
        in_denies(text, &READING, "")
    }),
    row("deny", "deny-without-file-link", "what is denied gets no second name", |text| {
        in_denies(text, &["file-link"], "")
    }),
    row("deny", "deny-path-alone", "what lies in a denied folder is denied", |text| {
        in_denies(text, &["(subpath"], "(literal")
    }),
    row("deny", "deny-before-grants", "no grant wins over what is denied", denies_first),
    row("globs", "glob-without-pem", "what a glob matches is denied", |text| {
        lines(text, |line| !(line.starts_with(DENY) && line.contains("\\.pem(")))
    }),
    row("globs", "glob-for-what-is-there", "a glob holds for what comes later", |text| {
        text.replace("[^/]*\\.pem(", "early\\.pem(")
    }),
    row("globs", "glob-needs-a-folder", "`**` stands for no folder as well", |text| {
        text.replace("(.*/)?", ".*/")
    }),
    row("globs", "glob-without-classes", "a class stands for its characters", |text| {
        text.replace("[a-c]", "a-c")
    }),
    row("globs", "glob-class-of-all", "a class stands for its characters alone", |text| {
        text.replace("[a-c]", "[^/]")
    }),
    row("globs", "glob-without-targets", "what a matching link leads to is denied", |text| {
        without(text, "real.txt")
    }),
    row("pins", "no-pins", "no folder above what is denied is moved", |text| without(text, PIN)),
    row("pins", "no-pins-against-moving", "no folder above is moved away", |text| {
        text.replace("(deny file-write-unlink file-write-create ", "(deny file-write-create ")
    }),
    row("pins", "pins-hold-what-is-below", "neighbours can be written", |text| {
        lines(&text.replace(PIN, "(deny "), |_| true)
            .lines()
            .map(|line| match line.strip_prefix("(deny file-write-create (literal ") {
                Some(rest) => format!("{PIN}file-write-create (subpath {rest}\n"),
                None => format!("{line}\n"),
            })
            .collect()
    }),
    row("protect", "protect-not-written", "what is protected cannot be written", |text| {
        without(text, PROTECT)
    }),
    row("protect", "protect-data-alone", "what is protected cannot be replaced", data_alone),
    row("protect", "protect-denies-reading", "what is protected can be read", |text| {
        text.replace(PROTECT, "(deny file-read* file-read-data file-write* ")
    }),
    row("protect", "state-not-protected", "settings and log stay as they are", |text| {
        without(text, "sandbox.toml")
    }),
    row("grants", "file-link-for-all", "no file outside gets a second name", |text| {
        after_grants(text, "(allow file-link)\n")
    }),
    row("grants", "file-link-for-none", "hard links work in the workspace", |text| {
        text.replace(" file-write* file-link file-clone (subpath", " file-write* (subpath")
    }),
    row("grants", "home-written", "home takes nothing new", |text| {
        after_grants(text, "(allow file-write* (regex #\"^.*/[0-9]+\\.[0-9]+/home/.*$\"))\n")
    }),
    row("grants", "strict-reads-all", "strict hides the rest of the disk", |text| {
        after_grants(text, "(allow file-read* (subpath \"/\"))\n")
    }),
    row("grants", "read-only-writes", "read-only leaves the workspace as it is", |text| {
        after_grants(text, "(allow file-write* (regex #\"^.*/[0-9]+\\.[0-9]+/work/.*$\"))\n")
    }),
    row("grants", "no-devices", "the null device works", |text| without(text, "/dev/null")),
    row("network", "sockets-for-all", "sockets outside cannot be reached", |text| {
        after_grants(text, "(allow network-outbound)\n")
    }),
    row("network", "sockets-for-none", "sockets of the workspace work", |text| {
        without(text, "(allow network-outbound (remote unix-socket ")
    }),
];

/// A trial for each.
pub(crate) fn trials(cells: &Arc<Vec<Cell>>) -> Vec<Trial> {
    if std::env::var_os("UPDATE_MUTANTS").is_some() {
        let cells = Arc::clone(cells);
        return vec![Trial::test("weakened: the whole catalogue", move || whole(&cells))];
    }
    let trial = |row: Weakening| {
        let cells = Arc::clone(cells);
        Trial::test(format!("weakened: {}", row.name), move || known(&cells, &row))
    };
    WEAKENINGS.into_iter().map(trial).collect()
}

/// One of the scenarios that the table names notices it.
fn known(cells: &[Cell], row: &Weakening) -> Result<(), Failed> {
    let table = table::read()?;
    let ids = table.get(row.name).ok_or("it is not in MUTANTS-SEATBELT.md")?;
    if noticed(cells, row, |id| ids.contains(id)).is_empty() {
        return Err(Failed::from(format!("none of {ids:?} notices it")));
    }
    Ok(())
}

/// Each is noticed; the table is written anew.
fn whole(cells: &[Cell]) -> Result<(), Failed> {
    let all: Vec<_> = WEAKENINGS.iter().map(|row| (row, noticed(cells, row, |_| true))).collect();
    table::write(&all)?;
    let unseen = all.iter().filter(|(_, ids)| ids.is_empty()).map(|(row, _)| row.name);
    let unseen: Vec<&str> = unseen.collect();
    if unseen.is_empty() { Ok(()) } else { Err(format!("nothing notices {unseen:?}").into()) }
}

/// The wanted scenarios of which a cell that holds under the whole profile is broken.
fn noticed(cells: &[Cell], row: &Weakening, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let held = cells.iter().filter(|cell| wanted(&cell.scenario.id));
    let held = held.filter(|cell| *cell.whole() == Shown::Held);
    let broken = held.filter(|cell| matches!(cell.play(&row.weaken), Shown::Broken(_)));
    broken.map(|cell| cell.scenario.id.clone()).collect()
}
