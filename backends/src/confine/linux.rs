//! Carries a plan out with Landlock, seccomp and mounts.

mod filter;
mod inside;
mod mounts;
mod namespace;
mod open;
mod privileges;
mod rights;
mod supervise;
mod sys;
mod template;

use sandproof_scenarios::Network;

use super::args::Args;
use super::cover::{self, Wanted};
use super::plan::Plan;
use super::refusal::Refusal;
use super::surroundings::Surroundings;
use filter::Filter;
use inside::Inside;
use namespace::Namespaces;

/// Starts the command under the plan and gives its exit status.
///
/// # Errors
/// A promise of the plan cannot be kept on this host.
pub(super) fn carry_out(args: &Args, plan: Plan, around: &Surroundings) -> Result<i32, Refusal> {
    let limited = plan.grants.limited;
    let covers = cover::arrange(&Wanted {
        limited,
        write: plan.grants.write.clone(),
        freeze: plan.freeze.clone(),
        mask: plan.mask.clone(),
    });
    let blocked = plan.network == Network::Blocked;
    let free = plan.is_empty();
    let inside = Inside {
        namespaces: Namespaces {
            mount: limited || !covers.is_empty(),
            network: blocked,
            network_optional: !args.strict_enforcement,
        },
        covers,
        limited,
        filter: if free { None } else { Some(Filter::build(plan.network)?) },
        rights: if limited { Some((plan.grants, rights::abi()?)) } else { None },
        free,
        keep_fds: args.keep_fds.clone(),
        tty: args.tty,
        cwd: around.cwd.clone(),
        command: args.command.clone(),
        supervisor: rustix::process::getpid(),
    };
    supervise::run(&inside)
}
