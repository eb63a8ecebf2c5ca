//! The log of events: what a start writes in it, and what it does when it cannot.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use sandproof_backends::confine::events::{Event, Line, Violation};

use crate::check::{Outcome, Test, ensure, test};
use crate::files::wait_for_line;
use crate::world::World;

pub(crate) fn all() -> Vec<Test> {
    vec![
        test("grok_8_4_what_is_applied_is_noted", grok_8_4_what_is_applied_is_noted),
        test("grok_8_6_every_refusal_is_noted", grok_8_6_every_refusal_is_noted),
        test("grok_8_5_denied_sockets_are_noted", grok_8_5_denied_sockets_are_noted),
        test("grok_8_5_a_flood_of_denials_is_cut_short", grok_8_5_a_flood_of_denials_is_cut_short),
        test("denied_without_a_supervisor_too", denied_without_a_supervisor_too),
        test("grok_8_2_bypasses_are_noted", grok_8_2_bypasses_are_noted),
        test("off_makes_no_home", off_makes_no_home),
        test("grok_7_19_an_unwritable_log_is_a_refusal", grok_7_19_an_unwritable_log_is_a_refusal),
        test(
            "grok_6_8_the_log_is_closed_to_the_command",
            grok_6_8_the_log_is_closed_to_the_command,
        ),
        test("grok_8_4_bwrap_starts_are_noted_too", grok_8_4_bwrap_starts_are_noted_too),
        test(
            "grok_8_5_sources_of_denials_are_explained",
            grok_8_5_sources_of_denials_are_explained,
        ),
        test("grok_8_1_twenty_starts_lose_no_line", grok_8_1_twenty_starts_lose_no_line),
    ]
}

/// What is in the log; every line must be one of ours.
pub(crate) fn noted(world: &World) -> Result<Vec<Line>, String> {
    let text = world.read("home/.grok/sandbox-events.jsonl");
    text.lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("{line}: {error}")))
        .collect()
}

fn events(world: &World) -> Result<Vec<Event>, String> {
    Ok(noted(world)?.into_iter().map(|line| line.event).collect())
}

/// The denials among them.
fn violations(world: &World) -> Result<Vec<Violation>, String> {
    let mut violations = Vec::new();
    for event in events(world)? {
        if let Event::NetViolation(violation) | Event::FsViolation(violation) = event {
            violations.push(violation);
        }
    }
    Ok(violations)
}

fn grok_8_4_what_is_applied_is_noted(world: &World) -> Outcome {
    world.allowed(&["--sandbox", "strict", "--deny", "secret", "--deny", "**/*.pem"], "true")?;
    let lines = noted(world)?;
    let [Line { profile, event: Event::ProfileApplied(applied), .. }] = &lines[..] else {
        return Err(format!("{lines:?}"));
    };
    ensure(profile == "strict", profile)?;
    ensure(applied.enforced && applied.restrict_network, "not enforced")?;
    ensure(applied.workspace == world.text("work"), &applied.workspace)?;
    let denied = [world.text("work/secret"), world.text("work/**/*.pem")];
    ensure(applied.deny_paths == denied, &format!("{:?}", applied.deny_paths))?;
    let writes = &applied.read_write_paths;
    ensure(writes.contains(&world.text("work")), &format!("{writes:?}"))?;
    let mode = world.bare("stat -c %a ~/.grok/sandbox-events.jsonl")?.out;
    ensure(mode.trim() == "600", &mode)
}

fn grok_8_6_every_refusal_is_noted(world: &World) -> Outcome {
    world.folder("home/.grok")?;
    world.write("work/deep/file", "x")?;
    // Of the policy, of a mechanism, of a hook, and in the child itself.
    world.refused(&["--deny", "a{b}*"], "glob")?;
    world.refused(&["--without", "landlock"], "landlock")?;
    world.write("home/.grok/hooks-paths", "/no/such/hook")?;
    world.refused(&[], "/no/such/hook")?;
    world.write("home/.grok/hooks-paths", "")?;
    world.refused(&["--deny", "."], "current folder")?;
    let events = events(world)?;
    ensure(events.len() == 4, &format!("{events:?}"))?;
    for (event, why) in events.iter().zip(["glob", "landlock", "/no/such/hook", "current folder"]) {
        let Event::ApplyFailed { error, enforced: false, .. } = event else {
            return Err(format!("{event:?}"));
        };
        ensure(error.contains(why), error)?;
    }
    Ok(())
}

