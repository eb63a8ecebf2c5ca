//! Kill -9 at any moment: nothing of a run outlives it, and the next run's sweep removes its files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sandproof::arena_root::base;

/// A folder for arenas of one test alone.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let base = base(None).expect("there is a place for arenas");
        let place = base.join(format!("test-{name}-{}", std::process::id()));
        fs::create_dir_all(&place).expect("it can be made");
        Self(place)
    }

    fn run(&self, arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_sandproof"))
            .args(["run", "--backend", "confine", "--jobs", "4", "--arena-root"])
            .arg(&self.0)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sandproof starts")
    }

    fn files(&self) -> Vec<PathBuf> {
        let list = fs::read_dir(&self.0).into_iter().flatten().flatten();
        list.map(|item| item.path()).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Processes that run from, or stand in, this folder; mounts below it that any process sees.
fn traces(place: &Path) -> Vec<String> {
    let mut traces = Vec::new();
    for item in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let process = item.path();
        let inside = |link: &str| {
            fs::read_link(process.join(link)).is_ok_and(|target| target.starts_with(place))
        };
        if inside("exe") || inside("cwd") {
            traces.push(format!("process {}", process.display()));
        }
        let mounts = fs::read_to_string(process.join("mountinfo")).unwrap_or_default();
        let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
        let below = points.filter(|point| Path::new(point).starts_with(place));
        traces.extend(below.map(|point| format!("mount {point} seen by {}", process.display())));
    }
    traces
}

/// Waits until `done`, at most this long; the last answer.
fn within(time: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline {
        if done() {
            return true;
        }
        std::thread::yield_now();
    }
    done()
}

#[test]
fn a_killed_run_leaves_no_process_no_mount_and_no_file() {
    let place = Place::new("kill");
    let mut reached = 0;
    for round in 0..10_u64 {
        let before = place.files();
        let mut run = place.run(&["fs/deny", "process/", "kernel/nested"]);
        // The moments differ: before anything is there, and from the first arena on.
        let begun = || place.files().iter().any(|file| !before.contains(file));
        if round > 0 && within(Duration::from_secs(20), begun) {
            reached += 1;
            within(Duration::from_millis(round * 23), || false);
        }
        let ended = run.try_wait().expect("it can be waited for").is_some();
        run.kill().expect("it can be killed");
        run.wait().expect("it can be waited for");
        assert!(!ended, "the run was over before it could be killed: nothing was tested");
        let gone = within(Duration::from_secs(1), || traces(&place.0).is_empty());
        assert!(gone, "round {round}: {:?}", traces(&place.0));
    }
    assert!(reached > 5, "only {reached} runs got as far as making an arena");
    let next = place.run(&["fs/deny-survives-rename"]).wait().expect("it can be waited for");
    assert_eq!(next.code(), Some(0));
    assert_eq!(place.files(), Vec::<PathBuf>::new(), "the sweep left files");
}

#[test]
fn two_runs_at_once_do_not_disturb_each_other() {
    let place = Place::new("two");
    let mut runs = [place.run(&["fs/deny"]), place.run(&["fs/deny"])];
    for run in &mut runs {
        assert_eq!(run.wait().expect("it can be waited for").code(), Some(0));
    }
    assert_eq!(place.files(), Vec::<PathBuf>::new());
}
