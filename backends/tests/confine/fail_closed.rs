//! The fail-closed table: whatever cannot be enforced is a refusal, and `--fail-open` is loud.

use crate::check::{Outcome, Test, ensure, test};
use crate::world::World;

pub(crate) fn all() -> Vec<Test> {
    vec![
        test("a_required_profile_is_not_undercut", a_required_profile_is_not_undercut),
        test("grok_7_1_no_mounts_no_start", grok_7_1_no_mounts_no_start),
        test("grok_7_2_devbox_is_no_exception", grok_7_2_devbox_is_no_exception),
        test("grok_7_3_no_namespaces_no_start", grok_7_3_no_namespaces_no_start),
        test("grok_7_4_a_bad_glob_is_a_refusal", grok_7_4_a_bad_glob_is_a_refusal),
        test("grok_7_5_no_stub_no_start", grok_7_5_no_stub_no_start),
        test("grok_7_7_an_unknown_profile_is_a_refusal", grok_7_7_an_unknown_profile_is_a_refusal),
        test("grok_7_8_no_landlock_no_start", grok_7_8_no_landlock_no_start),
        test("grok_7_12_no_filter_no_start", grok_7_12_no_filter_no_start),
        test("grok_7_15_no_write_root_no_start", grok_7_15_no_write_root_no_start),
        test("grok_7_18_a_broken_environment_policy", grok_7_18_a_broken_environment_policy),
        test("grok_7_20_every_profile_refuses", grok_7_20_every_profile_refuses),
        test(
            "grok_7_21_a_file_as_write_root_limits_all",
            grok_7_21_a_file_as_write_root_limits_all,
        ),
        test("grok_7_20_fail_open_is_loud_and_noted", grok_7_20_fail_open_is_loud_and_noted),
    ]
}

fn grok_7_1_no_mounts_no_start(world: &World) -> Outcome {
    for profile in ["workspace", "read-only", "strict"] {
        world.refused(&["--sandbox", profile, "--without", "mounts"], "mounts")?;
    }
    world.refused(&["--sandbox", "devbox", "--deny", "secret", "--without", "mounts"], "mounts")?;
    world.allowed(&["--sandbox", "off", "--without", "mounts"], "true")
}

fn grok_7_2_devbox_is_no_exception(world: &World) -> Outcome {
    world.refused(&["--sandbox", "devbox", "--without", "mounts"], "mounts")?;
    world.allowed(&["--sandbox", "devbox"], "true")
}

/// A sandbox inside the sandbox can make no namespaces, nor can bwrap there.
fn grok_7_3_no_namespaces_no_start(world: &World) -> Outcome {
    let nested = "mkdir -p h && HOME=$W/work/h $EXE confine --sandbox workspace -- echo RAN";
    let ran = world.confined(&[], nested)?;
    ensure(ran.status == 125 && ran.out.is_empty(), &format!("{ran:?}"))?;
    ensure(ran.err.contains("namespaces"), &ran.err)?;
    ensure(world.bare(nested)?.out == "RAN\n", "it does not start outside either")
}

fn grok_7_4_a_bad_glob_is_a_refusal(world: &World) -> Outcome {
    for glob in ["*.{a,b}", "a**b", "x//*", "../*", "[", "**/."] {
        world.refused(&["--deny", glob], "glob")?;
    }
    world.allowed(&["--deny", "**/*.pem"], "true")
}

fn grok_7_5_no_stub_no_start(world: &World) -> Outcome {
    world.refused(&["--deny", "/proc/no-such-file"], "/proc/no-such-file")?;
    world.allowed(&["--deny", "no-such-file"], "true")
}

fn grok_7_7_an_unknown_profile_is_a_refusal(world: &World) -> Outcome {
    world.refused(&["--sandbox", "no-such-profile"], "no-such-profile")?;
    // Names are what they are, upper case is another one.
    world.refused(&["--sandbox", "Workspace"], "Workspace")
}

fn grok_7_8_no_landlock_no_start(world: &World) -> Outcome {
    for profile in ["workspace", "read-only", "strict", "devbox", "workspace-write"] {
        world.refused(&["--sandbox", profile, "--without", "landlock"], "landlock")?;
    }
    world.allowed(&["--sandbox", "off", "--without", "landlock"], "true")
}

fn grok_7_12_no_filter_no_start(world: &World) -> Outcome {
    for profile in ["workspace", "read-only", "strict", "devbox"] {
        world.refused(&["--sandbox", profile, "--without", "seccomp"], "seccomp")?;
    }
    let blocked = ["--sandbox", "off", "--network", "blocked", "--without", "seccomp"];
    world.refused(&blocked, "seccomp")
}

fn grok_7_15_no_write_root_no_start(world: &World) -> Outcome {
    world.refused(&["--read-write", "/proc/no/such"], "/proc/no/such")?;
    world.allowed(&["--read-write", &world.text("outside")], "echo x > $W/outside/new")
}

fn grok_7_18_a_broken_environment_policy(world: &World) -> Outcome {
    world.write("work/env.json", "{\"inherit\": 7}")?;
    world.refused(&["--env-policy", "env.json"], "env.json")?;
    world.write("work/env.json", "{\"inherit\": \"core\"}")?;
    world.allowed(&["--env-policy", "env.json"], "true")
}

fn grok_7_20_every_profile_refuses(world: &World) -> Outcome {
    for profile in ["workspace", "read-only", "strict", "devbox", "workspace-write"] {
        for mechanism in ["landlock", "mounts", "seccomp"] {
            world.refused(&["--sandbox", profile, "--without", mechanism], mechanism)?;
        }
    }
    Ok(())
}

fn grok_7_21_a_file_as_write_root_limits_all(world: &World) -> Outcome {
    world.write("outside/file", "x")?;
    let file = world.text("outside/file");
    let ran = world.confined(&["--read-write", &file], "echo x > $W/outside/new")?;
    ensure(!ran.ok(), &format!("not limited: {ran:?}"))?;
    ensure(!world.at("outside/new").exists(), "it ran without limits")
}

fn grok_7_20_fail_open_is_loud_and_noted(world: &World) -> Outcome {
    for mechanism in ["landlock", "mounts", "seccomp"] {
        let ran = world.confined(&["--fail-open", "--without", mechanism], "echo RAN")?;
        ensure(ran.out == "RAN\n", &format!("{ran:?}"))?;
        ensure(ran.err.contains("confine: not enforced: "), &ran.err)?;
    }
    let log = world.read("home/.grok/sandbox-events.jsonl");
    let granted = log.lines().filter(|line| line.contains("BypassGranted")).count();
    ensure(granted == 3, &log)
}

/// What a requirement demands is enforced whole, whoever asks for less.
fn a_required_profile_is_not_undercut(world: &World) -> Outcome {
    let weaker = ["--sandbox", "strict", "--fail-open", "--without", "landlock"];
    let ran = world.confined(&weaker, "echo RAN")?;
    ensure(ran.out.contains("RAN"), &ran.err)?;
    world.write("home/.grok/requirements.toml", "[sandbox]\nprofile = \"strict\"\n")?;
    world.refused(&weaker, "requirements.toml demands this profile")
}
