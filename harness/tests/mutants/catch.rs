//! Runs mutants and looks which cells become `fail`. Other red verdicts do not count: a mutant
//! that cannot start at all proves nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::ValueEnum as _;
use sandproof_backends::confine::mutant::{self, Area, Row, TABLE};
use sandproof_reports::{Record, Verdict};

use crate::run::run;
use crate::table;

/// The scenarios that catch a mutant, alone and with the other layers off.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caught {
    pub(crate) alone: BTreeSet<String>,
    pub(crate) group: BTreeSet<String>,
}

/// The backend of a mutant.
fn backend(row: &Row, group: bool) -> String {
    let layers = if group { "-and-layers" } else { "" };
    format!("mutant-{}{layers}", mutant::name(row.mutant))
}

/// One mutant on the scenarios that are known to catch it.
pub(crate) fn known(row: &Row, journal: &Path) -> Result<(), String> {
    if let Some(proof) = row.equivalent {
        return if proof.is_empty() { Err("a proof is missing".to_owned()) } else { Ok(()) };
    }
    let known = table::read()?;
    let caught = known.get(&mutant::name(row.mutant)).cloned().unwrap_or_default();
    let (group, scenarios) =
        if caught.alone.is_empty() { (true, caught.group) } else { (false, caught.alone) };
    if scenarios.is_empty() {
        return Err(format!(
            "{}: no scenario is known to catch it; run `UPDATE_MUTANTS=1 cargo test -p sandproof --test mutants`",
            backend(row, false)
        ));
    }
    let filters: Vec<String> = scenarios.iter().map(|id| format!("{id}/")).collect();
    let mut arguments = vec!["--backend".to_owned(), backend(row, group)];
    arguments.extend(filters);
    let records = run(&words(&arguments), journal)?.records;
    if records.iter().any(failed) {
        return Ok(());
    }
    let shown: Vec<String> =
        records.iter().map(|r| format!("{}: {}", r.cell(), r.verdict.word())).collect();
    Err(format!("nothing caught it:\n{}", shown.join("\n")))
}

/// Every mutant on the scenarios of its part, and `confine` on all of these; writes the table.
pub(crate) fn whole(scratch: &Path) -> Result<(), String> {
    let mut wrong = own_failures(&scratch.join("confine.jsonl"))?;
    let mut all = Vec::new();
    for area in Area::value_variants() {
        let rows = TABLE.iter().filter(|row| row.area == *area);
        let journal = scratch.join(format!("mutants-{}.jsonl", mutant::name(*area)));
        all.extend(part(&rows.collect::<Vec<_>>(), folders(*area), &journal)?);
    }
    for (row, caught) in &all {
        let seen = !caught.alone.is_empty() || !caught.group.is_empty();
        let name = backend(row, false);
        match row.equivalent {
            None if !seen => wrong.push(format!("{name}: no scenario catches it")),
            Some(_) if seen => wrong.push(format!("{name}: no equivalent, {caught:?}")),
            None | Some(_) => {}
        }
    }
    table::write(&all)?;
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// What `confine` itself fails.
fn own_failures(journal: &Path) -> Result<Vec<String>, String> {
    let records = run(&["--backend", "confine"], journal)?.records;
    let red = records.iter().filter(|record| record.verdict.red());
    Ok(red.map(|record| format!("{} is {}", record.cell(), record.verdict.word())).collect())
}

/// These mutants on the scenarios in these folders.
fn part(
    rows: &[&'static Row],
    folders: &[&str],
    journal: &Path,
) -> Result<Vec<(&'static Row, Caught)>, String> {
    let groups = rows.iter().filter(|row| !row.held_by.is_empty()).map(|row| backend(row, true));
    let backends: Vec<String> = rows.iter().map(|row| backend(row, false)).chain(groups).collect();
    // One that makes every start hang must not keep the others waiting for long.
    let mut arguments = ["--timeout", "10", "--backend"].map(str::to_owned).to_vec();
    arguments.push(backends.join(","));
    arguments.extend(folders.iter().map(|folder| format!("] {folder}/")));
    let mut by: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for record in run(&words(&arguments), journal)?.records.into_iter().filter(failed) {
        by.entry(record.backend).or_default().insert(record.id);
    }
    let take = |name: String| by.get(&name).cloned().unwrap_or_default();
    let caught = |row| Caught { alone: take(backend(row, false)), group: take(backend(row, true)) };
    Ok(rows.iter().map(|row| (*row, caught(row))).collect())
}

/// Folders of the catalogue in which the mutants of an area are looked for. All scenarios for all
/// mutants would be a hundred thousand cells.
fn folders(area: Area) -> &'static [&'static str] {
    match area {
        Area::Deny | Area::Globs | Area::Pins | Area::Residue => &["fs"],
        Area::Protect => &["fs", "start"],
        Area::Verification => &["fs", "start", "config"],
        Area::Network => &["net", "kernel"],
        Area::ForeignAbi => &["kernel", "net"],
        Area::LandlockRights => &["fs", "net", "kernel", "process"],
        Area::Environment => &["env", "config"],
        Area::Descriptors | Area::Process => &["process", "kernel"],
        Area::Config => &["config", "env", "start"],
        Area::Session => &["session"],
    }
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

fn failed(record: &Record) -> bool {
    record.verdict == Verdict::Fail
}
