//! The parent: passes signals on, waits, and leaves no process behind.

use std::fs;

use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, pthread_sigmask};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use rustix::io::Errno;
use rustix::process::{Pid as Process, WaitOptions};

use super::channel::{self, Hearer, Told, Waiting};
use super::inside::{Inside, Way};
use super::sys;
use crate::confine::mutant::{self, Mutant};
use crate::confine::refusal::Refusal;

/// Signals handed on to the command.
const PASSED: [Signal; 7] = [
    Signal::SIGTERM,
    Signal::SIGINT,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGWINCH,
];

/// How a start ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// The command ran, and ended with this status.
    Ran(i32),
    /// No namespaces or covers can be had this way.
    Trouble(Refusal),
}

/// Runs the command in a child, and comes back once every process of it has ended. The child gets
/// the mask `signals`; this process holds those it waits for. The command is let go once
/// `confined` agrees.
///
/// # Errors
/// No child can be made, or it cannot be confined.
pub(super) fn run(
    inside: &Inside,
    signals: &SigSet,
    confined: impl FnOnce(Waiting) -> Result<(), Refusal>,
) -> Result<Ended, Refusal> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| failed(&error))?;
    let strangers = strangers();
    let (hearer, teller) = channel::pair().map_err(|error| failed(&error))?;
    let Some(child) = sys::fork().map_err(|error| failed(&error))? else {
        // Else the end of the supervisor would not be noticed.
        drop(hearer);
        let status = match pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(signals), None) {
            Ok(()) => inside.run(&teller),
            Err(error) => {
                teller.refused(failed(&error));
                crate::confine::REFUSED
            }
        };
        std::process::exit(status)
    };
    drop(teller);
    // The environment policy is the command's: what this process was started with must not be read
    // out of it. Where it fails, Landlock keeps the command from looking.
    let _ = sandproof_probes::sys::set_dumpable(false);
    let started = listen(&hearer, confined);
    // A child that still waits for an answer ends now.
    drop(hearer);
    let status = watch(child, inside.tty, &strangers);
    match started? {
        Start::Confined => Ok(Ended::Ran(status)),
        Start::Trouble(refusal) => Ok(Ended::Trouble(refusal)),
        Start::Silent if inside.way != Way::Own => Ok(Ended::Trouble(Refusal::new(
            format!("bwrap ended with status {status}"),
            "see what it said",
        ))),
        // By a signal, most likely one of the user.
        Start::Silent if status > 128 => Ok(Ended::Ran(status)),
        Start::Silent => Err(Refusal::new(
            format!("the start ended with status {status} before it was confined"),
            "report this",
        )),
    }
}

/// How far a child came.
enum Start {
    Confined,
    Trouble(Refusal),
    Silent,
}

/// Listens to the child until it is confined, or is not going to be.
fn listen(
    hearer: &Hearer,
    confined: impl FnOnce(Waiting) -> Result<(), Refusal>,
) -> Result<Start, Refusal> {
    loop {
        match hearer.hear().map_err(|error| failed(&error))? {
            Told::Laid => {}
            Told::Trouble(refusal) => return Ok(Start::Trouble(refusal)),
            Told::Refused(refusal) => return Err(refusal),
            Told::Nothing => return Ok(Start::Silent),
            Told::Confined(waiting) => {
                confined(waiting)?;
                hearer.go().map_err(|error| failed(&error))?;
                return Ok(Start::Confined);
            }
        }
    }
}

fn failed(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(format!("no process can be started ({error})"), "end others first")
}

/// Blocks the signals the supervisor waits for; gives the mask as it was.
///
/// # Errors
/// The kernel refuses.
pub(super) fn hold_signals() -> Result<SigSet, Refusal> {
    let mut old = SigSet::empty();
    pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&awaited()), Some(&mut old))
        .map_err(|error| failed(&error))?;
    Ok(old)
}

fn awaited() -> SigSet {
    PASSED.into_iter().chain([Signal::SIGCHLD]).collect()
}

/// Waits for the command, then ends what it left.
fn watch(child: Pid, tty: bool, strangers: &[Pid]) -> i32 {
    // Not readable for a process of the same user: through it the host's own mounts could be seen.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let status = loop {
        if let Some(status) = ended(child) {
            break status;
        }
        match sys::wait_for_signal(&awaited()) {
            Ok((Signal::SIGCHLD, _)) | Err(_) => {}
            // The terminal has sent it to the command as well.
            Ok((_, true)) if tty => {}
            Ok((signal, _)) => pass_on(child, signal, tty),
        }
    };
    if !mutant::on(Mutant::RestLeftRunning) {
        end_rest(strangers);
    }
    status
}

/// To the whole process group of the command, unless it shares ours or has none yet.
fn pass_on(child: Pid, signal: Signal, tty: bool) {
    let group = Pid::from_raw(-child.as_raw());
    if tty || kill(group, signal).is_err() {
        // It may have ended just now.
        let _ = kill(child, signal);
    }
}

/// Reaps what has ended; the exit status once the command itself has.
fn ended(child: Pid) -> Option<i32> {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == child.as_raw() => {
                // Real-time signals have no name, only a number.
                let killed = status.terminating_signal().map(|number| 128 + number);
                return killed.or(status.exit_status());
            }
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return None,
            // No child at all: somebody else has waited for it.
            Err(_) => return Some(crate::confine::CANNOT_RUN),
        }
    }
}

/// Kills and reaps every descendant. Children of a killed one become ours, so it takes rounds.
fn end_rest(strangers: &[Pid]) {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(None) => {
                let rest: Vec<Pid> =
                    children().into_iter().filter(|pid| !strangers.contains(pid)).collect();
                if rest.is_empty() {
                    return;
                }
                // One may have ended just now; either way it is waited for.
                for pid in &rest {
                    let _ = kill(*pid, Signal::SIGKILL);
                }
                for pid in rest {
                    let _ = waitpid(pid, None);
                }
            }
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Children that whoever became confine by `exec` had before: not ours to end.
fn strangers() -> Vec<Pid> {
    match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
        // The usual case, without a look into /proc.
        Err(_) => Vec::new(),
        Ok(_) => children(),
    }
}

/// The children of this process; by a look at every process where the kernel keeps no list.
fn children() -> Vec<Pid> {
    match fs::read_to_string("/proc/thread-self/children") {
        Ok(list) => {
            list.split_whitespace().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw).collect()
        }
        Err(_) => search_children(),
    }
}

fn search_children() -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let own = rustix::process::getpid();
    let is_child = |pid: &i32| Process::from_raw(*pid).and_then(parent) == Some(own);
    pids.filter(is_child).map(Pid::from_raw).collect()
}

/// The parent: second field after the name, which stands in parentheses and may hold any character.
pub(super) fn parent(pid: Process) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok().and_then(Process::from_raw)
}
