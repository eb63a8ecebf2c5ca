//! `--explain`: which layer enforces each promise of a plan on this host, or that none does and what
//! mends it.

use std::io::{self, Write};
use std::path::PathBuf;

use landlock::ABI;
use nix::sys::wait::{WaitStatus, waitpid};
use sandproof_scenarios::Network;

use super::ability::Ability;
use super::audit::Audit;
use super::covering;
use super::mounts::Calls;
use super::namespace::{self, Namespaces};
use super::{bwrap, mounts, sys};
use crate::confine::cover::{self, Cover, Kind};
use crate::confine::plan::Plan;
use crate::confine::refusal::Refusal;
use crate::confine::surroundings::Surroundings;
use crate::confine::warning::Unfound;

/// Says it on standard output.
///
/// # Errors
/// What is to be covered cannot be found out, or standard output cannot be written.
pub(super) fn print(
    mut plan: Plan,
    ability: &Ability,
    around: &Surroundings,
) -> Result<i32, Refusal> {
    plan.foresee(around)?;
    let (wanted, unfound) = covering::wanted(&plan, around)?;
    let covers = if ability.mounts { cover::arrange(&wanted) } else { Vec::new() };
    let explanation =
        Explanation { plan: &plan, ability, covers, unfound, mounts: host_mounts(ability) };
    io::stdout().write_all(explanation.text().as_bytes()).map_err(|error| {
        Refusal::new(format!("the explanation cannot be written ({error})"), "open its output")
    })?;
    Ok(0)
}

/// Who can lay covers here, found by doing it.
fn host_mounts(ability: &Ability) -> Option<&'static str> {
    if !ability.mounts {
        return None;
    }
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
                .and_then(|()| mounts::lay(&[], namespaces.mount, Calls::of_kernel()));
            std::process::exit(i32::from(done.is_err()))
        }
        Ok(Some(child)) => matches!(waitpid(child, None), Ok(WaitStatus::Exited(_, 0))),
        Err(_) => false,
    }
}

/// All that is known before a start.
struct Explanation<'a> {
    plan: &'a Plan,
    ability: &'a Ability,
    covers: Vec<Cover>,
    unfound: Unfound,
    mounts: Option<&'static str>,
}

/// What mends a promise that nothing enforces.
const NO_MOUNTS: &str = "allow user namespaces, or install bubblewrap";
const NO_LANDLOCK: &str = "use a kernel with Landlock";
const NO_SCOPES: &str = "use Linux 6.12 or later";
const NO_FILTER: &str = "start without --without seccomp";

