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
        test("what_is_handed_on_leads_around_no_cover", what_is_handed_on_leads_around_no_cover),
        test("what_is_handed_on_is_read_on", what_is_handed_on_is_read_on),
        test("limits_of_others_stay", limits_of_others_stay),
        test("the_command_has_its_own_session", the_command_has_its_own_session),
        test("the_environment_is_filtered", the_environment_is_filtered),
        test("a_temp_folder_that_holds_home_is_refused", a_temp_folder_that_holds_home_is_refused),
        test("a_root_replaced_by_a_link_is_refused", a_root_replaced_by_a_link_is_refused),
        test("the_folder_is_kept", the_folder_is_kept),
        test("the_host_is_left_as_it_was", the_host_is_left_as_it_was),
        test("every_status_and_signal_is_preserved", every_status_and_signal_is_preserved),
        test("other_signals_reach_the_command", other_signals_reach_the_command),
        test("keys_of_a_terminal_reach_the_command", keys_of_a_terminal_reach_the_command),
        test("terminals_can_be_made", terminals_can_be_made),
        test("core_dumps_are_off", core_dumps_are_off),
        test("shared_memory_works_and_is_private", shared_memory_works_and_is_private),
        test("shared_memory_of_the_host_can_be_granted", shared_memory_of_the_host_can_be_granted),
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
pub(crate) fn gone(pid: i32) -> bool {
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

/// The script does harm outside and none in the sandbox, with a path of the world as its input.
fn harmless_with(world: &World, options: &[&str], input: &str, script: &str) -> Outcome {
    let open = || std::fs::File::open(world.at(input)).map_err(|e| e.to_string());
    let confined = run(world.sandbox(options).args(["--", "sh", "-c", script]).stdin(open()?))?;
    ensure(!confined.ok(), &format!("not denied: {script}: {confined:?}"))?;
    let bare = run(world.command("sh").args(["-c", script]).stdin(open()?))?;
    ensure(bare.ok(), &format!("does not work without sandbox: {script}: {bare:?}"))
}

fn what_is_handed_on_leads_around_no_cover(world: &World) -> Outcome {
    let own = "/proc/self/fd/0";
    harmless_with(world, &["--deny", "secret"], "work", &format!("cat {own}/secret"))?;
    harmless_with(world, &["--deny", "secret"], "work/secret", &format!("cat {own}"))?;
    harmless_with(world, &["--protect", "plain"], "work/plain", &format!("printf x >> {own}"))?;
    harmless_with(world, &["--sandbox", "read-only"], "work/plain", &format!("chmod 640 {own}"))?;
    harmless_with(world, &[], "outside", &format!("chmod 750 {own}/far"))?;
    let off = ["--sandbox", "off", "--deny", "secret"];
    harmless_with(world, &off, "work", &format!("cat {own}/secret"))
}

fn what_is_handed_on_is_read_on(world: &World) -> Outcome {
    let protect = ["--protect", "plain", "--deny", "secret"];
    let mut file = std::fs::File::open(world.at("work/plain")).map_err(|e| e.to_string())?;
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(2)).map_err(|e| e.to_string())?;
    let ran = run(world.sandbox(&protect).args(["--", "cat"]).stdin(file))?;
    ensure(ran.out == "AIN", &format!("{ran:?}"))?;
    let mut nameless = tempfile::tempfile().map_err(|e| e.to_string())?;
    std::io::Write::write_all(&mut nameless, b"HERE").map_err(|e| e.to_string())?;
    std::io::Seek::rewind(&mut nameless).map_err(|e| e.to_string())?;
    let ran = run(world.sandbox(&protect).args(["--", "cat"]).stdin(nameless))?;
    ensure(ran.out == "HERE", &format!("{ran:?}"))?;
    let folder = std::fs::File::open(world.at("work")).map_err(|e| e.to_string())?;
    let script = "cat /proc/self/fd/0/plain";
    let ran = run(world.sandbox(&protect).args(["--", "sh", "-c", script]).stdin(folder))?;
    ensure(ran.out == "PLAIN", &format!("{ran:?}"))
}

