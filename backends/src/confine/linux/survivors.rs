//! Ends what a killed start left behind: every process that sees a mount on one of its stubs.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::mounts::mount_points;

/// How often it is looked again. A process can fork faster than we look, but not for ever.
const ROUNDS: usize = 200;

/// Ends every process in whose mounts `stub` is covered; true once there is none.
pub(super) fn end(stub: &Path) -> bool {
    for _ in 0..ROUNDS {
        let found = find(stub);
        if found.is_empty() {
            return true;
        }
        for process in found {
            // It may have ended just now.
            let _ = pidfd_send_signal(&process, Signal::KILL);
        }
    }
    false
}

/// Handles on the processes: a number could be another's by the time it is signalled.
fn find(stub: &Path) -> Vec<OwnedFd> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let covered = |pid: i32| {
        let process = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
        // What has ended and is not waited for yet has no mounts any more.
        let mounts = fs::read_to_string(format!("/proc/{pid}/mountinfo")).ok()?;
        mount_points(&mounts).any(|point| point == stub).then_some(process)
    };
    pids.filter_map(covered).collect()
}