impl Explanation<'_> {
    fn text(&self) -> String {
        let mut lines = vec![profile(self.plan)];
        lines.extend(self.policy());
        lines.extend(self.files());
        lines.extend(self.paths());
        lines.extend(self.process());
        lines.extend(self.noted());
        let lost = &self.ability.lost;
        lines.extend(lost.iter().map(|(promise, why)| format!("lost: {promise}: {why}")));
        lines.push(String::new());
        lines.join("\n")
    }

    /// What is granted, denied and protected.
    fn policy(&self) -> Vec<String> {
        let plan = self.plan;
        let mut lines: Vec<String> = list("reads", &plan.grants.read).collect();
        lines.extend(list("writes", &plan.grants.write));
        lines.extend(list("denies", &plan.mask));
        lines.extend(plan.globs.iter().map(|glob| format!("denies by glob {glob}")));
        if !plan.globs.is_empty() {
            let count = plan.matched.len();
            lines.push(format!("globs match {count} paths now; what is made later is not covered"));
        }
        lines.extend(list("protects", &plan.frozen()));
        lines.extend(list("protects the link", &plan.ways.iter().cloned().collect::<Vec<_>>()));
        lines
    }

    fn landlock(&self) -> Option<String> {
        self.ability.landlock.map(|abi| format!("Landlock ABI {}", abi as i32))
    }

    fn filter(&self) -> Option<String> {
        self.ability.seccomp.then(|| "seccomp".to_owned())
    }

    /// Promises about everything outside the grants.
    fn files(&self) -> Vec<String> {
        if !self.plan.grants.limited {
            return Vec::new();
        }
        let mounts = self.mounts.map(str::to_owned);
        let scopes = self.landlock().filter(|_| self.ability.landlock >= Some(ABI::V6));
        let renames = self.landlock().filter(|_| self.ability.landlock >= Some(ABI::V2));
        vec![
            promise("what is read", [self.landlock(), None], NO_LANDLOCK),
            promise("what is written", [self.landlock(), mounts.clone()], NO_LANDLOCK),
            promise("modes, owners and times outside", [mounts.clone(), None], NO_MOUNTS),
            promise(
                "renames between folders",
                [renames, mounts.clone()],
                "use Linux 5.19 or later",
            ),
            promise("memory and files of other processes", [self.landlock(), None], NO_LANDLOCK),
            promise("signals to other processes", [scopes.clone(), None], NO_SCOPES),
            promise("abstract sockets", [scopes, self.empty_network()], NO_SCOPES),
        ]
    }

    /// Promises about denied and protected paths.
    fn paths(&self) -> Vec<String> {
        if !self.plan.covers() {
            return Vec::new();
        }
        let mounts = || [self.mounts.map(str::to_owned), None];
        let count = |kind| self.covers.iter().filter(|cover| cover.kind == kind).count();
        let mut lines = vec![
            promise("denied and protected paths", mounts(), NO_MOUNTS),
            format!(
                "covers: {} masks, {} frozen, {} pins; each is looked at before the command starts",
                count(Kind::Mask),
                count(Kind::Freeze),
                count(Kind::Pin)
            ),
        ];
        if self.plan.pins {
            lines.push(promise("that their folders stay where they are", mounts(), NO_MOUNTS));
            lines.push(
                "price of pins: rename and link between a pinned folder and another answer EXDEV; \
                 mv copies, git mv and ln fail; --no-deny-pins gives the pins of denied paths up"
                    .to_owned(),
            );
        } else {
            lines.push(
                "that the folders of denied paths stay where they are: NOT ENFORCED; start \
                 without --no-deny-pins (rename and link then answer EXDEV at these folders)"
                    .to_owned(),
            );
        }
        lines.extend(self.unfound.iter().map(|(path, links)| {
            let path = path.display().to_string();
            format!("stays readable under {links} other names: {}", path.escape_debug())
        }));
        lines
    }

    fn empty_network(&self) -> Option<String> {
        let blocked = self.plan.network == Network::Blocked && self.ability.network_namespace;
        blocked.then(|| "network namespace (if allowed)".to_owned())
    }

    /// Sockets with a name in the file system: no filter sees where a call goes.
    fn named_sockets(&self) -> String {
        let landlock = self.landlock().filter(|_| self.ability.landlock >= Some(ABI::V9));
        match (landlock, self.mounts) {
            (Some(landlock), _) => format!("sockets of other folders: {landlock}"),
            (None, Some(mounts)) => {
                format!("sockets of well-known daemons: {mounts}; others can be reached")
            }
            (None, None) => promise("sockets of daemons", [], NO_MOUNTS),
        }
    }

    /// Which denials are noted, and which nobody is told of.
    fn noted(&self) -> Vec<String> {
        if self.ability.free {
            return Vec::new();
        }
        let mut lines = Vec::new();
        if self.plan.network == Network::Blocked && self.ability.seccomp {
            lines.push("noted: denied sockets (seccomp notification)".to_owned());
        }
        if self.plan.grants.limited {
            let told = self.ability.landlock >= Some(ABI::V7) && Audit::listen().is_some();
            lines.push(if told {
                "noted: what Landlock denies (audit); not what mounts refuse".to_owned()
            } else {
                "noted: no denied file; the kernel tells of them only root, from Landlock ABI 7 \
                 on, while audit is on"
                    .to_owned()
            });
        }
        lines
    }

    /// Promises about the process itself.
    fn process(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.plan.network == Network::Blocked {
            let ports = self.landlock().filter(|_| self.ability.landlock >= Some(ABI::V4));
            let ports = ports.map(|landlock| format!("{landlock} (ports)"));
            let by = [self.filter(), self.empty_network(), ports];
            lines.push(promise("the blocked network", by, NO_FILTER));
            lines.push(self.named_sockets());
        }
        if self.ability.free {
            return lines;
        }
        lines.push(promise("that the sandbox cannot be undone", [self.filter(), None], NO_FILTER));
        let own = self.covers.iter().any(|cover| cover.kind == Kind::Fresh);
        if own {
            lines.push("shared memory: an own, empty /dev/shm".to_owned());
        } else if self.plan.grants.limited {
            lines.push("shared memory: that of the host, as granted above".to_owned());
        }
        lines.push("core dumps: off (limit)".to_owned());
        lines
    }
}

/// One promise with the layers that enforce it.
fn promise<const N: usize>(what: &str, by: [Option<String>; N], mend: &str) -> String {
    let by: Vec<String> = by.into_iter().flatten().collect();
    match by.is_empty() {
        true => format!("{what}: NOT ENFORCED; {mend}"),
        false => format!("{what}: {}", by.join(", ")),
    }
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
    paths.iter().map(move |path| format!("{word} {}", path.display().to_string().escape_debug()))
}
