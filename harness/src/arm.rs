//! Runs one arm: builds its world, starts the subject, tries the steps, and looks from outside.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sandproof_backends::{Backend, Express, Launch, ReceiptItem, Unsupported};
use sandproof_probes::wire::{Hello, PROBE_ARGUMENT};
use sandproof_scenarios::{Expectation, Fixture, Profile, Route, Scenario, Step};

use crate::arena_root::{ArenaRoot, remove_tree};
use crate::evidence::{Arm, Attempted, Clause, Disturbance, End, Start};
use crate::inspect::{Seen, clauses};
use crate::own_log::OwnLogs;
use crate::photo::{CHANNEL, Entry, Kind, Look, Photo};
use crate::script::Script;
use crate::session::{Finished, Gone};
use crate::supervisor::Supervisor;
use crate::world::{Words, World};

/// What every arm of a run shares.
#[derive(Debug)]
pub struct Bench<'a> {
    /// Where arenas go.
    pub root: &'a ArenaRoot,
    /// Numbers arenas.
    pub counter: &'a AtomicU64,
    /// Words come from it.
    pub seed: u64,
    /// Time of one arm.
    pub timeout: Duration,
    /// Leave arenas behind.
    pub keep: bool,
    /// Environment of arms before HOME and TMPDIR.
    pub base_env: &'a BTreeMap<String, String>,
    /// Starts subjects.
    pub supervisor: Supervisor,
}

/// One arm to run.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Its route.
    pub route: (&'a str, &'a Route),
    /// The world.
    pub given: &'a [Fixture],
    /// How it is started.
    pub backend: &'a dyn Backend,
    /// Under which profile.
    pub profile: Profile,
    /// `control`, `attack`, `subject` or `twin`.
    pub name: &'static str,
    /// What must work afterwards.
    pub still_works: &'a [Step],
}

/// What one arm did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Facts for the judge; residue is added where the control arm is known.
    pub arm: Arm,
    /// Room paths that changed, and how.
    pub changes: BTreeMap<PathBuf, Change>,
    /// How often listeners were called.
    pub calls: usize,
    /// What was left outside the rooms.
    pub left: Vec<String>,
    /// Layer that denied, where it can be shown.
    pub layer: Option<&'static str>,
    /// Receipt of the launch.
    pub receipt: Vec<ReceiptItem>,
    /// What the probe measured about itself.
    pub hello: Option<Hello>,
    /// What the subject said, with what varies replaced.
    pub said: String,
    /// How long it took, start of the world to end of the look.
    pub time: Duration,
    /// Where its arena is, when kept.
    pub kept: Option<PathBuf>,
}

/// How a room path changed.
#[derive(Clone, Debug)]
pub struct Change {
    /// `appeared`, `vanished`, or what about it changed.
    pub how: String,
    /// What is there now.
    pub now: Option<Entry>,
}

/// An arm that could not be run at all.
#[derive(Debug, thiserror::Error)]
pub enum ArmError {
    /// The backend cannot express the policy here: a skip.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The harness itself failed.
    #[error("{0}")]
    Harness(String),
}

/// Runs one arm.
///
/// # Errors
/// See [`ArmError`].
pub fn run(bench: &Bench<'_>, plan: &Plan<'_>) -> Result<Outcome, ArmError> {
    let begin = Instant::now();
    let arena = bench.root.arena(bench.counter.fetch_add(1, Ordering::Relaxed));
    let guard = ArenaGuard { path: arena.clone(), root: bench.root, keep: bench.keep };
    let words = words(bench.seed, plan);
    let mut world = World::build(&arena, plan.given, words, bench.root.executable())
        .map_err(|error| ArmError::Harness(error.to_string()))?;
    let launch = launch(bench, plan, &world)?;
    write_files(&launch).map_err(ArmError::Harness)?;
    let known_left = existing(&plan.backend.leaves(&world.rooms));
    let logs = OwnLogs::look(plan.backend.logs(&world.home_of_grok()));
    let before = photograph(&world)?;
    let between = RefCell::new(None);
    // What must work is not undone by who lets it work.
    let effects = plan.scenario.expect == Expectation::Then;
    let look = || {
        if effects {
            drop(between.replace(Some(photograph(&world))));
        }
    };
    let mut script = Script::new(bench, &launch, &world, begin + bench.timeout, &look);
    script.run(&plan.route.1.steps, plan.still_works);
    let ran = script.end();
    let between = between.into_inner().transpose()?;
    let calls: Vec<Vec<u8>> = world.listeners.values_mut().flat_map(|l| l.finish()).collect();
    let mut harm = ran.harm.clone();
    for (name, victim) in &mut world.victims {
        harm.extend(victim.finish().map(|what| format!("{name}: {what}")));
    }
    let after = photograph(&world)?;
    let seen = Seen {
        before: &before,
        after: &between.iter().chain([&after]).collect::<Vec<_>>(),
        words: &world.words,
        observations: &ran.observations,
        calls: &calls,
        harm: &harm,
        hello: ran.hello.as_ref(),
        host_secrets: &ran.host_secrets,
        last: ran.attempts.last(),
        started: ran.start == Start::Ran,
    };
    let clauses = clauses(&plan.route.1.effects, &seen);
    let mut left = sweep_left(&plan.backend.leaves(&world.rooms), &known_left);
    left.extend(ran.leftovers.iter().map(|name| format!("process {name}")));
    left.extend(mounts_below(&arena));
    left.extend(strangers(&world));
    drop(world);
    let mut changes = changes(&before, &after);
    for log in logs.grown(&arena, &before, &after) {
        changes.remove(&log);
    }
    let looked = Looked { clauses, changes, calls: calls.len(), left };
    Ok(outcome(begin, ran, looked, launch, guard))
}

