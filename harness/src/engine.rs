//! The engine: plans, runs every cell on some workers, and tells what it does as [`Event`]s.
//!
//! Everything it starts belongs to the uid of this process; `--as` runs the whole engine in a
//! child process of that user.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use sandproof_backends::host::Host;
use sandproof_reports::{Header, Reason, Record, Verdict};
use sandproof_scenarios::Scenario;
use serde::{Deserialize, Serialize};

use crate::arena_root::{ArenaRoot, PlaceError, STACK, base};
use crate::arm::Bench;
use crate::plan::{self, Cell, Ready, Selection};
use crate::supervisor::Supervisor;

/// How to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which cells.
    pub selection: Selection,
    /// Workers.
    pub jobs: usize,
    /// Time of one arm.
    pub timeout: Duration,
    /// Words come from it.
    pub seed: u64,
    /// `--arena-root`.
    pub arena_root: Option<PathBuf>,
    /// Leave arenas behind.
    pub keep_arena: bool,
    /// Stop at the first red verdict of a gating backend.
    pub fail_fast: bool,
    /// Only show that the attacks work.
    pub control_only: bool,
    /// What `--without` took away, for the records.
    pub simulated: Option<String>,
}

/// What the engine tells, in this order: one `Planned`, then a `Record` per planned cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// Everything that will be recorded, in the order of the journal, none judged yet.
    Planned {
        /// First line of the journal.
        header: Header,
        /// One blank record per cell.
        cells: Vec<Record>,
        /// Backends that were asked for or known, and cannot be started.
        not_ready: Vec<Absent>,
    },
    /// A cell is done; its place in the plan comes first.
    Record(usize, Box<Record>),
    /// Something to tell the user.
    Note(String),
}

/// A backend that cannot be started here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absent {
    /// Which.
    pub backend: String,
    /// It was named with `--backend`.
    pub named: bool,
    /// What is missing.
    pub why: String,
    /// What mends it.
    pub mend: String,
}

/// The engine itself failed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No place for arenas: the request is wrong.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The request is wrong in another way.
    #[error("{0}")]
    Refused(String),
    /// Something else.
    #[error("{0}")]
    Failed(String),
}

/// What a run works on.
#[derive(Debug)]
pub struct Work<'a> {
    /// The scenarios.
    pub scenarios: &'a [Scenario],
    /// The backends that are ready.
    pub backends: &'a [Ready],
    /// Those that are not.
    pub absent: Vec<Absent>,
    /// This machine.
    pub host: &'a Host,
    /// First line of the journal.
    pub header: Header,
    /// User of the arms.
    pub user: String,
    /// Environment of arms before HOME and TMPDIR.
    pub base_env: BTreeMap<String, String>,
}

/// Makes the folder of a run.
///
/// # Errors
/// There is no place for it.
pub fn arena_root(settings: &Settings) -> Result<ArenaRoot, PlaceError> {
    let base = base(settings.arena_root.as_deref())?;
    let executable = std::env::current_exe()
        .map_err(|error| PlaceError::Io { path: "/proc/self/exe".into(), error })?;
    ArenaRoot::create(&base, &executable, settings.keep_arena)
}

/// Cells that share a control arm.
type Group<'a> = Vec<(usize, Cell<'a>)>;

