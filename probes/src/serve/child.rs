//! The forked child that performs attempts, seen from both sides.

use std::io;

use rustix::process::{Pid, Resource, Rlimit, WaitOptions, setrlimit, waitpid};

use super::channel::Channel;
use super::descriptors::restore_limit;
use crate::sys::{self, Fork};
use crate::{Attempt, Observation, Outcome};

/// The child, as the probe sees it.
#[derive(Debug)]
pub(super) struct Child {
    pid: i32,
    channel: Channel,
    /// How it ended, once it has.
    ended: Option<Outcome>,
}

/// Which side of the fork this is.
pub(super) enum Begun {
    /// The probe.
    Probe(Child),
    /// The child, which must close what it inherited and then [`live`].
    Child(Channel),
}

impl Child {
    /// Forks.
    pub(super) fn begin() -> io::Result<Begun> {
        let (probe, child) = Channel::pair()?;
        Ok(match sys::fork()? {
            Fork::Parent(pid) => Begun::Probe(Self { pid, channel: probe, ended: None }),
            Fork::Child => Begun::Child(child),
        })
    }

    /// Lets it perform one attempt. Its death is an observation, the same for all that follow.
    pub(super) fn attempt(&mut self, attempt: &Attempt) -> Result<Observation, String> {
        if let Some(outcome) = &self.ended {
            return Ok(Observation::bare(outcome.clone()));
        }
        // A child that is dead already shows as the end of its answers.
        let _ = self.channel.send(attempt);
        match self.channel.receive() {
            Ok(Some(observation)) => Ok(observation),
            Ok(None) => {
                let outcome = wait(self.pid);
                Ok(Observation::bare(self.ended.insert(outcome).clone()))
            }
            Err(error) => Err(format!("the child's answer was disturbed: {error}")),
        }
    }

    /// Lets it end, and waits for that.
    pub(super) fn end(self) {
        let Self { pid, channel, ended } = self;
        drop(channel); // it reads the end of its requests
        if ended.is_none() {
            wait(pid);
        }
    }
}

fn wait(pid: i32) -> Outcome {
    match waitpid(Pid::from_raw(pid), WaitOptions::empty()) {
        Ok(Some((_, status))) => match (status.terminating_signal(), status.exit_status()) {
            (Some(number), _) => Outcome::Signal { number },
            (None, code) => Outcome::Exit { code: code.unwrap_or(0) },
        },
        Ok(None) => Outcome::Unavailable { why: "the child is gone".to_owned() },
        Err(errno) => Outcome::Unavailable { why: format!("the child cannot be asked: {errno}") },
    }
}

/// What the child does until its requests end. `limit` is that of descriptors at the start.
pub(super) fn live(mut channel: Channel, limit: Rlimit) -> ! {
    prepare(limit);
    let code = loop {
        match channel.receive::<Attempt>() {
            Ok(None) => break 0,
            Err(_) => break 1,
            Ok(Some(attempt)) => {
                let seen = crate::perform::perform(&attempt);
                if channel.send(&seen).is_err() {
                    break 1; // an attempt closed the pipe: the probe sees this end
                }
            }
        }
    };
    sys::exit_now(code)
}

/// Makes the child an ordinary process again. Where one of these is denied, attempts show it.
fn prepare(limit: Rlimit) {
    restore_limit(limit);
    sys::die_of_faults();
    let _ = sys::set_dumpable(true);
    let _ = sys::set_pdeathsig(Some(nix::sys::signal::Signal::SIGKILL));
    // A death that is an observation must not leave a core file in a room.
    let found = rustix::process::getrlimit(Resource::Core);
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), ..found });
}
