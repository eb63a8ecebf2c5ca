//! The reference sandbox: runs one command under a policy, or refuses and says why.
//!
//! In reading order: [`args`] is what was asked for; [`plan`] says what is granted and covered;
//! `linux` and `macos` carry it out. On Linux a start is a supervisor outside and a child that
//! takes everything away from itself, step by step, before it becomes the command: namespaces,
//! covers, capabilities, Landlock, the filter of calls. What cannot be taken away is a refusal.
//! No thread is started before the command is confined: the start forks, and only a process of one
//! thread can make a user namespace. What happens is noted in the log ([`events`]).
//!
//! What is not promised, because mounts cannot give it:
//! - A path that does not exist yet is held by an empty stub on the host while the command runs. It
//!   goes when the supervisor is killed, too; only a crash of the host, or two kills at once, leave
//!   it to the next start that denies the path.
//! - A program outside that replaces or removes a covered file (not: writes to it) uncovers its
//!   name, and a glob covers what matches at the start.
//! - Covers split a file system: `rename` and `link` between a folder that holds a covered path,
//!   or a write root, and another answer EXDEV. `--no-deny-pins` gives part of it up.
//! - Files in a denied folder may have hard links elsewhere; only those of denied files are looked
//!   for. Those of a file that a glob matches are told where they are not found. A second bind mount
//!   of the same files is not looked for either.
//! - Before Landlock ABI 9 named unix sockets can be reached; those of well-known daemons are masked.
//! - Settings that are missing are held by stubs as well: where `.grok` is in a workspace without
//!   `sandbox.toml`, `git status` shows an empty one while the command runs.
//! - With the network blocked the command can install no seccomp listener of its own: the kernel
//!   has one for all filters of a process, and it notes denied sockets.
//! - Under `devbox` GROK_HOME is writable, its log too.
//! - What was opened for writing by whoever started confine can be written, and its mode changed.
//! - Where bwrap lays the covers, symlinks have none: one on the way to a denied path can be
//!   replaced, which a later start does not know of.
//! - The command of root can read raw devices that root may read, and so a disk below the covers.
//! - Priority and processor of other processes of the same user can be changed.
//! - When the supervisor is killed, the command dies; what it started in the background ends only
//!   where a stub was held.

pub mod args;
pub mod config;
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
pub mod marker;
pub mod metadata;
pub mod mutant;
pub mod plan;
pub mod planted;
pub mod refusal;
pub mod resolve;
pub mod selection;
pub mod session;
pub mod sockets;
pub mod sources;
pub mod state;
pub mod surroundings;
pub mod warning;

use std::ffi::OsString;
use std::io::Write;

use clap::Parser;
use sandproof_scenarios::Profile;
use sandproof_scenarios::policy::EnvPolicy;

use args::Args;
use config::Config;
use events::{Event, Events};
use mutant::Mutant;
use plan::{Asked, Plan};
use refusal::Refusal;
use selection::{Chooser, Chosen};
use session::Session;
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
    let asked = ask(args, &surroundings);
    let chosen = asked.as_ref().ok().map(|(asked, _)| &asked.chosen);
    let mut events = noted(args, &surroundings, chosen);
    let started =
        asked.and_then(|(asked, session)| begin(args, &surroundings, &asked, session, &mut events));
    if let Err(refusal) = &started {
        events.refused(refusal);
    }
    started
}

/// Where this start is noted. Profile `off` leaves a home that is not there alone, and is noted only
/// when it was asked for. What was asked for wrongly is noted as it was written.
fn noted(args: &Args, around: &Surroundings, chosen: Option<&Chosen>) -> Events {
    let off = Profile::Off.name();
    let said = || args.profile.as_deref().or(around.sandbox.as_ref()?.to_str());
    let name = chosen.map(|chosen| chosen.name.as_str()).or_else(said).unwrap_or(off);
    let by_nobody = chosen.is_some_and(|chosen| chosen.by == Chooser::Nobody);
    let asked = name != off || (around.grok_home.is_dir() && !by_nobody);
    let home = Some(&*around.grok_home).filter(|_| asked && !args.explain && args.only.is_none());
    Events::of(name, &around.workspace, home)
}

/// Draws the plan and carries it out, in a session if there is one.
fn begin(
    args: &Args,
    around: &Surroundings,
    asked: &Asked,
    session: Option<Session>,
    events: &mut Events,
) -> Result<i32, Refusal> {
    let plan = plan::draw(args, around, asked)?;
    for error in &asked.chosen.notes {
        events.note(Event::BypassDenied { error: error.clone() })?;
    }
    if asked.chosen.by == Chooser::Nobody && plan.is_free() {
        say("nothing is enforced: no profile was chosen; name one with --sandbox, in \
             GROK_SANDBOX, or as `profile` of `[sandbox]` in config.toml of GROK_HOME");
    }
    match session.filter(|_| !args.explain) {
        Some(session) => in_session(session, asked, || carry_out(args, plan, around, events)),
        None => carry_out(args, plan, around, events),
    }
}

/// What files, environment and session say, and what there is to tell about it.
fn ask(args: &Args, around: &Surroundings) -> Result<(Asked, Option<Session>), Refusal> {
    let config = Config::read(around)?;
    let session = Session::open(args, around)?;
    let saved = session.as_ref().and_then(Session::saved);
    let chosen = selection::choose(args, around, &config, saved)?;
    let environment = environment_policy(args, &config)?;
    for note in config.warnings.iter().chain(&chosen.notes) {
        say(&format!("warning: {note}"));
    }
    Ok((Asked { chosen, limits: config.limits, environment }, session))
}

/// The policy that a requirement demands, else that of the command line, else that of `config.toml`.
fn environment_policy(args: &Args, config: &Config) -> Result<EnvPolicy, Refusal> {
    let said = args.env_policy.as_deref().map(environment::read).transpose()?;
    let configured = config.settings.environment.clone();
    let configured = configured.filter(|_| !mutant::on(Mutant::EnvConfigIgnored));
    Ok(config.required.environment.clone().or(said).or(configured).unwrap_or_default())
}

/// Carries out with a record that is there before the command and stays after it.
fn in_session(
    mut session: Session,
    asked: &Asked,
    run: impl FnOnce() -> Result<i32, Refusal>,
) -> Result<i32, Refusal> {
    session.begin(&asked.chosen)?;
    let outcome = run();
    if let Err(refusal) = session.end(outcome.is_err()) {
        // The command has run: what it did is not undone by saying that it was refused.
        say(&format!("warning: {refusal}"));
    }
    outcome
}

/// Carries a plan out with what this system has.
fn carry_out(
    args: &Args,
    plan: Plan,
    around: &Surroundings,
    events: &mut Events,
) -> Result<i32, Refusal> {
    if !plan.is_free() {
        marker::refuse()?;
    }
    #[cfg(target_os = "linux")]
    return linux::carry_out(args, plan, around, events);
    #[cfg(target_os = "macos")]
    return macos::carry_out(args, plan, around, events);
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    {
        let _ = (args, plan, around, events);
        Err(Refusal::new("this system has no mechanism that confine knows", "use Linux or macOS"))
    }
}

/// Opens the log, and notes what is not enforced on request, before anything is.
fn open_log(
    args: &Args,
    plan: &Plan,
    lost: &[(&str, Refusal)],
    events: &mut Events,
) -> Result<(), Refusal> {
    if let Some((promise, why)) = lost.first().filter(|_| plan.required) {
        let what = format!("requirements.toml demands this profile, and {promise} is lost: {why}");
        return Err(Refusal::new(what, "start without --fail-open").about_bypass());
    }
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
