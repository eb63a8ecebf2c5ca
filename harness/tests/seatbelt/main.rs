//! The catalogue against the profiles of Seatbelt, on any system: the profile is written for the
//! world of a route, read back by the evaluator, and asked before each attempt of the route is
//! carried out. What it denies is not done; what it allows is really done. Then the world is
//! looked at as in any arm.
//!
//! This is a simulation, so nothing here is a verdict: it shows that the profile says what the
//! scenario needs, not that the kernel of macOS does what the profile says. Routes that cannot be
//! simulated are trials too, ignored with the reason, and each scenario that is promised on macOS
//! is tried or stands in [`UNTRIED`].

mod play;
mod player;
mod weakened;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use sandproof_backends::Backend;
use sandproof_backends::seatbelt::Seatbelt;
use sandproof_scenarios::{Capability, Platform, Profile, Scenario, Strength, catalogue};

use play::{Cell, Shown};

/// Scenarios about files and the network that are promised on macOS and cannot be simulated.
const UNTRIED: [(&str, &str); 2] = [
    ("fs/deny-blocks-odd-readers", "its routes are programs, and a flag of open of Linux"),
    ("fs/deny-stops-running", "its routes are programs"),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let scenarios = catalogue::load_embedded().expect("the catalogue loads");
    let scratch = tempfile::Builder::new()
        .prefix("sb-")
        .tempdir_in(Path::new(env!("CARGO_TARGET_TMPDIR")))
        .expect("the target folder can be written");
    let scratch_path = scratch.path().canonicalize().expect("it is there");
    let cells = Arc::new(cells(scenarios, &scratch_path));
    let mut trials: Vec<Trial> =
        (0..cells.len()).map(|number| trial(Arc::clone(&cells), number)).collect();
    trials.extend(weakened::trials(&cells));
    trials.push(Trial::test("every promise is tried", move || complete(&cells)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// One cell for each route and profile.
fn cells(scenarios: Vec<Scenario>, scratch: &Path) -> Vec<Cell> {
    let mut cells = Vec::new();
    for scenario in scenarios.into_iter().map(Arc::new) {
        let lack = lack(&scenario);
        for profile in &scenario.policy.profiles {
            for route in 0..scenario.routes.len() {
                let arena: PathBuf = scratch.join(cells.len().to_string());
                cells.push(Cell::new(Arc::clone(&scenario), *profile, route, arena, lack.clone()));
            }
        }
    }
    cells
}

/// Why no route of a scenario can be simulated.
fn lack(scenario: &Scenario) -> Option<String> {
    let can = Seatbelt::default();
    let missing = scenario.needs.iter().find_map(|word| {
        let need = Capability::ALL.into_iter().find(|one| one.word() == word)?;
        let why = if need.of_host() { "a host with" } else { "a sandbox with" };
        (need.of_host() || !can.can().contains(&need)).then(|| format!("it needs {why} {word}"))
    });
    missing.or_else(|| scenario.policy.env.as_ref().map(|_| "it is about variables".to_owned()))
}

fn trial(cells: Arc<Vec<Cell>>, number: usize) -> Trial {
    Trial::ignorable_test(cells[number].name(), move || {
        let cell = &cells[number];
        match (cell.whole().clone(), cell.scenario.promise.on(Platform::Macos)) {
            (Shown::Held, _) => Ok(Completion::Completed),
            (Shown::Unsimulated(why), _) => {
                Ok(Completion::ignored_with(format!("not simulated: {why}")))
            }
            (Shown::Broken(why), Strength::BestEffort(reason)) => {
                Ok(Completion::ignored_with(format!("best-effort: {reason}; {why}")))
            }
            (Shown::Broken(why), Strength::Enforced) => Err(Failed::from(why)),
            (Shown::Failed(why), _) => Err(Failed::from(format!("cannot be played: {why}"))),
        }
    })
}

/// Every scenario about files or the network that is promised on macOS has a route that held, or
/// stands among those that cannot have one.
fn complete(cells: &[Cell]) -> Result<(), Failed> {
    let ids = |wanted: &dyn Fn(&Cell) -> bool| -> BTreeSet<&str> {
        cells.iter().filter(|cell| wanted(cell)).map(|cell| cell.scenario.id.as_str()).collect()
    };
    let of_linux = |cell: &Cell| cell.scenario.tags.iter().any(|tag| tag == "linux");
    let promised = ids(&|cell| {
        let enforced = cell.scenario.promise.on(Platform::Macos) == &Strength::Enforced;
        let area = ["fs/", "net/"].iter().any(|area| cell.scenario.id.starts_with(area));
        enforced && area && !of_linux(cell)
    });
    let tried = ids(&|cell| *cell.whole() == Shown::Held);
    let untried: BTreeSet<&str> = promised.difference(&tried).copied().collect();
    let known: BTreeSet<&str> = UNTRIED.iter().map(|(id, _)| *id).collect();
    if promised.is_empty() || untried != known {
        let text = format!("promised on macOS and not simulated: {untried:?}; listed: {known:?}");
        return Err(Failed::from(text));
    }
    Ok(())
}

/// The name of a profile in the name of a trial.
fn word(profile: Profile) -> &'static str {
    profile.name()
}
