//! What must succeed inside must be granted: `still-works`, and the routes of `works`.

use super::Finding;
use super::grants::{Access, covers, of_policy};
use super::world::{configured, through_link};
use crate::rules::place;
use crate::yaml::Seg;
use crate::{Expectation, PathArg, PolicySpec, RoomPath, Scenario, Step};
use sandproof_probes::OpenFlag;

pub(super) fn check(scenario: &Scenario) -> Vec<Finding> {
    let mut findings = Vec::new();
    if configured(scenario) {
        return findings;
    }
    let mut steps = |base: &[Seg], steps: &[Step]| {
        for (index, step) in steps.iter().enumerate() {
            let mut place = base.to_vec();
            place.push(index.into());
            findings.extend(check_step(scenario, &steps[..index], step, &place));
        }
    };
    steps(&place!["still-works"], &scenario.still_works);
    if scenario.expect == Expectation::Works {
        for (name, route) in &scenario.routes {
            steps(&place!["routes", name.as_str(), "steps"], &route.steps);
        }
    }
    findings
}

/// Refuses a step that some profile of the scenario does not let succeed.
fn check_step(scenario: &Scenario, earlier: &[Step], step: &Step, at: &[Seg]) -> Option<Finding> {
    let hooks = super::touch::hook_paths(scenario);
    for (path, need, keys) in needs(step) {
        if through_link(scenario, earlier, path) || hooks.iter().any(|hook| covers(hook, path)) {
            continue;
        }
        for profile in &scenario.policy.profiles {
            let granted = of_policy(&scenario.policy, *profile, path);
            let pinned = moves(step) && pins(&scenario.policy, path);
            if granted >= need && !pinned {
                continue;
            }
            let what = if need == Access::Read { "read" } else { "written" };
            let why = if pinned { "protect pins it" } else { reason(&scenario.policy, path) };
            let message = format!(
                "`{path}` must be {what} here, but under profile {} {why}; the promise contradicts \
                 the policy",
                profile.name()
            );
            let mut place = at.to_vec();
            place.extend(keys.iter().map(|key| Seg::from(*key)));
            return Some(Finding::refusal(&place, path, message));
        }
    }
    None
}

fn reason(policy: &PolicySpec, path: &RoomPath) -> &'static str {
    let text = path.to_string();
    if policy.deny.iter().any(|entry| crate::glob::covers(entry, &text)) {
        "deny covers it"
    } else if policy.protect.iter().any(|root| covers(root, path)) {
        "protect covers it"
    } else {
        "that room does not grant it"
    }
}

/// True for a step that would move or remove what it names.
fn moves(step: &Step) -> bool {
    matches!(step, Step::Rename(_) | Step::Unlink(_) | Step::Rmdir(_))
}

/// True when something protected lies at or below this path.
fn pins(policy: &PolicySpec, path: &RoomPath) -> bool {
    policy.protect.iter().any(|protected| covers(path, protected))
}

/// A room path, what is needed of it, and where it stands in the step.
type Needed<'a> = (&'a RoomPath, Access, &'static [&'static str]);

/// What a step needs for certain. Metadata calls (stat, readlink, chmod, utime ...) are left out:
/// not every mechanism ties them to reading and writing.
fn needs(step: &Step) -> Vec<Needed<'_>> {
    let (read, write) = (Access::Read, Access::Write);
    let found: Vec<Option<Needed<'_>>> = match step {
        Step::Read(path) => vec![of(path, read, &["read"])],
        Step::RingRead(path) => vec![of(path, read, &["ring-read"])],
        Step::List(path) => vec![of(path, read, &["list"])],
        Step::Open(open) => {
            vec![access(&open.flags).and_then(|a| of(&open.path, a, &["open", "path"]))]
        }
        Step::Unlink(path) => vec![of(path, write, &["unlink"])],
        Step::Rmdir(path) => vec![of(path, write, &["rmdir"])],
        Step::Mkdir(path) => vec![of(path, write, &["mkdir"])],
        Step::Create(path) => vec![of(path, write, &["create"])],
        Step::Write(written) => vec![of(&written.path, write, &["write", "path"])],
        Step::Append(written) => vec![of(&written.path, write, &["append", "path"])],
        Step::Truncate(cut) => vec![of(&cut.path, write, &["truncate", "path"])],
        Step::Rename(pair) => {
            vec![of(&pair.from, write, &["rename", "from"]), of(&pair.to, write, &["rename", "to"])]
        }
        Step::Link(pair) => vec![of(&pair.to, write, &["link", "to"])],
        Step::Symlink(pair) => vec![of(&pair.to, write, &["symlink", "to"])],
        Step::Mknod(node) => vec![of(&node.path, write, &["mknod", "path"])],
        Step::Stat(_)
        | Step::Readlink(_)
        | Step::Chmod(_)
        | Step::Chown(_)
        | Step::Utime(_)
        | Step::Xattr(_)
        | Step::Exec(_)
        | Step::Shell(_)
        | Step::Connect(_)
        | Step::ConnectMptcp(_)
        | Step::Send(_)
        | Step::Receive(_)
        | Step::Bind(_)
        | Step::Signal(_)
        | Step::Ptrace(_)
        | Step::ProcessRead(_)
        | Step::ProcessWrite(_)
        | Step::PidfdGetfd(_)
        | Step::RingConnect(_)
        | Step::HandleRead(_)
        | Step::TreeRead(_)
        | Step::ReadAt(_)
        | Step::Syscall(_)
        | Step::Ioctl(_)
        | Step::Unshare(_)
        | Step::Mount(_)
        | Step::Umount(_)
        | Step::Host(_)
        | Step::Again(_)
        | Step::Tool(_) => Vec::new(),
    };
    found.into_iter().flatten().collect()
}

/// System paths need nothing that a policy speaks of.
fn of<'a>(path: &'a PathArg, access: Access, keys: &'static [&'static str]) -> Option<Needed<'a>> {
    path.in_room().map(|path| (path, access, keys))
}

/// What opening with these flags needs; nothing for `O_PATH`.
fn access(flags: &[OpenFlag]) -> Option<Access> {
    let writes =
        [OpenFlag::W, OpenFlag::Rw, OpenFlag::Create, OpenFlag::Truncate, OpenFlag::Append];
    if flags.contains(&OpenFlag::Path) {
        None
    } else if flags.iter().any(|flag| writes.contains(flag)) {
        Some(Access::Write)
    } else {
        Some(Access::Read)
    }
}