fn grok_8_5_denied_sockets_are_noted(world: &World) -> Outcome {
    let options = ["--network", "blocked"];
    world.denied(&options, "$EXE act socket 2")?;
    world.denied(&options, "$EXE act socket 16 15")?;
    // What is allowed is not noted.
    world.allowed(&options, "$EXE act socket 1 && $EXE act socket 16")?;
    let violations = violations(world)?;
    let targets: Vec<_> =
        violations.iter().map(|v| (&*v.operation, &*v.target, &*v.command, v.pid)).collect();
    let [("socket", "inet", "exe", Some(_)), ("socket", "netlink 15", "exe", Some(_))] =
        targets[..]
    else {
        return Err(format!("{targets:?}"));
    };
    Ok(())
}

fn grok_8_5_a_flood_of_denials_is_cut_short(world: &World) -> Outcome {
    let flood = "i=0; while [ $i -lt 3 ]; do $EXE act sockets 400; i=$((i+1)); done";
    world.allowed(&["--network", "blocked"], flood)?;
    let violations = violations(world)?;
    ensure(violations.len() == 1000, &violations.len().to_string())?;
    let last = violations.last().map(|v| v.target.clone()).unwrap_or_default();
    ensure(last == "inet, and more that are not noted", &last)
}

fn denied_without_a_supervisor_too(world: &World) -> Outcome {
    // What runs in the background outlives a killed supervisor where no stub was held; nobody
    // answers it any more.
    let script = "(setsid sh -c 'while [ ! -e go ]; do :; done; $EXE act socket 2; echo $? > how; mv how said' \
                  >/dev/null 2>&1 &) ; echo ready; while :; do :; done";
    let mut child = world
        .sandbox(&["--sandbox", "off", "--network", "blocked"])
        .args(["--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())?;
    wait_for_line(&mut child)?;
    child.kill().and_then(|()| child.wait()).map_err(|e| e.to_string())?;
    world.write("work/go", "")?;
    world.bare("i=0; while [ ! -e said ] && [ $i -lt 3000000 ]; do i=$((i+1)); done")?;
    let said = world.read("work/said");
    ensure(said == "1\n", &said)
}

fn grok_8_2_bypasses_are_noted(world: &World) -> Outcome {
    world.folder("home/.grok")?;
    world.allowed(&["--without", "mounts", "--fail-open"], "true")?;
    world.allowed(&["--sandbox", "off"], "true")?;
    world.refused(
        &["--network", "blocked", "--without", "network-namespace", "--strict-enforcement"],
        "network-namespace",
    )?;
    let events = events(world)?;
    let words: Vec<&str> = events
        .iter()
        .map(|event| match event {
            Event::BypassGranted { operation, .. } => operation,
            Event::BypassDenied { .. } => "denied",
            Event::ProfileApplied(applied) if !applied.enforced => "in part",
            Event::ProfileApplied(_) => "applied",
            Event::ApplyFailed { .. } => "failed",
            Event::FsViolation(_) | Event::NetViolation(_) => "violation",
        })
        .collect();
    let wanted = ["--fail-open", "in part", "--sandbox off", "denied", "failed"];
    ensure(words == wanted, &format!("{events:?}"))
}

fn off_makes_no_home(world: &World) -> Outcome {
    world.allowed(&["--sandbox", "off"], "true")?;
    world.refused(&["--sandbox", "off", "--deny", "a{b}*"], "glob")?;
    ensure(!world.at("home/.grok").exists(), "a home was made")?;
    world.allowed(&["--sandbox", "devbox"], "true")?;
    ensure(noted(world)?.len() == 1, "devbox is noted")
}

fn grok_7_19_an_unwritable_log_is_a_refusal(world: &World) -> Outcome {
    world.folder("home/.grok")?;
    let log = world.at("home/.grok/sandbox-events.jsonl");
    symlink(world.at("outside/far"), &log).map_err(|e| e.to_string())?;
    world.refused(&[], "the log of events cannot be written")?;
    ensure(world.read("outside/far") == "FAR", "the log was written through a symlink")?;
    let ran = world.confined(&["--fail-open"], "echo RAN")?;
    ensure(ran.out == "RAN\n", &format!("{ran:?}"))?;
    ensure(ran.err.contains("not enforced: the log of events"), &ran.err)?;
    fs::remove_file(&log).map_err(|e| e.to_string())?;
    world.allowed(&[], "true")
}

fn grok_6_8_the_log_is_closed_to_the_command(world: &World) -> Outcome {
    world.allowed(&[], "true")?;
    for profile in ["workspace", "read-only", "strict"] {
        let options = ["--sandbox", profile];
        for name in ["sandbox-events.jsonl", "sandbox-events.jsonl.1"] {
            world.bare(&format!("touch ~/.grok/{name}"))?;
            world.denied(&options, &format!("cat ~/.grok/{name}"))?;
            world.denied(&options, &format!("printf '' >> ~/.grok/{name}"))?;
            let moved = format!("cd ~/.grok && $EXE act rename {name} n && mv n {name}");
            world.denied(&options, &moved)?;
        }
    }
    Ok(())
}

fn grok_8_1_twenty_starts_lose_no_line(world: &World) -> Outcome {
    let start = || {
        let mut command = world.sandbox(&["--network", "blocked"]);
        command.args(["--", "sh", "-c", "$EXE act socket 2"]).stderr(Stdio::piped()).spawn()
    };
    let started: Vec<_> = (0..20).map(|_| start()).collect();
    for child in started {
        let ended = child.and_then(std::process::Child::wait_with_output);
        let ended = ended.map_err(|e| e.to_string())?;
        let said = String::from_utf8_lossy(&ended.stderr);
        ensure(ended.status.code() == Some(1), &format!("{:?}: {said}", ended.status))?;
    }
    let events = events(world)?;
    let count = |wanted: fn(&Event) -> bool| events.iter().filter(|event| wanted(event)).count();
    let applied = count(|event| matches!(event, Event::ProfileApplied(_)));
    let denied = count(|event| matches!(event, Event::NetViolation(_)));
    ensure((applied, denied, events.len()) == (20, 20, 40), &format!("{applied} {denied}"))
}

fn grok_8_5_sources_of_denials_are_explained(world: &World) -> Outcome {
    let told = |options: &[&str]| {
        world.confined(&[options, &["--explain"]].concat(), "true").map(|ran| ran.out)
    };
    let strict = told(&["--sandbox", "strict"])?;
    ensure(strict.contains("noted: denied sockets (seccomp notification)"), &strict)?;
    ensure(strict.contains("denied file") || strict.contains("Landlock denies"), &strict)?;
    let open = told(&["--sandbox", "workspace"])?;
    ensure(!open.contains("noted: denied sockets"), &open)
}

fn grok_8_4_bwrap_starts_are_noted_too(world: &World) -> Outcome {
    if !std::path::Path::new("/usr/bin/bwrap").exists() {
        return world.refused(&["--without", "own-mounts"], "install bubblewrap");
    }
    let options = ["--without", "own-mounts", "--network", "blocked"];
    world.denied(&options, "$EXE act socket 2")?;
    let events = events(world)?;
    let [Event::ProfileApplied(_), Event::NetViolation(violation)] = &events[..] else {
        return Err(format!("{events:?}"));
    };
    ensure(violation.target == "inet", &violation.target)
}
