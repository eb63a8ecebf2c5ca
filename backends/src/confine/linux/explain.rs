//! `--explain`: which layer enforces each promise of a plan on this host.

use std::io::{self, Write};
use std::path::PathBuf;

use landlock::ABI;
use nix::sys::wait::{WaitStatus, waitpid};
use sandproof_scenarios::Network;

use super::ability::Ability;
use super::mounts::Calls;
use super::namespace::{self, Namespaces};
use super::{bwrap, mounts, sys};
use crate::confine::plan::Plan;
use crate::confine::refusal::Refusal;

/// Says it on standard output.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn print(plan: &Plan, ability: &Ability) -> Result<i32, Refusal> {
    io::stdout().write_all(text(plan, ability, host_mounts()).as_bytes()).map_err(|error| {
        Refusal::new(format!("the explanation cannot be written ({error})"), "open its output")
    })?;
    Ok(0)
}

/// Who can lay covers here, found by doing it.
fn host_mounts() -> Option<&'static str> {
    if tried(Namespaces { mount: true, ..Namespaces::default() }) {
        return Some("own mounts");
    }
    bwrap::trusted().map(|_| "mounts by bwrap (not tried)")
}

/// Enters namespaces in a child and lays nothing there.
fn tried(namespaces: Namespaces) -> bool {
    match sys::fork() {
        Ok(None) => {
            let done = namespace::enter(namespaces)
                .and_then(|()| mounts::lay(&[], true, Calls::of_kernel()));
            std::process::exit(i32::from(done.is_err()))
        }
        Ok(Some(child)) => matches!(waitpid(child, None), Ok(WaitStatus::Exited(_, 0))),
        Err(_) => false,
    }
}

fn text(plan: &Plan, ability: &Ability, mounts: Option<&str>) -> String {
    let mut lines = vec![profile(plan)];
    lines.extend(list("reads", &plan.grants.read));
    lines.extend(list("writes", &plan.grants.write));
    lines.extend(list("denies", &plan.mask));
    lines.extend(list("protects", &plan.freeze));
    let mut layers: Vec<(&str, Vec<String>)> = Vec::new();
    let landlock = ability.landlock.map(|abi| format!("Landlock ABI {}", abi as i32));
    let mounts = mounts.filter(|_| ability.mounts).map(str::to_owned);
    let filter = ability.seccomp.then(|| "seccomp".to_owned());
    let network = ability.network_namespace.then(|| "network namespace (if allowed)".to_owned());
    let both = |a: &Option<String>, b: &Option<String>| a.iter().chain(b).cloned().collect();
    if plan.grants.limited {
        let scopes = landlock.clone().filter(|_| ability.landlock >= Some(ABI::V6));
        layers.push(("what is read", both(&landlock, &None)));
        layers.push(("what is written", both(&landlock, &mounts)));
        layers.push(("modes, owners and times outside", both(&mounts, &None)));
        layers.push(("memory and files of other processes", both(&landlock, &None)));
        layers.push(("signals and abstract sockets", both(&scopes, &None)));
    }
    if plan.covers() {
        layers.push(("denied and protected paths", both(&mounts, &None)));
    }
    if plan.network == Network::Blocked {
        layers.push(("the blocked network", both(&filter, &network)));
    }
    if !plan.is_free() {
        layers.push(("that the sandbox cannot be undone", both(&filter, &None)));
    }
    lines.extend(layers.into_iter().map(|(promise, by)| {
        let by = if by.is_empty() { "NOT ENFORCED".to_owned() } else { by.join(", ") };
        format!("{promise}: {by}")
    }));
    lines.extend(ability.lost.iter().map(|(promise, why)| format!("lost: {promise}: {why}")));
    lines.push(String::new());
    lines.join("\n")
}

/// The name of the profile, and what it is built on where that is another.
fn profile(plan: &Plan) -> String {
    let (name, base) = (plan.name.escape_debug(), plan.profile.name());
    if plan.name == base {
        format!("profile {base}")
    } else {
        format!("profile {name}, extends {base}")
    }
}

fn list(word: &str, paths: &[PathBuf]) -> impl Iterator<Item = String> {
    paths.iter().map(move |path| format!("{word} {}", path.display()))
}
