//! Carries a plan out with Landlock, seccomp and mounts.

mod ability;
mod audit;
mod bwrap;
mod channel;
mod covering;
mod explain;
mod filter;
mod handed;
mod inside;
mod janitor;
mod mounts;
mod namespace;
mod notice;
mod open;
mod privileges;
mod rights;
mod stage;
mod stubs;
mod supervise;
mod survivors;
mod sys;
mod witness;

use std::path::Path;

use nix::sys::signal::SigSet;
use sandproof_scenarios::Network;

use super::args::{Args, Mechanism};
use super::cover::{self, Cover};
use super::events::Events;
use super::mutant::{self, Mutant};
use super::plan::Plan;
use super::refusal::Refusal;
use super::say;
use super::surroundings::Surroundings;
use super::warning;
use ability::Ability;
use channel::Waiting;
use inside::{Inside, Way};
use janitor::Janitor;
use mounts::Calls;
use namespace::Namespaces;
use stage::Stage;
use stubs::Stubs;
use supervise::Ended;
use witness::Witness;

/// Inside bwrap: goes on where the first start handed over.
///
/// # Errors
/// See [`bwrap::resume`].
pub(super) fn resume(stage: i32) -> Result<i32, Refusal> {
    bwrap::resume(stage)
}

/// Starts the command under the plan and gives its exit status.
///
/// # Errors
/// A promise of the plan cannot be kept on this host.
pub(super) fn carry_out(
    args: &Args,
    mut plan: Plan,
    around: &Surroundings,
    events: &mut Events,
) -> Result<i32, Refusal> {
    if let Some(fd) = args.keep_fds.iter().find(|&&fd| !sys::is_open(fd)) {
        let what = format!("descriptor {fd} of --keep-fd is not open");
        return Err(Refusal::new(what, "leave it out"));
    }
    let ability = Ability::of(args, &plan)?;
    if args.explain {
        return explain::print(plan, &ability, around);
    }
    plan.settle(around)?;
    super::open_log(args, &plan, &ability.lost, events)?;
    let (wanted, unfound) = covering::wanted(&plan, around)?;
    warning::say_all(&plan, &unfound, args.strict_enforcement)?;
    // From here on the host is changed, and a signal must not keep that from being undone.
    let signals = supervise::hold_signals()?;
    let mut stubs = Stubs::default();
    let covers = match ability.mounts {
        true => covering::covers(&plan, &wanted, &mut stubs)?,
        false => Vec::new(),
    };
    let _janitor = Janitor::of(stubs)?;
    let applied = Some(plan.applied(around)).filter(|_| !plan.is_free());
    let witness = Witness::of(events, applied, &ability);
    let mut inside = inside(args, plan, around, &ability, covers)?;
    inside.stage.told = witness.hears_audit();
    let ended =
        start(args, inside, events, &signals, &|waiting, all| witness.confined(waiting, all));
    witness.finish();
    ended
}

/// Starts with own mounts, and when the host does not allow them with those of `bwrap`. `confined`
/// is told whether the mounts are there that the plan needs.
fn start(
    args: &Args,
    mut inside: Inside,
    events: &Events,
    signals: &SigSet,
    confined: &dyn Fn(Waiting, bool) -> Result<(), Refusal>,
) -> Result<i32, Refusal> {
    let mut trouble = Refusal::new("own-mounts is missing (--without)", "install bubblewrap");
    if !args.without.contains(&Mechanism::OwnMounts) || !inside.namespaces.mount {
        match supervise::run(&inside, signals, |waiting| confined(waiting, true))? {
            Ended::Ran(status) => return Ok(status),
            Ended::Trouble(refusal) => trouble = refusal,
        }
    }
    if let Some(program) = bwrap::trusted().filter(|_| inside.namespaces.mount) {
        inside.way = Way::Bwrap(program);
        match supervise::run(&inside, signals, |waiting| confined(waiting, true))? {
            Ended::Ran(status) => return Ok(status),
            Ended::Trouble(refusal) => {
                trouble = trouble.with(&format!("bwrap was tried as well: {refusal}"));
            }
        }
    }
    if !args.fail_open {
        return Err(trouble);
    }
    let lost = format!("{} ({trouble})", ability::BY_MOUNTS);
    say(&format!("not enforced: {lost}"));
    events.granted("--fail-open", &lost)?;
    inside.way = Way::Own;
    inside.namespaces = Namespaces::default();
    inside.stage.uncover();
    match supervise::run(&inside, signals, |waiting| confined(waiting, false))? {
        Ended::Ran(status) => Ok(status),
        Ended::Trouble(refusal) => Err(refusal),
    }
}

fn inside(
    args: &Args,
    plan: Plan,
    around: &Surroundings,
    ability: &Ability,
    covers: Vec<Cover>,
) -> Result<Inside, Refusal> {
    let (limited, closed) = (plan.grants.limited, covering::closes_tree(&plan));
    let mut grants = plan.grants.clone();
    for roots in [&mut grants.read, &mut grants.write, &mut grants.devices] {
        // What is denied is not granted; there may be nothing left to open.
        roots.retain(|root| !plan.denies(root));
    }
    grants.write.extend(cover::fresh(&covers).map(Path::to_path_buf));
    let apart = !limited && !covers.is_empty() && ability.landlock.is_some();
    let stage = Stage {
        covers,
        apart,
        limited: closed,
        grants: Some(grants).filter(|_| limited && ability.landlock.is_some()),
        network: Some(plan.network).filter(|_| ability.seccomp),
        blocked: plan.network == Network::Blocked,
        told: false,
        free: ability.free,
        sources: plan.sources,
        environment: plan.environment,
        keep_fds: args.keep_fds.clone(),
        cwd: around.cwd.clone(),
        command: args.command.clone(),
    };
    Ok(Inside {
        way: Way::Own,
        namespaces: Namespaces {
            // A glob may match nothing.
            mount: ability.mounts && (closed || !stage.covers.is_empty()),
            network: ability.network_namespace
                && plan.network == Network::Blocked
                && !mutant::on(Mutant::NetworkNamespaceShared),
            network_optional: !args.strict_enforcement,
        },
        calls: if args.without.contains(&Mechanism::NewMountCalls) {
            Calls::Classic
        } else {
            Calls::of_kernel()
        },
        tools: stage.tools()?,
        stage,
        tty: args.tty,
        supervisor: rustix::process::getpid(),
    })
}
