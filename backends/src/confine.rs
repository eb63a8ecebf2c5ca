//! The reference sandbox: runs one command under a policy, or refuses and says why.
//!
//! In reading order: [`args`] is what was asked for; [`plan`] says what is granted and covered;
//! `linux` and `macos` carry it out. On Linux a start is a supervisor outside and a child that
//! takes everything away from itself, step by step, before it becomes the command: namespaces,
//! covers, capabilities, Landlock, the filter of calls. What cannot be taken away is a refusal.
//! Nothing here starts a thread: the start forks, and only a process of one thread can make a user
//! namespace.
//!
//! What is not promised, because mounts cannot give it:
//! - A path that does not exist yet is held by an empty stub on the host while the command runs.
//! - A program outside that replaces or removes a covered file (not: writes to it) uncovers its
//!   name, and a glob covers what matches at the start.
//! - Covers split a file system: `rename` and `link` between a folder that holds a covered path,
//!   or a write root, and another answer EXDEV.
//! - Files in a denied folder may have hard links elsewhere; only those of denied files are looked
//!   for. A second bind mount of the same files is not looked for either.
//! - Before Landlock ABI 9 named unix sockets can be reached; those of well-known daemons are masked.
//! - When the supervisor is killed, the command dies, but not what it started in the background.

pub mod args;
pub mod cover;
pub mod environment;
pub mod events;
pub mod grants;
pub mod identity;
pub mod links;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
pub mod metadata;
pub mod mutant;
pub mod plan;
pub mod refusal;
pub mod resolve;
pub mod sockets;
pub mod sources;
pub mod state;
pub mod surroundings;

use std::ffi::OsString;
use std::io::Write;

use clap::{Parser, ValueEnum};
use sandproof_scenarios::Profile;

use args::{Args, ProfileArg};
use events::Events;
use refusal::Refusal;
use surroundings::Surroundings;

/// Status when the sandbox refuses to start.
pub const REFUSED: i32 = 125;
/// Status when the command exists and cannot be run.
pub const CANNOT_RUN: i32 = 126;
/// Status when the command is not found.
pub const NOT_FOUND: i32 = 127;

/// Runs `confine ARGS` (the arguments without the program's name) and gives its exit status. To
/// be called from `main`, before any thread is started.
#[must_use]
pub fn main(args: &[OsString]) -> i32 {
    let name = OsString::from("confine");
    match Args::try_parse_from(std::iter::once(&name).chain(args)) {
        Ok(args) => start(&args).unwrap_or_else(|refusal| report(&refusal)),
        Err(error) => misread(&error),
    }
}

/// Answers `--help`, or says what is wrong with the command line.
fn misread(error: &clap::Error) -> i32 {
    if !error.use_stderr() {
        // Help that nobody reads is no failure.
        let _ = error.print();
        return 0;
    }
    let text = error.to_string();
    say(&format!("refused: {}", text.trim_start_matches("error: ").trim_end()));
    REFUSED
}

/// Plans and carries out.
fn start(args: &Args) -> Result<i32, Refusal> {
    #[cfg(feature = "mutants")]
    mutant::switch_on(&args.mutants);
    #[cfg(target_os = "linux")]
    if let Some(stage) = args.stage {
        return linux::resume(stage);
    }
    let surroundings = Surroundings::look(args)?;
    let mut events = noted(args, &surroundings)?;
    let started = carry_out(args, &surroundings, &mut events);
    if let Err(refusal) = &started {
        events.refused(refusal);
    }
    started
}

/// Where this start is noted. Profile `off` leaves a home that is not there alone, and is noted only
/// when it was asked for.
fn noted(args: &Args, around: &Surroundings) -> Result<Events, Refusal> {
    let profile = surroundings::profile(args)?;
    let name =
        profile.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    let asked = profile != ProfileArg::Off || around.grok_home.is_dir();
    let home = Some(&*around.grok_home).filter(|_| asked && !args.explain && args.only.is_none());
    Ok(Events::of(&name, &around.workspace, home))
}

/// Draws the plan and carries it out with what this system has.
fn carry_out(args: &Args, around: &Surroundings, events: &mut Events) -> Result<i32, Refusal> {
    let plan = plan::draw(args, around)?;
    #[cfg(target_os = "linux")]
    return linux::carry_out(args, plan, around, events);
    #[cfg(target_os = "macos")]
    return macos::carry_out(args, plan, around, events);
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    {
        let _ = (plan, events);
        Err(Refusal::new("this system has no mechanism that confine knows", "use Linux or macOS"))
    }
}

/// Opens the log, and notes what is not enforced on request, before anything is.
fn open_log(
    args: &Args,
    plan: &plan::Plan,
    lost: &[(&str, Refusal)],
    events: &mut Events,
) -> Result<(), Refusal> {
    if let Err(refusal) = events.open() {
        if !args.fail_open {
            return Err(refusal);
        }
        say(&format!("not enforced: the log of events ({refusal})"));
        events.close();
    }
    if plan.profile == Profile::Off {
        events.granted("--sandbox off", "")?;
    }
    lost.iter()
        .try_for_each(|(promise, why)| events.granted("--fail-open", &format!("{promise} ({why})")))
}

/// Says why on standard error.
fn report(refusal: &Refusal) -> i32 {
    say(&format!("refused: {refusal}"));
    REFUSED
}

/// One line on standard error.
fn say(line: &str) {
    // With standard error closed, the status still says it.
    let _ = writeln!(std::io::stderr(), "confine: {line}");
}
