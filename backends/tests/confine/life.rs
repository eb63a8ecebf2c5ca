//! Start and end: statuses, signals, descriptors, environment, descendants.

use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::check::{Outcome, Test, ensure, test};
use crate::files::wait_for_line;
use crate::world::{World, run};

pub(crate) fn all() -> Vec<Test> {
    vec![
        test("statuses_are_passed_on", statuses_are_passed_on),
        test("signals_are_passed_on", signals_are_passed_on),
        test("descendants_end_with_the_command", descendants_end_with_the_command),
        test("the_command_ends_with_the_supervisor", the_command_ends_with_the_supervisor),
        test("descriptors_are_closed_unless_kept", descriptors_are_closed_unless_kept),
        test("the_command_has_its_own_session", the_command_has_its_own_session),
        test("the_environment_is_filtered", the_environment_is_filtered),
        test("a_temp_folder_that_holds_home_is_refused", a_temp_folder_that_holds_home_is_refused),
        test("the_folder_is_kept", the_folder_is_kept),
        test("the_host_is_left_as_it_was", the_host_is_left_as_it_was),
    ]
}

fn statuses_are_passed_on(world: &World) -> Outcome {
    let status = |script| world.confined(&[], script).map(|ran| ran.status);
    ensure(status("exit 7")? == 7, "exit 7")?;
    ensure(status("kill -9 $$")? == 137, "signal 9")?;
    let ran = run(world.sandbox(&[]).args(["--", "no-such-command"]))?;
    ensure(ran.status == 127 && ran.err.contains("no-such-command"), &format!("{ran:?}"))?;
    let ran = run(world.sandbox(&[]).args(["--", &world.text("work/plain")]))?;
    ensure(ran.status == 126, &format!("{ran:?}"))?;
    let ran = run(&mut world.sandbox(&[]))?;
    ensure(ran.status == 125, &format!("no command: {ran:?}"))
}

