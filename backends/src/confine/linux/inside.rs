//! The child: lays the covers, or has `bwrap` lay them, and goes through the last stage.

use std::path::PathBuf;

use rustix::process::{Pid, getppid, setsid};

use super::channel::Teller;
use super::mounts::Calls;
use super::namespace::{self, Namespaces};
use super::stage::{Stage, Tools};
use super::{bwrap, mounts};
use crate::confine::REFUSED;
use crate::confine::mutant::{self, Mutant};
use crate::confine::refusal::Refusal;

/// Who makes the namespaces and lays the covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// This program.
    Own,
    /// This `bwrap`, which then starts this program again for the last stage.
    Bwrap(PathBuf),
}

/// All that the child needs; made before the fork.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) way: Way,
    pub(super) namespaces: Namespaces,
    pub(super) calls: Calls,
    pub(super) stage: Stage,
    pub(super) tools: Tools,
    /// Stay in the session of the caller.
    pub(super) tty: bool,
    /// The process that watches over the child.
    pub(super) supervisor: Pid,
}

impl Inside {
    /// Confines this process and runs the command in it. Comes back only when that failed, with
    /// the exit status; why is told to the supervisor.
    pub(super) fn run(&self, teller: &Teller) -> i32 {
        if !self.tty && !mutant::on(Mutant::SessionShared) {
            // Fails only for the leader of a process group, which a fresh child never is.
            let _ = setsid();
        }
        if let Way::Bwrap(program) = &self.way {
            teller.trouble(bwrap::exec(program, self, teller));
            return REFUSED;
        }
        if let Err(refusal) = self.cover() {
            teller.trouble(refusal);
            return REFUSED;
        }
        let alive = || getppid() == Some(self.supervisor);
        self.stage.go_through(&self.tools, alive, teller)
    }

    fn cover(&self) -> Result<(), Refusal> {
        namespace::enter(self.namespaces)?;
        if self.namespaces.mount {
            mounts::lay(&self.stage.covers, self.stage.limited, self.calls)?;
        }
        Ok(())
    }
}