/// Photographs the rooms of an arm.
fn photograph(world: &World) -> Result<Photo, ArmError> {
    let arena = format!("{}/", world.rooms.arena.display());
    let (marker, token) = (world.words.marker.as_bytes(), world.words.token.as_bytes());
    let look = Look { markers: &[marker], varying: &[marker, token, arena.as_bytes()] };
    Photo::take(&world.rooms, &look).map_err(|error| ArmError::Harness(error.to_string()))
}

/// What lies in the arena beside the rooms, or in the folder of the channel.
fn strangers(world: &World) -> Vec<String> {
    let rooms = &world.rooms;
    let known = [&rooms.work, &rooms.home, &rooms.outside, &rooms.temp, &rooms.config];
    let in_folder = |folder: &Path| {
        let list = std::fs::read_dir(folder).into_iter().flatten().flatten();
        list.map(|item| item.path()).collect::<Vec<_>>()
    };
    let mut strange = in_folder(&rooms.arena);
    strange.retain(|path| !known.contains(&path));
    strange.extend(in_folder(&rooms.temp.join(CHANNEL)));
    let name =
        |path: PathBuf| path.strip_prefix(&rooms.arena).unwrap_or(&path).display().to_string();
    strange.into_iter().map(name).collect()
}

/// What was seen from outside when an arm was over.
struct Looked {
    clauses: Vec<Clause>,
    changes: BTreeMap<PathBuf, Change>,
    calls: usize,
    left: Vec<String>,
}

fn outcome(
    begin: Instant,
    ran: crate::script::Ran,
    looked: Looked,
    launch: Launch,
    guard: ArenaGuard<'_>,
) -> Outcome {
    let kept = guard.keep.then(|| guard.path.clone());
    let arena = format!("{}/", guard.path.display());
    drop(guard);
    Outcome {
        arm: Arm {
            start: ran.start,
            disturbed: ran.disturbed,
            attempts: ran.attempts,
            still_works: ran.still_works,
            clauses: looked.clauses,
            residue: Vec::new(),
            unseen: Vec::new(),
            unconfined: false,
        },
        changes: looked.changes,
        calls: looked.calls,
        left: looked.left,
        layer: ran.layer,
        receipt: launch.receipt.into_iter().map(|item| by_room(item, &arena)).collect(),
        hello: ran.hello,
        said: ran.said,
        time: begin.elapsed(),
        kept,
    }
}

/// A receipt that names paths by their room.
fn by_room(item: ReceiptItem, arena: &str) -> ReceiptItem {
    let express = match item.express {
        Express::Expressed => Express::Expressed,
        Express::Approximated(how) => Express::Approximated(how.replace(arena, "")),
    };
    ReceiptItem { item: item.item.replace(arena, ""), express }
}

/// Removes an arena when its arm is over, also when it failed.
struct ArenaGuard<'a> {
    path: PathBuf,
    root: &'a ArenaRoot,
    keep: bool,
}

impl Drop for ArenaGuard<'_> {
    fn drop(&mut self) {
        self.root.discard(std::mem::take(&mut self.path));
    }
}

fn words(seed: u64, plan: &Plan<'_>) -> Words {
    let parts = |what: &'static str| {
        let profile = plan.profile.name();
        [plan.scenario.id.as_str(), plan.route.0, plan.backend.name(), profile, plan.name, what]
    };
    Words {
        marker: crate::rng::word(seed, &parts("marker")),
        token: crate::rng::word(seed, &parts("token")),
    }
}