fn signals_are_passed_on(world: &World) -> Outcome {
    let script = "trap 'exit 9' TERM; echo ready; while :; do sleep 60 & wait $!; done";
    let mut child = world
        .sandbox(&[])
        .args(["--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())?;
    wait_for_line(&mut child)?;
    kill(pid(&child), Signal::SIGTERM).map_err(|e| e.to_string())?;
    let status = child.wait().map_err(|e| e.to_string())?;
    ensure(status.code() == Some(9), &format!("{status:?}"))
}

fn pid(child: &std::process::Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}

/// Whether a process is gone within a second, or waits for init to notice.
fn gone(pid: i32) -> bool {
    let end = Instant::now() + Duration::from_secs(1);
    while Instant::now() < end {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if stat.is_empty() || stat.contains(") Z ") {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

fn descendants_end_with_the_command(world: &World) -> Outcome {
    // Its own session, its own group, its parent gone.
    let ran = world.confined(&[], "(setsid sleep 300 >/dev/null 2>&1 & echo $!)")?;
    let left: i32 = ran.out.trim().parse().map_err(|_| format!("{ran:?}"))?;
    ensure(kill(Pid::from_raw(left), None).is_err(), "a process was left")?;
    // The control: without the sandbox it stays.
    let ran = world.bare("(setsid sleep 300 >/dev/null 2>&1 & echo $!)")?;
    let left: i32 = ran.out.trim().parse().map_err(|_| format!("{ran:?}"))?;
    kill(Pid::from_raw(left), Signal::SIGKILL).map_err(|e| format!("the control is gone: {e}"))
}

fn the_command_ends_with_the_supervisor(world: &World) -> Outcome {
    let mut child = world
        .sandbox(&[])
        .args(["--", "sh", "-c", "echo $$; exec sleep 300"])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let mut line = String::new();
    let out = child.stdout.take().ok_or("no output")?;
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line)
        .map_err(|e| e.to_string())?;
    let inner: i32 = line.trim().parse().map_err(|_| format!("not a pid: {line}"))?;
    ensure(kill(Pid::from_raw(inner), None).is_ok(), "the command did not run")?;
    kill(pid(&child), Signal::SIGKILL).map_err(|e| e.to_string())?;
    let status = child.wait().map_err(|e| e.to_string())?;
    ensure(status.signal() == Some(9), &format!("{status:?}"))?;
    ensure(gone(inner), "the command outlived its supervisor")
}

fn descriptors_are_closed_unless_kept(world: &World) -> Outcome {
    let file = std::fs::File::open(world.at("work/secret")).map_err(|e| e.to_string())?;
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).map_err(|e| e.to_string())?;
    let fd = file.as_raw_fd();
    let script = format!("cat <&{fd}");
    world.denied(&["--deny", "secret"], &script)?;
    rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(0)).map_err(|e| e.to_string())?;
    let kept = world.confined(&["--keep-fd", &fd.to_string()], &script)?;
    ensure(kept.out == "SECRET", &format!("{kept:?}"))
}

fn the_command_has_its_own_session(world: &World) -> Outcome {
    let own = world.bare("$EXE act sid")?.out;
    ensure(world.confined(&[], "$EXE act sid")?.out != own, "the session is shared")?;
    ensure(world.confined(&["--tty"], "$EXE act sid")?.out == own, "--tty left the session")
}

fn the_environment_is_filtered(world: &World) -> Outcome {
    world.write("outside/env.json", r#"{"exclude": ["*TOKEN*"], "set": {"NEW": "new"}}"#)?;
    let show = |options: &[&str]| {
        run(world.sandbox(options).env("API_TOKEN", "SECRET").args(["--", "env"]))
            .map(|ran| ran.out)
    };
    let filtered = show(&["--env-policy", &world.text("outside/env.json")])?;
    ensure(!filtered.contains("SECRET") && filtered.contains("NEW=new"), &filtered)?;
    ensure(show(&[])?.contains("API_TOKEN=SECRET"), "the control lacks the variable")?;
    world.write("outside/env.json", r#"{"exclude": "X"}"#)?;
    world.refused(&["--env-policy", &world.text("outside/env.json")], "environment policy")?;
    world.refused(&["--env-policy", "/no/file"], "environment policy")
}

fn a_temp_folder_that_holds_home_is_refused(world: &World) -> Outcome {
    for temp in ["", "home", "work"] {
        let ran = run(world.sandbox(&[]).env("TMPDIR", world.at(temp)).args(["--", "true"]))?;
        ensure(ran.status == 125 && ran.err.contains("TMPDIR"), &format!("{ran:?}"))?;
    }
    let ran = run(world.sandbox(&[]).env("TMPDIR", "/tmp").args(["--", "true"]))?;
    ensure(ran.ok(), &format!("{ran:?}"))
}

fn the_folder_is_kept(world: &World) -> Outcome {
    world.folder("work/sub")?;
    let ran = run(world.sandbox(&[]).current_dir(world.at("work/sub")).args(["--", "pwd"]))?;
    ensure(ran.out.trim() == world.text("work/sub"), &format!("{ran:?}"))?;
    let ran = run(world
        .sandbox(&["--workspace", &world.text("work"), "--deny", "sub"])
        .current_dir(world.at("work/sub"))
        .args(["--", "pwd"]))?;
    ensure(ran.status == 125 && ran.err.contains("the current folder"), &format!("{ran:?}"))
}

fn the_host_is_left_as_it_was(world: &World) -> Outcome {
    let mounts = || std::fs::read_to_string("/proc/self/mountinfo").map_err(|e| e.to_string());
    let list =
        || world.bare("cd $W && find work home outside temp | sort | xargs stat -c '%n %a %u %Y'");
    world.allowed(&[], "true")?;
    let before = (mounts()?, list()?.out);
    world.allowed(
        &["--deny", "secret", "--deny", "late/one", "--protect", "plain", "--network", "blocked"],
        "cat plain",
    )?;
    ensure(before == (mounts()?, list()?.out), "the host was left changed")
}
