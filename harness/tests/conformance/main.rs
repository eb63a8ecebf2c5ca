//! Every cell of the embedded catalogue on the reference sandbox, as libtest-mimic trials; and the
//! liars, each of which must be caught. `SANDPROOF_BACKENDS=bwrap,codex` adds backends.
//!
//! The run happens once, before the trials: they read its records. Best-effort and skip print as
//! ignored with the reason, so a documented gap never looks like a pass.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use sandproof_reports::Record;
use sandproof_reports::Verdict;

mod liars;
#[path = "../common/run.rs"]
mod run;

use run::run;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let scratch = scratch();
    let mut trials = Vec::new();
    for backend in backends() {
        trials.extend(cells(&backend, &scratch));
    }
    trials.extend(liars::trials(&scratch));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Where journals go: below the target folder, never where profiles grant access.
fn scratch() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("run-{}", std::process::id()));
    std::fs::create_dir_all(&path).expect("the target folder can be written");
    path
}

/// The backends whose cells become trials.
fn backends() -> Vec<String> {
    let more = std::env::var("SANDPROOF_BACKENDS").unwrap_or_default();
    let more = more.split(',').filter(|name| !name.is_empty()).map(str::to_owned);
    std::iter::once("confine".to_owned()).chain(more).collect()
}

/// Runs a backend over the catalogue; one trial per cell.
fn cells(backend: &str, scratch: &Path) -> Vec<Trial> {
    let journal = match run(&["--backend", backend], &scratch.join(format!("{backend}.jsonl"))) {
        Ok(journal) => journal,
        Err(why) => return vec![Trial::test(format!("[{backend}] run"), move || Err(why.into()))],
    };
    assert!(!journal.records.is_empty(), "{backend} has no cell");
    journal.records.into_iter().map(trial).collect()
}

fn trial(record: Record) -> Trial {
    Trial::ignorable_test(record.cell(), move || {
        let why = record.reason.as_ref().map_or(String::new(), |reason| reason.text.clone());
        match record.verdict {
            Verdict::Pass => Ok(Completion::Completed),
            Verdict::BestEffort | Verdict::Skip | Verdict::KnownFail => {
                Ok(Completion::ignored_with(format!("{}: {why}", record.verdict.word())))
            }
            Verdict::Fail | Verdict::Inconclusive | Verdict::StaleWaiver | Verdict::Missing => {
                Err(Failed::from(format!("{}: {why}\n{}", record.verdict.word(), record.evidence)))
            }
        }
    })
}
