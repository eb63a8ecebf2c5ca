//! [`Stage`]: what happens once the covers are laid, whoever laid them.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use landlock::ABI;
use rustix::process::{Signal, set_parent_process_death_signal};
use sandproof_scenarios::Network;
use serde::{Deserialize, Serialize};

use super::channel::Teller;
use super::filter::Filter;
use super::rights::Domain;
use super::{handed, privileges, rights, sys};
use crate::confine::cover::{self, Cover};
use crate::confine::environment::Environment;
use crate::confine::grants::Grants;
use crate::confine::mutant::{self, Mutant};
use crate::confine::refusal::Refusal;
use crate::confine::sources::Sources;
use crate::confine::{CANNOT_RUN, NOT_FOUND, REFUSED, say};

/// The part of a start that can be handed to another process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stage {
    /// Covers that are laid, or to be laid.
    pub(super) covers: Vec<Cover>,
    /// Everything but the opened roots is read-only.
    pub(super) limited: bool,
    /// Rights to grant; absent: no Landlock domain.
    pub(super) grants: Option<Grants>,
    /// Without such a domain: processes outside are out of reach, since they see no covers.
    pub(super) apart: bool,
    /// Network of the filter; absent: no filter.
    pub(super) network: Option<Network>,
    /// The network is blocked, by whatever layer there is.
    pub(super) blocked: bool,
    /// Denials are told to the kernel's audit, which the supervisor listens to.
    pub(super) told: bool,
    /// Nothing is taken away at all.
    pub(super) free: bool,
    /// Hook sources that must still be what they were.
    pub(super) sources: Sources,
    pub(super) environment: Environment,
    pub(super) keep_fds: Vec<i32>,
    pub(super) cwd: PathBuf,
    pub(super) command: Vec<OsString>,
}

/// What a stage needs of the kernel, made ready before the fork.
#[derive(Clone, Debug)]
pub(super) struct Tools {
    rights: Option<ABI>,
    filter: Option<Filter>,
}

impl Stage {
    /// Asks the kernel for its Landlock, and builds the filter.
    ///
    /// # Errors
    /// There is no Landlock, or the filter cannot be built.
    pub(super) fn tools(&self) -> Result<Tools, Refusal> {
        Ok(Tools {
            rights: (self.grants.is_some() || self.apart).then(rights::abi).transpose()?,
            filter: self.network.map(Filter::build).transpose()?,
        })
    }

    /// Goes without covers. What would have been the command's own is not granted: below it lies
    /// that of the host.
    pub(super) fn uncover(&mut self) {
        for path in cover::fresh(&self.covers) {
            if let Some(grants) = &mut self.grants {
                grants.write.retain(|root| root != path);
            }
        }
        self.covers.clear();
    }

    /// Confines this process and becomes the command. Comes back only when that failed, with the
    /// exit status; why is told to the supervisor.
    pub(super) fn go_through(
        &self,
        tools: &Tools,
        alive: impl FnOnce() -> bool,
        teller: &Teller,
    ) -> i32 {
        let confined = self
            .sources
            .recheck()
            .and_then(|()| self.confine(tools, alive))
            .and_then(|listener| teller.confined(listener));
        match confined {
            Ok(()) => self.exec(),
            Err(refusal) => {
                teller.refused(refusal);
                REFUSED
            }
        }
    }

    /// Takes everything away that the policy does not grant. `alive` says whether the supervisor
    /// still is there. Gives the listener of the filter, if it has one.
    ///
    /// # Errors
    /// Something cannot be taken away.
    fn confine(
        &self,
        tools: &Tools,
        alive: impl FnOnce() -> bool,
    ) -> Result<Option<OwnedFd>, Refusal> {
        self.close_descriptors()?;
        if !self.free {
            privileges::dump_no_core()?;
            privileges::give_up()?;
            self.return_to_folder()?;
        }
        if let (Some(grants), Some(abi)) = (&self.grants, tools.rights) {
            rights::enter(Domain { grants, blocked: self.blocked, told: self.told }, abi)?;
        }
        if let (true, Some(abi)) = (self.apart && self.grants.is_none(), tools.rights) {
            rights::stand_apart(abi)?;
        }
        // Late, since a change of credentials unties it.
        let tied = set_parent_process_death_signal(Some(Signal::KILL));
        if tied.is_err() || !alive() {
            return Err(Refusal::new("the supervisor of this start is gone", "start again"));
        }
        tools.filter.as_ref().map_or(Ok(None), Filter::install)
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
        let failed = |error: std::io::Error| {
            Refusal::new(format!("inherited descriptors cannot be closed ({error})"), "report this")
        };
        if mutant::on(Mutant::DescriptorsKept) {
            return Ok(());
        }
        sys::close_on_exec(3, u32::MAX).map_err(failed)?;
        self.keep_fds.iter().try_for_each(|&fd| sys::keep_on_exec(fd).map_err(failed))?;
        if !self.limited && self.covers.is_empty() {
            return Ok(());
        }
        let kept = (0..3).chain(self.keep_fds.iter().copied());
        kept.into_iter().try_for_each(|fd| handed::open_again(fd, &self.covers))
    }

    /// Becomes the command; comes back only when that fails, with the exit status.
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
