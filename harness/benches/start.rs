//! What a start of `confine` costs, against a start of bubblewrap and against a start without
//! masks. All are measured in turn in one run, so that a noisy machine slows each of them, and the
//! quickest of each counts. Ends with status 1 when a limit is exceeded, with 2 when something
//! could not be measured.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use sandproof::arena_root::base;

/// The start that others are compared with.
const BWRAP: [&str; 9] = [
    "bwrap",
    "--ro-bind",
    "/",
    "/",
    "--unshare-user",
    "--unshare-pid",
    "--unshare-net",
    "--",
    "true",
];

/// How often each start is measured.
const STARTS: usize = 200;

/// How often the starts with masks are.
const MASKED_STARTS: usize = 15;

/// Files that are masked.
const MASKS: usize = 10_000;

fn main() -> ExitCode {
    let (text, code) = match measure() {
        Ok(lines) => {
            let held = lines.iter().all(Line::holds);
            (lines.iter().fold(String::new(), Line::add), ExitCode::from(u8::from(!held)))
        }
        Err(error) => (format!("not measured: {error}\n"), ExitCode::from(2)),
    };
    // Without standard output the status still says it.
    let _ = std::io::stdout().write_all(text.as_bytes());
    code
}

/// One result.
struct Line {
    what: String,
    unit: &'static str,
    measured: f64,
    limit: f64,
}

impl Line {
    fn holds(&self) -> bool {
        self.measured <= self.limit
    }

    fn add(mut text: String, line: &Self) -> String {
        let Self { what, unit, measured, limit } = line;
        let word = if line.holds() { "ok" } else { "EXCEEDED" };
        let _ = writeln!(text, "{what}: {measured:.3} {unit}, limit {limit:.3}: {word}");
        text
    }
}

fn measure() -> Result<Vec<Line>, String> {
    let place = base(None).map_err(|error| error.to_string())?;
    std::fs::create_dir_all(&place).map_err(|error| error.to_string())?;
    let dir = tempfile::tempdir_in(place).map_err(|error| error.to_string())?;
    for folder in ["work", "home", "many"] {
        std::fs::create_dir(dir.path().join(folder)).map_err(|error| error.to_string())?;
    }
    let mut lines = starts(dir.path())?;
    lines.push(masks(dir.path())?);
    Ok(lines)
}

/// `confine` against bubblewrap.
fn starts(dir: &Path) -> Result<Vec<Line>, String> {
    let confine = |profile| move || confine(dir, &["--sandbox", profile]);
    let bwrap = || {
        let mut command = Command::new(BWRAP[0]);
        command.args(&BWRAP[1..]).current_dir(dir.join("work"));
        command
    };
    let times = in_turn(STARTS, &[&bwrap, &confine("off"), &confine("workspace")])?;
    let line = |at: usize, profile: &str, limit| {
        let what = format!("start of {profile} against bwrap");
        let measured = times[at].as_secs_f64() / times[0].as_secs_f64();
        Line { what, unit: "times", measured, limit }
    };
    Ok(vec![line(1, "off", 1.5), line(2, "workspace", 2.0)])
}

/// What a glob with many matches adds to a start.
fn masks(dir: &Path) -> Result<Line, String> {
    for number in 0..MASKS {
        let file = dir.join("many").join(format!("{number}.pem"));
        std::fs::write(file, "").map_err(|error| error.to_string())?;
    }
    let (glob, limit) = (format!("{}/many/*.pem", dir.display()), MASKS.to_string());
    let plain = || confine(dir, &["--sandbox", "workspace"]);
    let options = ["--sandbox", "workspace", "--deny", &glob, "--glob-matches", &limit];
    let masked = || confine(dir, &options);
    let times = in_turn(MASKED_STARTS, &[&plain, &masked])?;
    let measured = times[1].saturating_sub(times[0]).as_secs_f64();
    Ok(Line { what: format!("{MASKS} masks add"), unit: "s", measured, limit: 0.3 })
}

fn confine(dir: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sandproof"));
    command.arg("confine").args(options).args(["--", "true"]);
    command.current_dir(dir.join("work")).env("HOME", dir.join("home")).env_remove("GROK_HOME");
    command
}

/// The quickest run of each command, each run once in every round.
fn in_turn(rounds: usize, commands: &[&dyn Fn() -> Command]) -> Result<Vec<Duration>, String> {
    let mut best = vec![Duration::MAX; commands.len()];
    // The first round only fills caches.
    for round in 0..=rounds {
        for (best, command) in best.iter_mut().zip(commands) {
            let took = time(&mut command())?;
            if round > 0 {
                *best = took.min(*best);
            }
        }
    }
    Ok(best)
}

fn time(command: &mut Command) -> Result<Duration, String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    let took = start.elapsed();
    if status.success() { Ok(took) } else { Err(format!("{command:?}: {status}")) }
}
