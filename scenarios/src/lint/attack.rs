//! An attack must be one: what the policy grants is no prize, and what is not there cannot be
//! taken.

use super::Finding;
use super::grants::{Access, covers, of_policy};
use super::touch::hook_paths;
use super::world::{configured, has_links, has_secret, keeps_secrets, through_link};
use crate::fixture::{Holds, ListenerFixture, ListenerKind};
use crate::rules::place;
use crate::yaml::Seg;
use crate::{Fixture, Network, PathArg, PathEffect, Profile, RoomPath, Route, Scenario, Step};
use sandproof_probes::OpenFlag;

pub(super) fn check(scenario: &Scenario) -> Vec<Finding> {
    let mut findings = nothing_to_lose(scenario);
    for (name, route) in &scenario.routes {
        if route.effects.start.is_some() || configured(scenario) {
            continue;
        }
        for profile in &scenario.policy.profiles {
            findings.extend(granted_read(scenario, name, route, *profile));
            findings.extend(granted_write(scenario, name, route, *profile));
            findings.extend(open_network(scenario, name, route, *profile));
        }
    }
    findings
}

/// Clauses that could be false in no control arm: there is nothing they speak of.
fn nothing_to_lose(scenario: &Scenario) -> Vec<Finding> {
    let any = |kind: &str| scenario.given.iter().any(|f| f.keys().iter().any(|(k, _)| *k == kind));
    let (no_listener, no_victim) = (!any("listener"), !any("victim"));
    let secrets = |route: &Route| {
        keeps_secrets(&route.effects)
            && route.effects.start.is_none()
            && !has_secret(scenario, route)
    };
    let network = |route: &Route| route.effects.network.is_some() && no_listener;
    let victim = |route: &Route| route.effects.victim.is_some() && no_victim;
    [
        pointless(scenario, secrets, "secrets", "kept", "`given` holds no secret"),
        pointless(scenario, network, "network", "silent", "`given` has no listener"),
        pointless(scenario, victim, "victim", "untouched", "`given` has no victim"),
    ]
    .concat()
}

/// A clause that is pointless in these routes: told once where it is so in all, else at each.
fn pointless(
    scenario: &Scenario,
    wrong: impl Fn(&Route) -> bool,
    clause: &str,
    word: &str,
    lacks: &str,
) -> Vec<Finding> {
    let message = format!("`{word}` can never be broken: {lacks}");
    let routes = scenario.routes.iter().filter(|(_, route)| wrong(route));
    let names: Vec<&str> = routes.map(|(name, _)| name.as_str()).collect();
    if names.len() == scenario.routes.len() {
        return vec![Finding::refusal(&place!["then", clause], word, message)];
    }
    let at = |name| place!["routes", name, "then", clause];
    names.into_iter().map(|name| Finding::refusal(&at(name), word, message.as_str())).collect()
}

/// Where step `index` of a route stands.
fn at(name: &str, index: usize) -> Vec<Seg> {
    place!["routes", name, "steps", index].to_vec()
}

/// A secret file that the policy lets the command read, read by its own name.
fn granted_read(
    scenario: &Scenario,
    name: &str,
    route: &Route,
    profile: Profile,
) -> Option<Finding> {
    if !keeps_secrets(&route.effects) || (has_links(scenario) && !scenario.policy.deny.is_empty()) {
        return None;
    }
    let reads = route.steps.iter().take_while(|step| only_looks(step)).enumerate();
    for (index, path) in reads.filter_map(|(index, step)| Some((index, whole_read(step)?))) {
        let prize = secret_file(scenario, path);
        if prize && of_policy(&scenario.policy, profile, path) >= Access::Read {
            let message = format!(
                "`{path}` may be read under profile {}: nothing denies it, so `secrets: kept` \
                 cannot hold",
                profile.name()
            );
            return Some(Finding::refusal(&at(name, index), path, message));
        }
    }
    None
}

/// True for a step after which every file still is where it was.
fn only_looks(step: &Step) -> bool {
    matches!(
        step,
        Step::Read(_) | Step::List(_) | Step::Stat(_) | Step::Readlink(_) | Step::Open(_)
    )
}

