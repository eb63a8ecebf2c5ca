//! Runs mutants and looks which cells become `fail`. Other red verdicts do not count: a mutant
//! that cannot start at all proves nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sandproof_backends::confine::mutant::{self, Row, TABLE};
use sandproof_reports::journal::{self, Journal};
use sandproof_reports::{Record, Verdict};
use sandproof_scenarios::catalogue;

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
    let records = run(&arguments, journal)?.records;
    if records.iter().any(failed) {
        return Ok(());
    }
    let shown: Vec<String> =
        records.iter().map(|r| format!("{}: {}", r.cell(), r.verdict.word())).collect();
    Err(format!("nothing caught it:\n{}", shown.join("\n")))
}

/// Every mutant on the whole catalogue; writes the table.
pub(crate) fn whole(scratch: &Path) -> Result<(), String> {
    let mut backends = vec!["confine".to_owned()];
    for row in TABLE {
        backends.push(backend(row, false));
        if !row.held_by.is_empty() {
            backends.push(backend(row, true));
        }
    }
    // One that makes every start hang must not keep the others waiting for long.
    let mut arguments = ["--timeout", "10", "--backend"].map(str::to_owned).to_vec();
    arguments.push(backends.join(","));
    arguments.extend(areas()?);
    let records = run(&arguments, &scratch.join("mutants.jsonl"))?.records;
    let mut by: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for record in records.iter().filter(|record| failed(record)) {
        by.entry(record.backend.clone()).or_default().insert(record.id.clone());
    }
    let take = |name: String| by.get(&name).cloned().unwrap_or_default();
    let mut wrong: Vec<String> =
        take("confine".to_owned()).iter().map(|id| format!("confine itself fails {id}")).collect();
    let mut all = Vec::new();
    for row in TABLE {
        let caught = Caught { alone: take(backend(row, false)), group: take(backend(row, true)) };
        let seen = !caught.alone.is_empty() || !caught.group.is_empty();
        match row.equivalent {
            None if !seen => wrong.push(format!("{}: no scenario catches it", backend(row, false))),
            Some(_) if seen => {
                wrong.push(format!("{}: no equivalent, {caught:?}", backend(row, false)));
            }
            None | Some(_) => {}
        }
        all.push((row, caught));
    }
    table::write(&all)?;
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Filters for every area but a developer's day, which takes long and attacks nothing.
fn areas() -> Result<BTreeSet<String>, String> {
    let scenarios = catalogue::load_embedded().map_err(|complaints| format!("{complaints:?}"))?;
    let areas = scenarios.iter().filter_map(|scenario| scenario.id.split('/').next());
    Ok(areas.filter(|area| *area != "day").map(|area| format!("] {area}/")).collect())
}

fn failed(record: &Record) -> bool {
    record.verdict == Verdict::Fail
}

/// Runs sandproof with a journal and reads it back; red is what is looked for.
fn run(arguments: &[String], path: &Path) -> Result<Journal, String> {
    let file = path.display().to_string();
    let mut all = vec!["run", "--report", "json", "--journal", &file];
    all.extend(arguments.iter().map(String::as_str));
    let output = duct::cmd(env!("CARGO_BIN_EXE_sandproof"), all)
        .stdout_null()
        .stderr_capture()
        .unchecked()
        .run()
        .map_err(|error| error.to_string())?;
    match output.status.code() {
        Some(0 | 1) => journal::read(path).map_err(|error| error.to_string()),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
