//! [`Janitor`]: a process that removes the stubs once the supervisor is gone, however it went.
//!
//! A supervisor that was killed could not end what the command had left in the background. These
//! processes must go before the stubs do: without a stub its cover is gone, and the denied path could
//! be made after all.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;

use nix::sys::wait::waitpid;
use nix::unistd::Pid;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{DumpableBehavior, set_dumpable_behavior, setsid};

use super::stubs::Stubs;
use super::{survivors, sys};
use crate::confine::mutant::{self, Mutant};
use crate::confine::refusal::Refusal;

/// The process, and what it waits for the end of. Dropped, it does its work and is waited for.
#[derive(Debug)]
pub(super) struct Janitor {
    running: Option<(Pid, OwnedFd)>,
}

impl Janitor {
    /// Starts one, if there is anything to remove. Signals that ask to end must be held: it has to
    /// outlive them.
    ///
    /// # Errors
    /// No process can be made.
    pub(super) fn of(stubs: Stubs) -> Result<Self, Refusal> {
        if stubs.is_empty() {
            return Ok(Self { running: None });
        }
        let failed = |error: &dyn std::fmt::Display| {
            Refusal::new(format!("no process can be started ({error})"), "end others first")
        };
        let (wait, hold) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| failed(&error))?;
        match sys::fork().map_err(|error| failed(&error))? {
            Some(pid) => {
                // The locks are shared with the janitor and go on there; the stubs are its to remove.
                stubs.leave();
                Ok(Self { running: Some((pid, hold)) })
            }
            None => {
                drop(hold);
                work(wait, stubs);
                std::process::exit(0)
            }
        }
    }
}

/// What a supervisor says that comes to its end: everything below it has ended.
const ENDED: [u8; 1] = [1];

/// Waits until nobody holds the other end, and removes the stubs.
fn work(wait: OwnedFd, stubs: Stubs) {
    // As little as the supervisor may it show the host's mounts, or be ended by keys.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let _ = setsid();
    let mut said = [0];
    let ended = matches!(File::from(wait).read(&mut said), Ok(1)) && said == ENDED;
    let free = ended || stubs.paths_of_ours().iter().all(|path| survivors::end(path));
    if mutant::on(Mutant::StubsLeft) || !free {
        stubs.leave();
    } else {
        drop(stubs);
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        if let Some((pid, hold)) = self.running.take() {
            // One that is gone has nothing to hear.
            let _ = File::from(hold).write(&ENDED);
            // It may have been waited for with the command's processes.
            let _ = waitpid(pid, None);
        }
    }
}
