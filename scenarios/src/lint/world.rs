//! What `given` and steps say about links and secrets, as far as lint must know.

use crate::effect::SecretsEffect;
use crate::fixture::{EnvValue, Holds};
use crate::lint::grants::covers;
use crate::step::HostAct;
use crate::{Effects, Fixture, PathArg, RoomPath, Route, Scenario, Step};

/// True when a symlink of `given`, or something that `earlier` steps have put there, is this path or
/// lies above it: what it leads to cannot be told from its name.
pub(super) fn through_link(scenario: &Scenario, earlier: &[Step], path: &RoomPath) -> bool {
    let given = |fixture: &Fixture| matches!(fixture, Fixture::Symlink(l) if covers(&l.path, path));
    scenario.given.iter().any(given) || earlier.iter().any(|step| replaces(step, path))
}

fn replaces(step: &Step, path: &RoomPath) -> bool {
    let put = |at: &PathArg| at.in_room().is_some_and(|at| covers(at, path));
    if let Step::Symlink(pair) = step {
        put(&pair.to)
    } else if let Step::Rename(pair) = step {
        put(&pair.to) || put(&pair.from)
    } else if let Step::Mount(mount) = step {
        put(&mount.target)
    } else if let Step::Host(HostAct::Symlink(link)) = step {
        covers(&link.path, path)
    } else if let Step::Host(HostAct::Rename(pair)) = step {
        covers(&pair.to, path)
    } else if let Step::Again(steps) = step {
        steps.iter().any(|step| replaces(step, path))
    } else {
        false
    }
}

/// True when `given` holds files that say what is granted: what they make of the policy is not read
/// here.
pub(super) fn configured(scenario: &Scenario) -> bool {
    const FILES: [&str; 4] = [
        "home/.grok/sandbox.toml",
        "home/.grok/config.toml",
        "home/.grok/requirements.toml",
        "work/.grok/sandbox.toml",
    ];
    scenario.policy.session.is_some()
        || scenario
            .given
            .iter()
            .filter_map(Fixture::makes)
            .any(|path| FILES.contains(&path.to_string().as_str()))
}

/// True when `given` has a second name for anything.
pub(super) fn has_links(scenario: &Scenario) -> bool {
    scenario
        .given
        .iter()
        .any(|fixture| matches!(fixture, Fixture::Symlink(_) | Fixture::Hardlink(_)))
}

/// True when there is a secret that this route could betray.
pub(super) fn has_secret(scenario: &Scenario, route: &Route) -> bool {
    let given = |fixture: &Fixture| {
        matches!(fixture, Fixture::File(file) if file.holds == Holds::Secret)
            || matches!(fixture, Fixture::Victim(victim) if victim.holds.is_some())
            || matches!(fixture, Fixture::Env(env) if env.values().any(|v| *v == EnvValue::Secret))
    };
    scenario.given.iter().any(given) || route.steps.iter().any(plants_secret)
}

fn plants_secret(step: &Step) -> bool {
    if let Step::Again(steps) = step {
        return steps.iter().any(plants_secret);
    }
    matches!(step, Step::Host(HostAct::Write(write)) if write.holds == Holds::Secret)
}

/// True when the effects say that secrets are kept.
pub(super) fn keeps_secrets(effects: &Effects) -> bool {
    effects.secrets == Some(SecretsEffect::Kept)
}
