//! Whose the command is, seen from outside: a sandbox may show its command any uid.

use std::collections::BTreeMap;
use std::fs;

use sandproof_probes::wire::Hello;

/// One process.
struct Process {
    parent: u32,
    uid: u32,
}

/// The uid of a command that says it has another one than the run, unless from outside it has the
/// run's. Denials of another user are those of ordinary file permissions.
#[must_use]
pub fn other_user(hello: &Hello, supervisor: u32) -> Option<u32> {
    let ours = nix::unistd::geteuid().as_raw();
    if hello.uid == ours {
        return None;
    }
    let processes = processes();
    let below = |pid: &u32| {
        let mut pid = *pid;
        while let Some(process) = processes.get(&pid) {
            if process.parent == supervisor {
                return true;
            }
            pid = process.parent;
        }
        false
    };
    // The probe has no children yet; everything above it only starts it.
    let childless = |pid: &u32| !processes.values().any(|process| process.parent == *pid);
    let mut uids = processes
        .iter()
        .filter(|(pid, _)| childless(pid) && below(pid))
        .map(|(_, process)| process.uid)
        .peekable();
    // What cannot be seen from outside has no claim to be believed.
    let seen = uids.peek().is_some();
    if seen && uids.all(|uid| uid == ours) { None } else { Some(hello.uid) }
}

fn processes() -> BTreeMap<u32, Process> {
    let list = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = list.filter_map(|item| item.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, process(pid)?))).collect()
}

fn process(pid: u32) -> Option<Process> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u32>().ok()
    };
    Some(Process { parent: field("PPid:")?, uid: field("Uid:")? })
}
