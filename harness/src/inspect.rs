//! Looks at an arm from outside: which effects held.

use sandproof_probes::Observation;
use sandproof_probes::wire::Hello;
use sandproof_scenarios::effect::{AttemptsEffect, EnvEffect, NetworkEffect, SecretsEffect};
use sandproof_scenarios::effect::{StartEffect, VictimEffect};
use sandproof_scenarios::{Effects, PathEffect, RoomPath};

use crate::evidence::{Attemptance, Attempted, Clause};
use crate::photo::{Entry, Photo, found};
use crate::world::Words;

/// Everything that can be looked at when an arm is over.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The rooms before the start.
    pub before: &'a Photo,
    /// The rooms when the route was over, and after the tree is dead: an effect must hold in both.
    pub after: &'a [&'a Photo],
    /// The arm's words.
    pub words: &'a Words,
    /// What the probe says it saw.
    pub observations: &'a [Observation],
    /// What callers of listeners said.
    pub calls: &'a [Vec<u8>],
    /// What happened to victims.
    pub harm: &'a [String],
    /// What the probe measured about itself.
    pub hello: Option<&'a Hello>,
    /// Secrets that the host made after the start.
    pub host_secrets: &'a [RoomPath],
    /// Last attempt of the route.
    pub last: Option<&'a Attempted>,
    /// The command ran.
    pub started: bool,
}

/// One clause per effect, in the order of the grammar. `start` is no clause: the judge reads the
/// start itself.
#[must_use]
pub fn clauses(effects: &Effects, seen: &Seen<'_>) -> Vec<Clause> {
    let mut clauses = Vec::new();
    match effects.start {
        Some(StartEffect::Refused) | None => {}
    }
    if let Some(SecretsEffect::Kept) = effects.secrets {
        clauses.push(clause("secrets kept", leak(seen)));
    }
    for (path, effect) in &effects.paths {
        clauses.push(path_clause(path, effect, seen));
    }
    if let Some(NetworkEffect::Silent) = effects.network {
        let called = (!seen.calls.is_empty()).then(|| call(seen));
        clauses.push(clause("network silent", called));
    }
    if let Some(VictimEffect::Untouched) = effects.victim {
        let harm = (!seen.harm.is_empty()).then(|| seen.harm.join(", "));
        clauses.push(clause("victim untouched", harm));
    }
    for (name, EnvEffect::Hidden) in &effects.env {
        clauses.push(env_clause(name, seen));
    }
    if let Some(AttemptsEffect::Denied) = effects.attempts {
        clauses.push(attempts_clause(seen));
    }
    clauses
}

/// A clause that holds unless something was seen.
fn clause(name: &str, broken: Option<String>) -> Clause {
    Clause { name: name.to_owned(), held: Some(broken.is_none()), seen: broken.unwrap_or_default() }
}

/// Where the marker was seen: in an observation, at a listener, or in another file.
fn leak(seen: &Seen<'_>) -> Option<String> {
    let marker = seen.words.marker.as_str();
    let hash = crate::rng::sha256(marker.as_bytes());
    let file_hash = crate::rng::sha256(format!("{marker}\n").as_bytes());
    let told = seen.observations.iter().position(|observation| {
        observation.text.contains(marker)
            || observation.words.contains(&hash)
            || observation.sha256 == file_hash
            || observation.sha256 == hash
    });
    if let Some(number) = told {
        return Some(format!("attempt {} saw the secret", number + 1));
    }
    if seen.calls.iter().any(|call| !found(call, &[marker.as_bytes()]).is_empty()) {
        return Some("the secret reached a listener".to_owned());
    }
    let spread = seen.after.iter().flat_map(|photo| &photo.entries).find(|(path, entry)| {
        let held = seen.before.at(path).is_some_and(|before| !before.markers.is_empty());
        let by_host = seen.host_secrets.iter().any(|p| path.as_os_str() == p.to_string().as_str());
        !entry.markers.is_empty() && !held && !by_host
    });
    spread.map(|(path, _)| format!("the secret is in {} as well", path.display()))
}

fn path_clause(path: &RoomPath, effect: &PathEffect, seen: &Seen<'_>) -> Clause {
    let name = path.to_string();
    let before = seen.before.at(&name);
    let broken = seen.after.iter().find_map(|photo| broken(effect, before, photo.at(&name)));
    let what = match effect {
        PathEffect::Unchanged => "unchanged",
        PathEffect::Absent => "absent",
        PathEffect::Present => "present",
        PathEffect::Holds(_) => "holds that text",
    };
    clause(&format!("{name} {what}"), broken)
}

/// How one photograph shows that an effect does not hold.
fn broken(effect: &PathEffect, before: Option<&Entry>, after: Option<&Entry>) -> Option<String> {
    match effect {
        PathEffect::Unchanged => match (before, after) {
            (Some(old), Some(new)) => old.difference(new).map(|what| format!("its {what} changed")),
            (Some(_), None) => Some("it is gone".to_owned()),
            (None, Some(_)) => Some("it was not there before".to_owned()),
            (None, None) => None,
        },
        PathEffect::Absent => after.map(|_| "it is there".to_owned()),
        PathEffect::Present => after.is_none().then(|| "it is not there".to_owned()),
        PathEffect::Holds(text) => {
            use sha2::Digest as _;
            let expected = sha2::Sha256::digest(text.as_bytes());
            let same = after.is_some_and(|entry| entry.content == expected.as_slice());
            (!same).then(|| "it does not".to_owned())
        }
    }
}

fn call(seen: &Seen<'_>) -> String {
    let token = seen.words.token.as_bytes();
    let ours = seen.calls.iter().any(|call| !found(call, &[token]).is_empty());
    let with = if ours { "with this arm's token" } else { "without a token" };
    format!("{} call(s), {with}", seen.calls.len())
}

fn env_clause(name: &str, seen: &Seen<'_>) -> Clause {
    let held = seen.hello.map(|hello| !hello.variables.iter().any(|variable| variable == name));
    let seen = if held == Some(false) { "the command has it" } else { "" };
    Clause { name: format!("{name} hidden"), held, seen: seen.to_owned() }
}

fn attempts_clause(seen: &Seen<'_>) -> Clause {
    let held = seen.last.filter(|_| seen.started).map(|last| match &last.result {
        Attemptance::Denied(_) => true,
        // Hidden is denied; where it is missing without a sandbox too, the attack is a dud.
        Attemptance::Failed(how) => how.ends_with(" ENOENT"),
        Attemptance::Done => false,
    });
    let text = seen.last.map(|last| last.result.to_string()).unwrap_or_default();
    Clause { name: "last attempt denied".to_owned(), held, seen: text }
}
