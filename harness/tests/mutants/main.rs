//! Weakened variants of `confine`: each must turn a cell of the catalogue red, alone or together
//! with the other layers that hold the same promise.
//!
//! `backends/MUTANTS.md` says which scenarios catch which mutant. A trial runs one mutant on those
//! scenarios. `UPDATE_MUTANTS=1` runs every mutant on all scenarios of its part of the catalogue
//! instead, demands that each is caught and that `confine` itself has no red cell, and writes the
//! table anew.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod catch;
#[path = "../common/run.rs"]
mod run;
mod table;

use clap::ValueEnum as _;
use libtest_mimic::{Arguments, Failed, Trial};
use sandproof_backends::confine::mutant::{self, Area, Row, TABLE};

fn main() -> ExitCode {
    if sandproof_backends::host::PLATFORM != sandproof_scenarios::Platform::Linux {
        // The mutants weaken the Linux part.
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let trials = if std::env::var_os("UPDATE_MUTANTS").is_some() {
        vec![Trial::test("the_whole_catalogue", || catch::whole(&scratch()).map_err(Failed::from))]
    } else {
        let mut trials = vec![Trial::test("enough_of_every_kind", enough)];
        trials.extend(TABLE.iter().map(trial));
        trials
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(row: &'static Row) -> Trial {
    let name = mutant::name(row.mutant);
    Trial::test(format!("mutant/{name}"), move || {
        catch::known(row, &scratch().join(format!("mutant-{name}.jsonl"))).map_err(Failed::from)
    })
}

/// Where journals go.
fn scratch() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("run-{}", std::process::id()));
    std::fs::create_dir_all(&path).expect("the target folder can be written");
    path
}

/// Forty at least, and one at least in every area.
fn enough() -> Result<(), Failed> {
    let count = TABLE.iter().filter(|row| row.equivalent.is_none()).count();
    if count < 40 {
        return Err(format!("only {count} mutants").into());
    }
    let empty = Area::value_variants().iter().find(|area| !TABLE.iter().any(|r| r.area == **area));
    match empty {
        Some(area) => Err(format!("no mutant of {area:?}").into()),
        None => Ok(()),
    }
}