/// The room path that a step reads whole.
fn whole_read(step: &Step) -> Option<&RoomPath> {
    if let Step::Read(PathArg::Room(path)) = step {
        return Some(path);
    }
    if let Step::Open(open) = step
        && let PathArg::Room(path) = &open.path
        && open.then_read
        && open.flags == [OpenFlag::R]
    {
        return Some(path);
    }
    None
}

/// True for a file of `given` that holds the secret and may be read by its owner.
fn secret_file(scenario: &Scenario, path: &RoomPath) -> bool {
    let closed = scenario.given.iter().any(|fixture| {
        matches!(fixture, Fixture::Mode(mode) if covers(&mode.path, path))
            || matches!(fixture, Fixture::File(file)
                if file.path == *path && file.mode.is_some_and(|mode| mode.0 & 0o400 == 0))
    });
    let secret = scenario.given.iter().any(|fixture| {
        matches!(fixture, Fixture::File(file) if file.path == *path && file.holds == Holds::Secret)
    });
    secret && !closed
}

/// A file that the policy lets the command write, and a route that does nothing else.
fn granted_write(
    scenario: &Scenario,
    name: &str,
    route: &Route,
    profile: Profile,
) -> Option<Finding> {
    let [step] = route.steps.as_slice() else { return None };
    let (path, effect) = broken_by(step)?;
    let ordinary = !path.rel.split('/').any(|segment| segment.starts_with('.'))
        && !has_links(scenario)
        && !through_link(scenario, &[], path)
        && !hook_paths(scenario).iter().any(|hook| covers(hook, path));
    let there = scenario.given.iter().any(|fixture| {
        matches!(fixture, Fixture::File(file) if file.path == *path && file.mode.is_none())
    });
    let fits = there == (effect == PathEffect::Unchanged);
    let promised = route.effects.paths.get(path) == Some(&effect);
    let restricted = scenario.given.iter().any(|fixture| matches!(fixture, Fixture::Mode(_)));
    let granted = of_policy(&scenario.policy, profile, path) == Access::Write;
    (ordinary && fits && promised && granted && !restricted).then(|| {
        let message = format!(
            "`{path}` may be written under profile {}: nothing protects it, so its clause in \
             `then` cannot hold",
            profile.name()
        );
        Finding::refusal(&at(name, 0), path, message)
    })
}

/// The room path that a step surely changes, and the clause that this breaks.
fn broken_by(step: &Step) -> Option<(&RoomPath, PathEffect)> {
    let (path, effect) = if let Step::Write(w) | Step::Append(w) = step {
        (&w.path, PathEffect::Unchanged)
    } else if let Step::Unlink(path) = step {
        (path, PathEffect::Unchanged)
    } else if let Step::Create(path) | Step::Mkdir(path) = step {
        (path, PathEffect::Absent)
    } else {
        return None;
    };
    path.in_room().map(|path| (path, effect))
}

/// A call over IP under a policy that leaves the network open.
fn open_network(
    scenario: &Scenario,
    name: &str,
    route: &Route,
    profile: Profile,
) -> Option<Finding> {
    let network = scenario.policy.network.unwrap_or(profile.network());
    if route.effects.network.is_none() || network == Network::Blocked {
        return None;
    }
    let step = route.steps.first()?;
    let to = if let Step::Connect(to) = step { to } else { return None };
    over_ip(scenario, to).then(|| {
        let message = format!(
            "listener `{to}` may be called under profile {}: the network is open, so `network: \
             silent` cannot hold",
            profile.name()
        );
        let mut place = at(name, 0);
        place.push("connect".into());
        Finding::refusal(&place, to, message)
    })
}

fn over_ip(scenario: &Scenario, name: &str) -> bool {
    let ip = |l: &ListenerFixture| matches!(l.kind, ListenerKind::Tcp | ListenerKind::Udp);
    scenario
        .given
        .iter()
        .any(|fixture| matches!(fixture, Fixture::Listener(l) if l.name() == name && ip(l)))
}
