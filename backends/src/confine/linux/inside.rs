//! The child: confines itself step by step, then becomes the command.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use landlock::ABI;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal, setsid};

use super::filter::Filter;
use super::namespace::{self, Namespaces};
use super::{mounts, privileges, rights, sys};
use crate::confine::cover::Cover;
use crate::confine::environment::Environment;
use crate::confine::grants::Grants;
use crate::confine::refusal::Refusal;
use crate::confine::sources::Sources;
use crate::confine::{CANNOT_RUN, NOT_FOUND, say};

/// All that the child needs; made before the fork.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) namespaces: Namespaces,
    /// Covers to lay, when there is a mount namespace.
    pub(super) covers: Vec<Cover>,
    /// Everything else is made read-only.
    pub(super) limited: bool,
    /// Rights to grant, under this ABI; absent: no domain.
    pub(super) rights: Option<(Grants, ABI)>,
    /// Filter of calls; absent: none.
    pub(super) filter: Option<Filter>,
    /// Nothing is taken away at all.
    pub(super) free: bool,
    /// Hook sources that must still be what they were.
    pub(super) sources: Sources,
    pub(super) environment: Environment,
    pub(super) keep_fds: Vec<i32>,
    pub(super) tty: bool,
    pub(super) cwd: PathBuf,
    pub(super) command: Vec<OsString>,
    /// The process that watches over this one.
    pub(super) supervisor: Pid,
}

impl Inside {
    /// Confines this process and runs the command in it. Comes back only when that failed, with
    /// the exit status.
    pub(super) fn run(&self) -> i32 {
        match self.confine() {
            Ok(()) => self.exec(),
            Err(refusal) => crate::confine::report(&refusal),
        }
    }

    fn confine(&self) -> Result<(), Refusal> {
        if !self.tty {
            // Fails only for the leader of a process group, which a fresh child never is.
            let _ = setsid();
        }
        namespace::enter(self.namespaces)?;
        if self.namespaces.mount {
            mounts::lay(&self.covers, self.limited)?;
            self.sources.recheck()?;
        }
        self.close_descriptors()?;
        if self.free {
            return self.follow_supervisor();
        }
        privileges::give_up()?;
        self.return_to_folder()?;
        if let Some((grants, abi)) = &self.rights {
            rights::enter(grants, *abi)?;
        }
        self.follow_supervisor()?;
        self.filter.as_ref().map_or(Ok(()), Filter::install)
    }

    /// The current folder still stands on the mount below the covers; entering it again by name
    /// stands on top of them. Done without privileges, or a denied folder could be entered.
    fn return_to_folder(&self) -> Result<(), Refusal> {
        rustix::process::chdir(&self.cwd).map_err(|errno| {
            let what = format!("the current folder cannot be entered under this policy ({errno})");
            Refusal::at(what, &self.cwd, "start from another folder")
        })
    }

    fn close_descriptors(&self) -> Result<(), Refusal> {
        sys::close_on_exec(3, u32::MAX).map_err(|error| {
            Refusal::new(format!("inherited descriptors cannot be closed ({error})"), "report this")
        })?;
        for &fd in &self.keep_fds {
            sys::keep_on_exec(fd).map_err(|error| {
                let what = format!("descriptor {fd} of --keep-fd is not open ({error})");
                Refusal::new(what, "leave it out")
            })?;
        }
        Ok(())
    }

    /// Dies when the supervisor dies. Set late, since a change of credentials clears it.
    fn follow_supervisor(&self) -> Result<(), Refusal> {
        let tied = set_parent_process_death_signal(Some(Signal::KILL));
        if tied.is_ok() && getppid() == Some(self.supervisor) {
            return Ok(());
        }
        Err(Refusal::new("the supervisor of this start is gone", "start again"))
    }

    fn exec(&self) -> i32 {
        let name = self.command.first().map_or(OsStr::new(""), OsString::as_os_str);
        let mut command = Command::new(name);
        command.args(self.command.iter().skip(1));
        if let Some(variables) = self.environment.variables() {
            command.env_clear().envs(variables);
        }
        let error = command.exec();
        say(&format!("cannot run {}: {error}", name.display()));
        if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN }
    }
}
