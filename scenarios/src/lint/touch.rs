//! A clause about a path that its route never touches proves nothing: a warning.

use super::Finding;
use super::grants::covers;
use super::world::has_links;
use crate::rules::place;
use crate::step::HostAct;
use crate::{Fixture, PathArg, RoomPath, Scenario, Step};

pub(super) fn check(scenario: &Scenario) -> Vec<Finding> {
    let mut findings = Vec::new();
    if has_links(scenario) {
        return findings;
    }
    for (name, route) in &scenario.routes {
        if route.effects.start.is_some() || route.steps.iter().any(is_opaque) {
            continue;
        }
        let touched: Vec<&RoomPath> = route.steps.iter().flat_map(paths).collect();
        for path in route.effects.paths.keys() {
            if !touched.iter().any(|other| covers(other, path) || covers(path, other)) {
                let message = format!("route `{name}` touches nothing at `{path}` of its `then`");
                findings.push(Finding::warning(&place!["routes", name.as_str()], name, message));
            }
        }
    }
    findings
}

/// The folders and files that `hooks-path` registers.
pub(super) fn hook_paths(scenario: &Scenario) -> Vec<&RoomPath> {
    let mut hooks = Vec::new();
    for fixture in &scenario.given {
        if let Fixture::HooksPath(path) = fixture {
            hooks.push(path);
        }
    }
    hooks
}

/// True for a step that may touch anything, whatever it names.
fn is_opaque(step: &Step) -> bool {
    let anything = matches!(
        step,
        Step::Exec(_)
            | Step::Shell(_)
            | Step::Syscall(_)
            | Step::Ioctl(_)
            | Step::Mount(_)
            | Step::Symlink(_)
            | Step::Link(_)
            | Step::Tool(_)
            | Step::Host(HostAct::Symlink(_))
    );
    let inner = if let Step::Again(steps) = step { steps.as_slice() } else { &[] };
    anything
        || inner.iter().any(is_opaque)
        || args(step).iter().any(|path| matches!(path, PathArg::System(_)))
}

/// Every room path that a step names.
fn paths(step: &Step) -> Vec<&RoomPath> {
    if let Step::Again(steps) = step {
        return steps.iter().flat_map(paths).collect();
    }
    if let Step::Host(act) = step {
        return match act {
            HostAct::Write(write) => vec![&write.path],
            HostAct::Rename(pair) => vec![&pair.from, &pair.to],
            HostAct::Unlink(path) | HostAct::Mkdir(path) => vec![path],
            HostAct::Symlink(link) => vec![&link.path, &link.to],
        };
    }
    if let Step::Bind(bind) = step {
        return bind.path.iter().collect();
    }
    args(step).into_iter().filter_map(PathArg::in_room).collect()
}

/// Every path argument of an attempt.
fn args(step: &Step) -> Vec<&PathArg> {
    match step {
        Step::Read(path)
        | Step::List(path)
        | Step::Stat(path)
        | Step::Unlink(path)
        | Step::Rmdir(path)
        | Step::Mkdir(path)
        | Step::Create(path)
        | Step::Readlink(path)
        | Step::RingRead(path)
        | Step::HandleRead(path) => vec![path],
        Step::TreeRead(step) => vec![&step.tree],
        Step::Write(written) | Step::Append(written) => vec![&written.path],
        Step::Truncate(cut) => vec![&cut.path],
        Step::Open(open) => vec![&open.path],
        Step::Rename(pair) => vec![&pair.from, &pair.to],
        Step::Link(pair) | Step::Symlink(pair) => vec![&pair.from, &pair.to],
        Step::Chmod(chmod) => vec![&chmod.path],
        Step::Chown(chown) => vec![&chown.path],
        Step::Utime(utime) => vec![&utime.path],
        Step::Xattr(xattr) => vec![&xattr.path],
        Step::Mknod(node) => vec![&node.path],
        Step::Mount(mount) => vec![&mount.target],
        Step::Umount(umount) => vec![&umount.target],
        Step::Exec(_)
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
        | Step::ReadAt(_)
        | Step::Syscall(_)
        | Step::Ioctl(_)
        | Step::Unshare(_)
        | Step::Host(_)
        | Step::Again(_)
        | Step::Tool(_) => Vec::new(),
    }
}