/// Runs all cells; events come in the order in which things happen.
///
/// # Errors
/// A supervisor cannot be started.
pub fn run(
    root: &ArenaRoot,
    settings: &Settings,
    work: Work<'_>,
    sink: &mut dyn FnMut(Event),
) -> Result<(), EngineError> {
    let cells = plan::plan(work.scenarios, work.backends, work.host, &settings.selection);
    let blanks = blanks(&cells, &work, settings);
    sink(Event::Planned { header: work.header, cells: blanks, not_ready: work.absent });
    let queue = Mutex::new(groups(cells));
    let counter = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let jobs = settings.jobs.clamp(1, 256);
    let supervisors = (0..jobs)
        .map(|_| Supervisor::spawn(root.executable()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| EngineError::Failed(format!("cannot start a supervisor: {error}")))?;
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for supervisor in supervisors {
            let bench = Bench {
                root,
                counter: &counter,
                seed: settings.seed,
                timeout: settings.timeout,
                keep: settings.keep_arena,
                base_env: &work.base_env,
                supervisor,
            };
            let worker = Worker {
                bench,
                backends: work.backends,
                user: &work.user,
                settings,
                stop: &stop,
                sender: sender.clone(),
            };
            let queue = &queue;
            let thread = std::thread::Builder::new().stack_size(STACK);
            let spawned = thread.spawn_scoped(scope, move || worker.run(queue));
            if let Err(error) = spawned {
                sink(Event::Note(format!("a worker cannot be started: {error}")));
            }
        }
        drop(sender);
        for (place, record) in receiver {
            sink(Event::Record(place, Box::new(record)));
        }
    });
    Ok(())
}

fn blanks(cells: &[Cell<'_>], work: &Work<'_>, settings: &Settings) -> Vec<Record> {
    let blank = |cell: &Cell<'_>| Record {
        simulated: settings.simulated.clone(),
        ..plan::blank(cell, &work.backends[cell.backend], &work.user)
    };
    cells.iter().map(blank).collect()
}

/// Cells of the same route, in plan order.
fn groups(cells: Vec<Cell<'_>>) -> VecDeque<Group<'_>> {
    let mut groups: VecDeque<Group<'_>> = VecDeque::new();
    for (place, cell) in cells.into_iter().enumerate() {
        let same = groups.back().is_some_and(|group| {
            let last = &group[0].1;
            last.scenario.id == cell.scenario.id && last.route.0 == cell.route.0
        });
        match groups.back_mut() {
            Some(group) if same => group.push((place, cell)),
            _ => groups.push_back(vec![(place, cell)]),
        }
    }
    groups
}

/// One thread of a run.
struct Worker<'a> {
    bench: Bench<'a>,
    backends: &'a [Ready],
    user: &'a str,
    settings: &'a Settings,
    stop: &'a AtomicBool,
    sender: mpsc::Sender<(usize, Record)>,
}

impl Worker<'_> {
    fn run(&self, queue: &Mutex<VecDeque<Group<'_>>>) {
        loop {
            let group = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(group) = group else { return };
            self.group(&group);
        }
    }

    fn group(&self, group: &Group<'_>) {
        let first = &group[0].1;
        let needed = group.iter().any(|(_, cell)| cell.skip.is_none());
        let control = if needed && !self.stopped() {
            crate::cell::control(&self.bench, first.scenario, first.route)
        } else {
            Err(crate::arm::ArmError::Harness("it was not needed".to_owned()))
        };
        for (place, cell) in group {
            let record =
                if self.stopped() { self.not_run(cell) } else { self.cell(cell, &control) };
            if self.settings.fail_fast && record.gating && record.verdict.red() {
                self.stop.store(true, Ordering::Relaxed);
            }
            // The receiver lives as long as the scope; a failed send means it is being torn down.
            let record = Record { simulated: self.settings.simulated.clone(), ..record };
            if self.sender.send((*place, record)).is_err() {
                return;
            }
        }
    }

    fn cell(
        &self,
        cell: &Cell<'_>,
        control: &Result<crate::arm::Outcome, crate::arm::ArmError>,
    ) -> Record {
        let ready = &self.backends[cell.backend];
        if self.settings.control_only && cell.skip.is_none() {
            return crate::cell::control_only(cell, ready, control, self.user);
        }
        crate::cell::run(&self.bench, cell, ready, control, self.user)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The run was stopped.
    fn not_run(&self, cell: &Cell<'_>) -> Record {
        let blank = plan::blank(cell, &self.backends[cell.backend], self.user);
        let stopped = || Reason::new("fail-fast", "an earlier cell was red");
        let reason = Some(cell.skip.clone().unwrap_or_else(stopped));
        Record { verdict: Verdict::Skip, reason, ..blank }
    }
}
