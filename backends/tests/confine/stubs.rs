//! Denied paths that do not exist: nothing of them is left.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::check::{Outcome, Test, ensure, tests};
use crate::files::wait_for_line;
use crate::life::gone;
use crate::world::World;

pub(crate) fn all() -> Vec<Test> {
    tests![
        grok_3_23_a_missing_path_leaves_no_stub,
        grok_3_23_a_killed_supervisor_leaves_no_stub,
        grok_3_23_no_process_outlives_a_stub,
        grok_3_23_twenty_starts_at_once_leave_no_stub,
        grok_3_23_a_locked_folder_is_no_obstacle,
    ]
}

const DENY: [&str; 4] = ["--deny", "late", "--deny", "made/up/late"];

/// Everything in the workspace, with types and times.
fn list(world: &World) -> Result<String, String> {
    let list = world.bare("find . | sort | xargs stat -c '%n %F %a %u %s %y'")?;
    if list.ok() { Ok(list.out) } else { Err(format!("{list:?}")) }
}

fn grok_3_23_a_missing_path_leaves_no_stub(world: &World) -> Outcome {
    // Settings of the workspace are protected, and missing as well.
    world.allowed(&[], "true")?;
    let before = list(world)?;
    for options in [&[][..], &["--sandbox", "off"]] {
        let options = [options, &DENY].concat();
        world.denied(&options, "echo x > late && rm late")?;
        world.denied(&options, "mkdir -p made/up && echo x > made/up/late && rm -r made")?;
    }
    let touched = world.bare("touch -d @1000000000 .")?;
    ensure(touched.ok(), &format!("{touched:?}"))?;
    let before_touched = list(world)?;
    world.allowed(&DENY, "cat plain")?;
    let refused = [&DENY[..], &["--deny", "plain/below"]].concat();
    world.refused(&refused, "cannot be held in place")?;
    let after = list(world)?;
    ensure(after == before_touched, &format!("left changed: {before} {after}"))
}

fn grok_3_23_a_killed_supervisor_leaves_no_stub(world: &World) -> Outcome {
    let before = world.bare("find . | sort")?.out;
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        let mut child = world
            .sandbox(&DENY)
            .args(["--", "sh", "-c", "test -f late && echo ready && exec sleep 300"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        wait_for_line(&mut child)?;
        ensure(world.at("work/made/up/late").is_file(), "no stub stands there")?;
        kill(Pid::from_raw(child.id().cast_signed()), signal).map_err(|e| e.to_string())?;
        child.wait().map_err(|e| e.to_string())?;
        let gone = || !world.at("work/late").exists() && !world.at("work/made").exists();
        let end = Instant::now() + Duration::from_secs(2);
        while !gone() && Instant::now() < end {
            std::thread::yield_now();
        }
        ensure(gone(), &format!("{signal}: a stub was left"))?;
    }
    let after = world.bare("find . | sort")?.out;
    ensure(before == after, &format!("left changed: {before} {after}"))
}

/// Without its stub a cover is gone; nobody may be left to see that. `off` scopes no signals, so
/// there the command itself can kill its supervisor.
fn grok_3_23_no_process_outlives_a_stub(world: &World) -> Outcome {
    let script = "echo $PPID > ../home/supervisor; setsid sh -c 'echo $$ > ../home/left; \
                  while ! echo planted > late; do :; done' 2>/dev/null & \
                  while ! test -s ../home/left; do :; done; kill -9 $PPID";
    let options = [&["--sandbox", "off"][..], &DENY].concat();
    let ran = world.confined(&options, script)?;
    ensure(ran.status == 128 + 9, &format!("the supervisor was not killed: {ran:?}"))?;
    let left = world.read("home/left");
    let pid: i32 = left.trim().parse().map_err(|_| format!("no pid: {left}"))?;
    let end = Instant::now() + Duration::from_secs(5);
    while world.at("work/late").exists() && Instant::now() < end {
        std::thread::yield_now();
    }
    ensure(!world.at("work/late").exists(), &format!("planted: {}", world.read("work/late")))?;
    ensure(gone(pid), "a process outlived the stub")
}

fn grok_3_23_twenty_starts_at_once_leave_no_stub(world: &World) -> Outcome {
    // The first makes the slots for all.
    world.allowed(&[], "true")?;
    let before = list(world)?;
    for round in 0..3 {
        let starts: Result<Vec<_>, _> = (0..20)
            .map(|_| {
                let mut sandbox = world.sandbox(&DENY);
                let script = "test -f late && ! echo x > made/up/late";
                sandbox.args(["--", "sh", "-c", script]);
                sandbox.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
            })
            .collect();
        for start in starts.map_err(|e| e.to_string())? {
            let ended = start.wait_with_output().map_err(|e| e.to_string())?;
            ensure(ended.status.success(), &format!("round {round}: {ended:?}"))?;
        }
        let after = list(world)?;
        ensure(before == after, &format!("round {round}, left changed: {before} {after}"))?;
    }
    Ok(())
}

/// `flock . confine ...` holds the folder as long as confine runs.
fn grok_3_23_a_locked_folder_is_no_obstacle(world: &World) -> Outcome {
    let folder = fs::File::open(world.at("work")).map_err(|e| e.to_string())?;
    rustix::fs::flock(&folder, rustix::fs::FlockOperation::LockExclusive)
        .map_err(|e| e.to_string())?;
    world.denied(&DENY, "echo x > late && rm late")?;
    ensure(!world.at("work/late").exists(), "a stub was left")
}
