//! Rules for what is expected: `then`, `works`, `still-works`, `twin`, and effects of one route.

use super::{Check, place};
use crate::Effects;
use crate::file::ScenarioFile;

pub(super) fn check(file: &ScenarioFile, check: &mut Check<'_>) {
    let (then, works) = (check.written(&place!["then"]), check.written(&place!["works"]));
    if then && works {
        let message = "both `then` and `works`; a scenario has exactly one of them";
        check.wrong(&place!["works"], "works", message);
    } else if !then && !works && !check.mistaken("then") && !check.mistaken("works") {
        let message = "neither `then` nor `works`; a scenario has exactly one of them";
        check.wrong(&[], "then", message);
    }
    if file.works == Some(false) {
        let message = "`works: false` says nothing; write true, or say `then` what must hold";
        check.wrong(&place!["works"], "false", message);
    }
    if let Some(effects) = &file.then {
        check_then(effects, file, check);
    } else if works && !then {
        check_works(file, check);
    }
    check_twin(file, check);
}

fn check_then(effects: &Effects, file: &ScenarioFile, check: &mut Check<'_>) {
    if effects.is_empty() && !check.tainted(&place!["then"]) {
        check.wrong(&place!["then"], "then", "`then` is empty; at least one clause is needed");
    }
    route_effects(effects, file, check);
    let missing =
        |check: &Check<'_>, key: &str| !check.written(&place![key]) && !check.mistaken(key);
    if effects.start.is_some() {
        if missing(check, "twin") {
            let message = "`twin` is missing: without a world in which the start succeeds, a \
                           refusal proves nothing";
            check.wrong(&place!["then", "start"], "twin", message);
        }
        if check.written(&place!["still-works"]) {
            let message = "`still-works` beside `start: refused`: nothing runs there; leave it out";
            check.wrong(&place!["still-works"], "still-works", message);
        }
        return;
    }
    if missing(check, "still-works") && !check.tainted(&place!["then"]) {
        let message = "`still-works` is missing: without it, blocking everything would pass";
        check.wrong(&place!["then"], "still-works", message);
    }
    let empty = file.still_works.as_ref().is_some_and(Vec::is_empty);
    if empty && !check.tainted(&place!["still-works"]) {
        let message = "`still-works` is empty; name an attempt that must succeed";
        check.wrong(&place!["still-works"], "still-works", message);
    }
}

/// Effects of single routes: some clause, no `start`, nothing that contradicts the common ones.
fn route_effects(common: &Effects, file: &ScenarioFile, check: &mut Check<'_>) {
    for (name, route) in file.routes.iter().flat_map(|routes| &routes.0) {
        let Some(own) = &route.then else { continue };
        let base = place!["routes", name.as_str(), "then"];
        if own.is_empty() && !check.tainted(&place!["routes"]) {
            check.wrong(&base, "then", "`then` of a route is empty; leave it out");
        }
        if own.start.is_some() {
            let message = "`start` in the `then` of a route; it belongs in that of the scenario";
            check.wrong(&place!["routes", name.as_str(), "then", "start"], "start", message);
        }
        for (place, word) in merge(common, own).1 {
            let message =
                format!("`{word}` is said otherwise in the `then` of the scenario; keep one");
            let whole = place!["routes", name.as_str(), "then", place, word.as_str()];
            check.wrong(&whole, &word, message);
        }
    }
}

/// The common effects and those of a route as one, and the clauses that contradict each other.
pub(crate) fn merge(common: &Effects, own: &Effects) -> (Effects, Vec<(&'static str, String)>) {
    let mut all = common.clone();
    let mut conflicts = Vec::new();
    all.start = own.start.or(all.start);
    all.secrets = own.secrets.or(all.secrets);
    all.network = own.network.or(all.network);
    all.victim = own.victim.or(all.victim);
    all.attempts = own.attempts.or(all.attempts);
    all.env.extend(own.env.clone());
    for (path, effect) in &own.paths {
        if all.paths.get(path).is_some_and(|other| other != effect) {
            conflicts.push(("paths", path.to_string()));
        }
        all.paths.insert(path.clone(), effect.clone());
    }
    (all, conflicts)
}

fn check_works(file: &ScenarioFile, check: &mut Check<'_>) {
    if check.written(&place!["still-works"]) {
        let message = "`still-works` beside `works`: the routes already are what must work; \
                       make these attempts a route";
        check.wrong(&place!["still-works"], "still-works", message);
    }
    for (name, route) in file.routes.iter().flat_map(|routes| &routes.0) {
        if route.then.is_some() {
            let message = "`then` in a route beside `works`; write one or the other";
            check.wrong(&place!["routes", name.as_str(), "then"], "then", message);
        }
    }
}

fn check_twin(file: &ScenarioFile, check: &mut Check<'_>) {
    let Some(twin) = &file.twin else { return };
    let refused = file.then.as_ref().is_some_and(|effects| effects.start.is_some());
    let unsure = check.tainted(&place!["then"])
        || (!check.written(&place!["then"]) && check.mistaken("then"));
    if !refused && !unsure {
        let message = "`twin` without `start: refused`; only a refused start has one";
        check.wrong(&place!["twin"], "twin", message);
    }
    let changes = twin.given.iter().any(|entry| !file.given.contains(entry));
    if !changes && !check.tainted(&place!["twin"]) && !check.tainted(&place!["given"]) {
        let message = "`twin` changes nothing: no entry differs from `given`";
        check.wrong(&place!["twin"], "twin", message);
    }
}