/// By its limits a process is ended: one outside, or the supervisor.
fn limits_of_others_stay(world: &World) -> Outcome {
    world.with_victim(|pid| world.denied(&[], &format!("prlimit --pid {pid} --nofile=64:64")))?;
    world.allowed(&[], "ulimit -n 64 && prlimit --nofile=32 true")
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

/// The folder of a root can be written by one command, and is a root of the next.
fn a_root_replaced_by_a_link_is_refused(world: &World) -> Outcome {
    world.folder("work/tmp")?;
    let temp = world.text("work/tmp");
    let plant = "rmdir tmp && ln -s ../outside tmp";
    let started = |script: &str| {
        run(world.sandbox(&[]).env("TMPDIR", &temp).args(["--", "sh", "-c", script]))
    };
    let planted = started(plant)?;
    ensure(planted.ok(), &format!("{planted:?}"))?;
    let ran = started("echo x > $W/outside/new")?;
    ensure(ran.status == 125 && ran.err.contains("TMPDIR"), &format!("{ran:?}"))?;
    world.refused(&["--sandbox", "read-only", "--read-write", &temp], "leads to a write root")?;
    world.refused(&["--sandbox", "strict", "--read-only", &temp], "leads to a read root")?;
    world.allowed(&["--sandbox", "read-only", "--read-only", &temp], "true")?;
    // A link to where the command writes anyway changes nothing.
    world.bare("rm tmp && mkdir real && ln -s real tmp")?;
    world.allowed(&["--read-write", &temp], "echo x > tmp/new")
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
    let own = world.text("");
    // Those of other tests, which run at the same time, come and go.
    let ours = |line: &&str| line.contains(&*own) || !line.contains("/confine-test-");
    let mounts = || {
        let all = std::fs::read_to_string("/proc/self/mountinfo").map_err(|e| e.to_string())?;
        Ok::<_, String>(all.lines().filter(ours).map(str::to_owned).collect::<Vec<_>>())
    };
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

fn every_status_and_signal_is_preserved(world: &World) -> Outcome {
    for status in [0, 1, 2, 42, 124, 125, 126, 127, 128, 137, 255] {
        let ran = world.confined(&[], &format!("exit {status}"))?;
        ensure(ran.status == status, &format!("{status}: {ran:?}"))?;
    }
    for signal in [1, 2, 3, 6, 9, 11, 13, 15, 31, 34] {
        let ran = world.confined(&[], &format!("ulimit -c 0; kill -{signal} $$"))?;
        ensure(ran.status == 128 + signal, &format!("signal {signal}: {ran:?}"))?;
    }
    Ok(())
}

/// A command that waits for a signal: ready, and status 9 once it came.
fn waiting(world: &World, options: &[&str], signal: &str) -> Result<std::process::Child, String> {
    let script =
        format!("trap 'exit 9' {signal}; echo ready; while :; do sleep 60 & wait $!; done");
    let mut child = world
        .sandbox(options)
        .args(["--", "sh", "-c", &script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())?;
    wait_for_line(&mut child)?;
    Ok(child)
}

fn other_signals_reach_the_command(world: &World) -> Outcome {
    for (name, signal) in [
        ("INT", Signal::SIGINT),
        ("HUP", Signal::SIGHUP),
        ("QUIT", Signal::SIGQUIT),
        ("USR1", Signal::SIGUSR1),
        ("USR2", Signal::SIGUSR2),
        ("WINCH", Signal::SIGWINCH),
    ] {
        let mut child = waiting(world, &[], name)?;
        kill(pid(&child), signal).map_err(|e| e.to_string())?;
        let status = child.wait().map_err(|e| e.to_string())?;
        ensure(status.code() == Some(9), &format!("{name}: {status:?}"))?;
    }
    Ok(())
}

/// ^C, typed at a terminal in which confine runs: in the session of the terminal and out of it.
fn keys_of_a_terminal_reach_the_command(world: &World) -> Outcome {
    for options in ["", "--tty"] {
        let inner =
            "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 60 & wait $!; done";
        world.write("work/inner", inner)?;
        let outer = format!(
            "trap : INT; $EXE confine --sandbox workspace {options} --read-only $EXE -- sh inner; echo status $?"
        );
        let mut child = world
            .command("script")
            .args(["-qec", &outer, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("script: {e}"))?;
        wait_for_line(&mut child)?;
        let stdin = child.stdin.as_mut().ok_or("no input")?;
        std::io::Write::write_all(stdin, b"\x03").map_err(|e| e.to_string())?;
        let output = child.wait_with_output().map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure(
            text.contains("caught") && text.contains("status 9"),
            &format!("{options}: {text}"),
        )?;
    }
    Ok(())
}

fn terminals_can_be_made(world: &World) -> Outcome {
    for options in [&[][..], &["--sandbox", "strict"], &["--tty"]] {
        let ran = world.confined(options, "script -qec 'test -t 0 && tty' /dev/null")?;
        ensure(ran.ok() && ran.out.contains("/dev/pts/"), &format!("{options:?}: {ran:?}"))?;
        let resize = "script -qec 'stty rows 50 cols 120 && stty size' /dev/null";
        let ran = world.confined(options, resize)?;
        ensure(ran.out.contains("50 120"), &format!("{options:?}: {ran:?}"))?;
    }
    Ok(())
}

fn core_dumps_are_off(world: &World) -> Outcome {
    let limit = "test \"$(ulimit -S -c)\" != 0 || test \"$(ulimit -H -c)\" != 0";
    world.denied(&[], limit)?;
    let raise = "ulimit -c unlimited";
    world.denied(&[], raise)?;
    world.confined(&[], "ulimit -c unlimited; sh -c 'kill -SEGV $$'")?;
    ensure(world.bare("! ls | grep -q core")?.ok(), "a core was left")?;
    world.allowed(&["--sandbox", "off"], raise)
}

/// What POSIX shared memory is: a file there that can be mapped and locked.
const SHARE: &str = "echo x > /dev/shm/n-$$ && grep -q x /dev/shm/n-$$ && rm /dev/shm/n-$$";

fn shared_memory_works_and_is_private(world: &World) -> Outcome {
    let place = format!("/dev/shm/confine-{}", std::process::id());
    std::fs::write(&place, "SECRET").map_err(|e| e.to_string())?;
    let outcome = (|| {
        for profile in ["workspace", "strict", "read-only", "devbox", "workspace-write"] {
            let options = ["--sandbox", profile];
            world.allowed(&options, SHARE)?;
            world.denied(&options, &format!("cat {place}"))?;
            world.allowed(&options, "test -z \"$(ls -A /dev/shm)\" && test -k /dev/shm")?;
        }
        world.allowed(&["--deny", &place, "--deny", "/dev/shm/*"], SHARE)?;
        world.denied(&["--sandbox", "off", "--deny", &place], &format!("cat {place}"))?;
        world.denied(&["--deny", "/dev/shm"], SHARE)?;
        let kept = format!("echo x > {place}-new");
        world.allowed(&[], &kept)?;
        let left = std::path::Path::new(&format!("{place}-new")).exists();
        ensure(!left, "what was shared inside shows outside")
    })();
    std::fs::remove_file(&place).map_err(|e| e.to_string())?;
    outcome?;
    if world.bare("python3 -c 'import multiprocessing'")?.ok() {
        let script = "import multiprocessing as m, multiprocessing.shared_memory as s; \
                      m.Semaphore(1).acquire(); b = s.SharedMemory(create=True, size=64); \
                      b.buf[0] = 7; b.close(); b.unlink(); \
                      print(sum(m.get_context(\"fork\").Pool(2).map(abs, [-1, -2])))";
        let ran = world.confined(&[], &format!("python3 -c '{script}'"))?;
        ensure(ran.out.trim() == "3", &format!("{ran:?}"))?;
    }
    Ok(())
}

fn shared_memory_of_the_host_can_be_granted(world: &World) -> Outcome {
    let place = format!("/dev/shm/confine-granted-{}", std::process::id());
    std::fs::write(&place, "SHARED").map_err(|e| e.to_string())?;
    let read = format!("cat {place}");
    let outcome = world
        .allowed(&["--read-only", &place], &read)
        .and_then(|()| world.allowed(&["--read-write", "/dev/shm"], &read));
    std::fs::remove_file(&place).map_err(|e| e.to_string())?;
    outcome
}