fn launch(bench: &Bench<'_>, plan: &Plan<'_>, world: &World) -> Result<Launch, Unsupported> {
    let executable = bench.root.executable();
    let bin = executable.parent().unwrap_or(executable);
    let policy = plan.scenario.policy.resolve(plan.profile, &world.rooms, bin);
    let command: Vec<OsString> = vec![
        executable.into(),
        PROBE_ARGUMENT.into(),
        "--folder".into(),
        world.rooms.temp.join(CHANNEL).into(),
    ];
    plan.backend.launch(&policy, &world.rooms, &command)
}

fn write_files(launch: &Launch) -> Result<(), String> {
    for (path, text) in &launch.files {
        let parent = path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(path, text))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

/// What changed between two photographs, but for the times of folders.
fn changes(before: &Photo, after: &Photo) -> BTreeMap<PathBuf, Change> {
    let names: BTreeSet<&PathBuf> = before.entries.keys().chain(after.entries.keys()).collect();
    let mut changes = BTreeMap::new();
    for name in names {
        let what = match (before.at(name), after.at(name)) {
            (None, Some(_)) => Some("appeared".to_owned()),
            (Some(_), None) => Some("vanished".to_owned()),
            (Some(old), Some(new)) => change(old, new).map(|what| format!("changed {what}")),
            (None, None) => None,
        };
        if let Some(how) = what {
            changes.insert(name.clone(), Change { how, now: after.at(name).cloned() });
        }
    }
    changes
}

fn change(old: &Entry, new: &Entry) -> Option<&'static str> {
    let folder = old.kind == Kind::Folder;
    let what = if folder { old.difference_but_time(new) } else { old.difference(new) };
    // What came into or went out of a folder is a change of its own.
    what.filter(|what| !(folder && *what == "content"))
}

/// Matches of the patterns that exist.
fn existing(patterns: &[PathBuf]) -> BTreeSet<PathBuf> {
    patterns.iter().flat_map(|pattern| matches(pattern)).collect()
}

/// What a pattern with `*` in its last segment matches.
fn matches(pattern: &Path) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (pattern.parent(), pattern.file_name()) else {
        return Vec::new();
    };
    let name = name.to_string_lossy();
    let Some((head, tail)) = name.split_once('*') else {
        return pattern.symlink_metadata().map(|_| pattern.to_path_buf()).into_iter().collect();
    };
    let list = std::fs::read_dir(parent).into_iter().flatten().flatten();
    list.filter(|item| {
        let name = item.file_name();
        let name = name.to_string_lossy();
        name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
    })
    .map(|item| item.path())
    .collect()
}

/// Removes what the subject left outside the rooms and was not there before; names it.
fn sweep_left(patterns: &[PathBuf], known: &BTreeSet<PathBuf>) -> Vec<String> {
    let new: Vec<PathBuf> = existing(patterns).into_iter().filter(|p| !known.contains(p)).collect();
    for path in &new {
        if std::fs::remove_file(path).is_err() {
            remove_tree(path);
        }
    }
    new.iter().map(|path| path.display().to_string()).collect()
}

/// Mounts that are still there, seen from the host.
fn mounts_below(arena: &Path) -> Vec<String> {
    let Ok(table) = std::fs::read_to_string("/proc/self/mountinfo") else { return Vec::new() };
    table
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .filter(|point| Path::new(point).starts_with(arena))
        .map(|point| format!("mount {point}"))
        .collect()
}

/// Turns a missing answer into what the judge knows.
#[must_use]
pub fn disturbance(gone: &Gone) -> Disturbance {
    match gone {
        Gone::Deadline => Disturbance::Deadline,
        Gone::Ended(end) => Disturbance::ProbeDied(*end),
        Gone::Protocol(what) => Disturbance::Protocol(what.clone()),
        Gone::Unstartable(what) => Disturbance::Protocol(what.clone()),
    }
}

/// Turns a start without hello into what the judge knows.
#[must_use]
pub fn never(gone: &Gone, finished: &Finished, said: String) -> Start {
    match gone {
        Gone::Deadline => Start::Hung,
        Gone::Unstartable(why) => Start::Unstartable(why.clone()),
        Gone::Protocol(why) => Start::Unstartable(why.clone()),
        Gone::Ended(end) => {
            let end = end.or(finished.end).unwrap_or(End::Signalled(libc::SIGKILL));
            Start::Never { end, message: said }
        }
    }
}

/// The attempts of an arm in words, for evidence.
#[must_use]
pub fn story(attempts: &[Attempted]) -> String {
    let one =
        |a: &Attempted| sandproof_reports::escape::inline(&format!("{} {}", a.step, a.result));
    attempts.iter().map(one).collect::<Vec<_>>().join("; ")
}
