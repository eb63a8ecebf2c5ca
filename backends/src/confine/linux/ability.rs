//! [`Ability`]: which mechanisms are used, and whether that is enough.

use landlock::ABI;
use sandproof_scenarios::Network;

use super::rights;
use crate::confine::args::{Args, Mechanism};
use crate::confine::plan::Plan;
use crate::confine::refusal::Refusal;
use crate::confine::say;

/// Mechanisms this start uses.
#[derive(Clone, Debug, Default)]
pub(super) struct Ability {
    /// The Landlock domain, under this ABI.
    pub(super) landlock: Option<ABI>,
    /// The filter of calls.
    pub(super) seccomp: bool,
    /// Covers.
    pub(super) mounts: bool,
    /// A network namespace, as a second layer behind the filter.
    pub(super) network_namespace: bool,
    /// The plan promises nothing.
    pub(super) free: bool,
    /// What is not enforced, and why.
    pub(super) lost: Vec<(&'static str, Refusal)>,
}

/// A mechanism the plan needs.
#[derive(Clone, Copy, Debug)]
struct Need {
    mechanism: Mechanism,
    /// What rests on it.
    promise: &'static str,
    /// A second layer; without it the promise still holds.
    second: bool,
}

impl Ability {
    /// Decides.
    ///
    /// # Errors
    /// A mechanism that a promise rests on is missing.
    pub(super) fn of(args: &Args, plan: &Plan) -> Result<Self, Refusal> {
        if let Some(only) = args.only {
            return alone(only, plan);
        }
        let mut ability = Self { free: plan.is_free(), ..Self::default() };
        for need in needs(plan) {
            let found = if args.without.contains(&need.mechanism) {
                Err(taken_away(need))
            } else {
                ability.take(need.mechanism)
            };
            if let Err(refusal) = found {
                ability.miss(args, need, refusal)?;
            }
        }
        if args.strict_enforcement {
            ability.complete()?;
        }
        Ok(ability)
    }

    /// Notes one mechanism as used.
    fn take(&mut self, mechanism: Mechanism) -> Result<(), Refusal> {
        match mechanism {
            Mechanism::Landlock => self.landlock = Some(rights::abi()?),
            Mechanism::Seccomp => self.seccomp = true,
            Mechanism::Mounts => self.mounts = true,
            Mechanism::OwnMounts | Mechanism::NewMountCalls => {}
            Mechanism::NetworkNamespace => self.network_namespace = true,
        }
        Ok(())
    }

    /// Without a second layer the start goes on; without a first one only when that was asked for.
    fn miss(&mut self, args: &Args, need: Need, refusal: Refusal) -> Result<(), Refusal> {
        if need.second && !args.strict_enforcement {
            return Ok(());
        }
        if !args.fail_open && !args.explain {
            let asked = args.without.contains(&need.mechanism);
            return Err(if asked && args.strict_enforcement {
                refusal.about_bypass()
            } else {
                refusal
            });
        }
        if !args.explain {
            say(&format!("not enforced: {} ({refusal})", need.promise));
        }
        self.lost.push((need.promise, refusal));
        Ok(())
    }

    /// The first ABI that covers renames, truncation, device controls, signals and abstract sockets.
    fn complete(&self) -> Result<(), Refusal> {
        match self.landlock {
            Some(abi) if abi < ABI::V6 => Err(Refusal::new(
                format!("Landlock of this kernel is ABI {}, which lacks scopes", abi as i32),
                "use Linux 6.12 or later, or start without --strict-enforcement",
            )),
            Some(_) | None => Ok(()),
        }
    }
}

/// What rests on mounts.
pub(super) const BY_MOUNTS: &str =
    "denied and protected paths, and modes and owners outside the write roots";

/// What the plan needs.
fn needs(plan: &Plan) -> Vec<Need> {
    let need = |mechanism, promise, second| Need { mechanism, promise, second };
    let mut needs = Vec::new();
    if plan.grants.limited {
        needs.push(need(Mechanism::Landlock, "what may be read and written", false));
    }
    if plan.covers() && !plan.grants.limited {
        let promise = "denied paths, seen through a process outside";
        needs.push(need(Mechanism::Landlock, promise, true));
    }
    if plan.grants.limited || plan.covers() {
        needs.push(need(Mechanism::Mounts, BY_MOUNTS, false));
    }
    if !plan.is_free() {
        let promise = "the blocked network, and that the sandbox cannot be undone";
        needs.push(need(Mechanism::Seccomp, promise, false));
    }
    if plan.network == Network::Blocked {
        needs.push(need(Mechanism::NetworkNamespace, "the blocked network", true));
    }
    needs
}

fn taken_away(need: Need) -> Refusal {
    let name = match need.mechanism {
        Mechanism::Landlock => "landlock",
        Mechanism::Seccomp => "seccomp",
        Mechanism::Mounts => "mounts",
        Mechanism::OwnMounts => "own-mounts",
        Mechanism::NewMountCalls => "new-mount-calls",
        Mechanism::NetworkNamespace => "network-namespace",
    };
    Refusal::new(
        format!("{name} is missing (--without), and {} rests on it", need.promise),
        "start with it, or with --fail-open",
    )
}

/// One mechanism alone. What it cannot express is refused, not left out.
fn alone(only: Mechanism, plan: &Plan) -> Result<Ability, Refusal> {
    let inexpressible = match only {
        Mechanism::Landlock => plan.covers() || plan.network == Network::Blocked,
        Mechanism::Seccomp => plan.grants.limited || plan.covers(),
        Mechanism::Mounts | Mechanism::OwnMounts | Mechanism::NewMountCalls => {
            plan.network == Network::Blocked
        }
        Mechanism::NetworkNamespace => plan.grants.limited || plan.covers(),
    };
    if inexpressible {
        return Err(Refusal::new(
            "this mechanism alone cannot express the policy",
            "give --sandbox, --network, --deny and --protect as far as it can",
        ));
    }
    let mut ability = Ability::default();
    ability.take(only)?;
    Ok(ability)
}
