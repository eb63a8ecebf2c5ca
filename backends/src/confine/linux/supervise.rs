//! The parent: passes signals on, waits, and leaves no process behind.

use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, pthread_sigmask};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::inside::Inside;
use super::sys;
use crate::confine::refusal::Refusal;

/// Signals handed on to the command.
const PASSED: [Signal; 4] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT];

/// Runs the command in a child, and gives its exit status once every process of it has ended.
///
/// # Errors
/// No child can be made.
pub(super) fn run(inside: &Inside) -> Result<i32, Refusal> {
    let failed = |error: &dyn std::fmt::Display| {
        Refusal::new(format!("no process can be started ({error})"), "end others first")
    };
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| failed(&error))?;
    let old = hold_signals().map_err(|error| failed(&error))?;
    match sys::fork().map_err(|error| failed(&error))? {
        None => {
            let status = match pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&old), None) {
                Ok(()) => inside.run(),
                Err(error) => crate::confine::report(&failed(&error)),
            };
            std::process::exit(status)
        }
        Some(child) => Ok(watch(child, inside.tty)),
    }
}

/// Blocks the signals the supervisor waits for; gives the mask as it was.
fn hold_signals() -> nix::Result<SigSet> {
    let mut old = SigSet::empty();
    pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&awaited()), Some(&mut old))?;
    Ok(old)
}

fn awaited() -> SigSet {
    PASSED.into_iter().chain([Signal::SIGCHLD]).collect()
}

/// Waits for the command, then ends what it left.
fn watch(child: Pid, tty: bool) -> i32 {
    // Not readable for a process of the same user: through it the host's own mounts could be seen.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let status = loop {
        if let Some(status) = ended(child) {
            break status;
        }
        match awaited().wait() {
            Ok(Signal::SIGCHLD) | Err(_) => {}
            Ok(signal) => pass_on(child, signal, tty),
        }
    };
    end_rest();
    status
}

/// The command has its own process group, unless it shares the terminal's.
fn pass_on(child: Pid, signal: Signal, tty: bool) {
    let target = if tty { child } else { Pid::from_raw(-child.as_raw()) };
    // It may have ended just now.
    let _ = kill(target, signal);
}

/// Reaps what has ended; the exit status once the command itself has.
fn ended(child: Pid) -> Option<i32> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, status)) if pid == child => return Some(status),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == child => {
                return Some(128 + signal as i32);
            }
            Ok(WaitStatus::StillAlive) => return None,
            Err(Errno::EINTR) | Ok(_) => {}
            // No child at all: somebody else has waited for it.
            Err(_) => return Some(crate::confine::CANNOT_RUN),
        }
    }
}

/// Kills and reaps every descendant. Children of a killed one become ours, so it takes rounds.
fn end_rest() {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => {
                for pid in children() {
                    let _ = kill(pid, Signal::SIGKILL);
                }
                let _ = waitpid(None, None);
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return,
        }
    }
}

/// The children of this process.
fn children() -> Vec<Pid> {
    let list = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw).collect()
}
