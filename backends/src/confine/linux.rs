//! Carries a plan out with Landlock, seccomp and mounts.

mod ability;
mod filter;
mod inside;
mod mounts;
mod namespace;
mod open;
mod privileges;
mod rights;
mod stubs;
mod supervise;
mod sys;
mod template;

use std::path::PathBuf;

use sandproof_scenarios::Network;

use super::args::Args;
use super::cover::{self, Cover, Wanted};
use super::links;
use super::plan::Plan;
use super::refusal::Refusal;
use super::surroundings::Surroundings;
use ability::Ability;
use filter::Filter;
use inside::Inside;
use namespace::Namespaces;
use stubs::{Shape, Stubs};

/// Starts the command under the plan and gives its exit status.
///
/// # Errors
/// A promise of the plan cannot be kept on this host.
pub(super) fn carry_out(args: &Args, plan: Plan, around: &Surroundings) -> Result<i32, Refusal> {
    let ability = Ability::of(args, &plan)?;
    let mut stubs = Stubs::default();
    let covers = if ability.mounts { covers(&plan, around, &mut stubs)? } else { Vec::new() };
    let inside = inside(args, plan, around, &ability, covers)?;
    supervise::run(&inside)
}

/// The covers of the plan, with something under each of them.
fn covers(plan: &Plan, around: &Surroundings, stubs: &mut Stubs) -> Result<Vec<Cover>, Refusal> {
    for path in &plan.mask {
        stubs.hold(path, Shape::File)?;
    }
    for path in &plan.freeze {
        stubs.hold(path, Shape::Folder)?;
    }
    let near: Vec<PathBuf> =
        std::iter::once(&around.workspace).chain(&plan.grants.write).cloned().collect();
    Ok(cover::arrange(&Wanted {
        limited: plan.grants.limited,
        write: plan.grants.write.clone(),
        freeze: with_links(&plan.freeze, &near)?,
        mask: with_links(&plan.mask, &near)?,
    }))
}

/// The paths, and every other name of the files among them.
fn with_links(paths: &[PathBuf], near: &[PathBuf]) -> Result<Vec<PathBuf>, Refusal> {
    Ok(paths.iter().cloned().chain(links::others(paths, near)?).collect())
}

fn inside(
    args: &Args,
    plan: Plan,
    around: &Surroundings,
    ability: &Ability,
    covers: Vec<Cover>,
) -> Result<Inside, Refusal> {
    let limited = plan.grants.limited;
    let filter = ability.seccomp.then(|| Filter::build(plan.network)).transpose()?;
    Ok(Inside {
        namespaces: Namespaces {
            mount: ability.mounts,
            network: ability.network_namespace && plan.network == Network::Blocked,
            network_optional: !args.strict_enforcement,
        },
        covers,
        limited,
        rights: ability.landlock.filter(|_| limited).map(|abi| (plan.grants, abi)),
        filter,
        free: ability.free,
        sources: plan.sources,
        environment: plan.environment,
        keep_fds: args.keep_fds.clone(),
        tty: args.tty,
        cwd: around.cwd.clone(),
        command: args.command.clone(),
        supervisor: rustix::process::getpid(),
    })
}
