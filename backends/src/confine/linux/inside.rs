//! The child: lays the covers, or has `bwrap` lay them, and goes through the last stage.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::process::{Pid, getppid, setsid};

use super::mounts::Calls;
use super::namespace::{self, Namespaces};
use super::stage::{Stage, Tools};
use super::{bwrap, mounts};
use crate::confine::REFUSED;
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
    /// the exit status. That namespaces or covers cannot be had is told to `trouble`, so that
    /// another way can be tried.
    pub(super) fn run(&self, trouble: OwnedFd) -> i32 {
        if !self.tty {
            // Fails only for the leader of a process group, which a fresh child never is.
            let _ = setsid();
        }
        if let Way::Bwrap(program) = &self.way {
            let refusal = bwrap::exec(program, self, &trouble);
            return crate::confine::report(&refusal);
        }
        if let Err(refusal) = self.cover() {
            // A parent that is gone needs no answer.
            let _ = write!(File::from(trouble), "{refusal}");
            return REFUSED;
        }
        let confined =
            self.stage.sources.recheck().and_then(|()| {
                self.stage.confine(&self.tools, || getppid() == Some(self.supervisor))
            });
        match confined {
            Ok(()) => self.stage.exec(),
            Err(refusal) => crate::confine::report(&refusal),
        }
    }

    fn cover(&self) -> Result<(), Refusal> {
        namespace::enter(self.namespaces)?;
        if self.namespaces.mount {
            mounts::lay(&self.stage.covers, self.stage.limited, self.calls)?;
        }
        Ok(())
    }
}
