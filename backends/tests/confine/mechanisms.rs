//! Mechanisms that are missing, and mechanisms alone.

use std::path::Path;

use crate::check::{Outcome, Test, ensure, test};
use crate::world::{World, run};

pub(crate) fn all() -> Vec<Test> {
    vec![
        test("a_missing_mechanism_is_a_refusal", a_missing_mechanism_is_a_refusal),
        test("a_missing_second_layer_is_not", a_missing_second_layer_is_not),
        test("fail_open_starts_and_says_so", fail_open_starts_and_says_so),
        test(
            "fail_open_without_any_mounts_gives_nothing",
            fail_open_without_any_mounts_gives_nothing,
        ),
        test("bwrap_is_the_other_way_to_covers", bwrap_is_the_other_way_to_covers),
        test("bind_and_remount_do_as_well", bind_and_remount_do_as_well),
        test("landlock_alone", landlock_alone),
        test("seccomp_alone", seccomp_alone),
        test("mounts_alone", mounts_alone),
        test("alone_refuses_what_it_cannot", alone_refuses_what_it_cannot),
    ]
}

fn a_missing_mechanism_is_a_refusal(world: &World) -> Outcome {
    for mechanism in ["landlock", "seccomp", "mounts"] {
        world.refused(&["--without", mechanism], mechanism)?;
    }
    ensure(!world.at("home/.grok").exists(), "a refusal left something behind")?;
    world.allowed(&["--sandbox", "off", "--without", "landlock"], "true")
}

fn a_missing_second_layer_is_not(world: &World) -> Outcome {
    let without = ["--network", "blocked", "--without", "network-namespace"];
    world.denied(&without, "$EXE act socket 2")?;
    let strict = [&without[..], &["--strict-enforcement"]].concat();
    world.refused(&strict, "network-namespace")
}

/// That mounts fail shows only when they are tried; by then the shared memory of the command's own
/// has been counted on.
fn fail_open_without_any_mounts_gives_nothing(world: &World) -> Outcome {
    let hide = "for b in /usr/bin/bwrap /usr/local/bin/bwrap; do \
                if test -e $b; then mount --bind /dev/null $b || exit 9; fi; done; exec \"$@\"";
    let inside = world.sandbox(&["--without", "own-mounts", "--fail-open"]);
    let started = |script: &str| {
        let mut outer = world.command("unshare");
        outer.args(["--user", "--map-root-user", "--mount", "sh", "-c", hide, "sh"]);
        outer.arg(inside.get_program()).args(inside.get_args()).args(["--", "sh", "-c", script]);
        run(&mut outer)
    };
    let ran = started("echo RAN")?;
    ensure(ran.out == "RAN\n" && ran.err.contains("modes and owners"), &format!("{ran:?}"))?;
    let log = world.read("home/.grok/sandbox-events.jsonl");
    let applied = log.lines().find(|line| line.contains("ProfileApplied")).unwrap_or_default();
    ensure(applied.contains("\"enforced\":false"), &log)?;
    let shared = "f=/dev/shm/confine-test-$$; echo x > $f && rm $f";
    let ran = started(shared)?;
    ensure(!ran.ok(), &format!("the shared memory of the host is written: {ran:?}"))?;
    ensure(world.bare(shared)?.ok(), "the host has no shared memory")
}

fn fail_open_starts_and_says_so(world: &World) -> Outcome {
    let options = ["--without", "mounts", "--fail-open", "--deny", "secret"];
    let ran = world.confined(&options, "cat secret; echo x > $W/outside/new")?;
    ensure(ran.out == "SECRET", &format!("{ran:?}"))?;
    ensure(ran.err.contains("confine: not enforced: denied"), &ran.err)?;
    ensure(!world.at("outside/new").exists(), "Landlock was lost as well")
}

fn bwrap_is_the_other_way_to_covers(world: &World) -> Outcome {
    if !Path::new("/usr/bin/bwrap").exists() {
        return world.refused(&["--without", "own-mounts"], "install bubblewrap");
    }
    world.write("work/dir/file", "SECRET")?;
    world.write("work/a/conf", "CONF")?;
    let options = [
        "--without",
        "own-mounts",
        "--deny",
        "secret",
        "--deny",
        "dir",
        "--protect",
        "a/conf",
        "--network",
        "blocked",
        "--deny",
        "late",
    ];
    world.denied(&options, "cat secret")?;
    world.denied(&options, "$EXE act rename secret moved && mv moved secret")?;
    world.denied(&options, "ls dir")?;
    world.denied(&options, "cat dir/file")?;
    world.denied(&options, "echo CONF > a/conf")?;
    world.denied(&options, "$EXE act rename a b && mv b a")?;
    world.denied(&options, "echo x > late && rm late")?;
    world.denied(&options, "chmod 640 $W/outside/far && chmod 644 $W/outside/far")?;
    world.denied(&options, "echo x > ~/.grok/hooks/a && rm ~/.grok/hooks/a")?;
    world.denied(&options, "$EXE act socket 2")?;
    world.denied(&options, "$EXE act unshare")?;
    world.allowed(&options, "cat plain a/conf && echo x > new && echo x > /dev/null && rm new")?;
    let status = world.confined(&options, "cat /proc/self/status")?.out;
    ensure(status.contains("CapBnd:\t0000000000000000"), &status)?;
    let ran = world.confined(&options, "exit 7")?;
    ensure(ran.status == 7, &format!("{ran:?}"))?;
    ensure(!world.at("work/late").exists(), "a stub was left")
}

fn bind_and_remount_do_as_well(world: &World) -> Outcome {
    world.write("work/dir/file", "SECRET")?;
    world.write("work/a/conf", "CONF")?;
    let options = [
        "--without",
        "new-mount-calls",
        "--sandbox",
        "off",
        "--deny",
        "secret",
        "--deny",
        "dir",
        "--protect",
        "a",
    ];
    world.denied(&options, "cat secret")?;
    world.denied(&options, "chmod 600 secret")?;
    world.denied(&options, "$EXE act rename secret moved && mv moved secret")?;
    world.denied(&options, "ls dir")?;
    world.denied(&options, "cat dir/file")?;
    world.denied(&options, "echo CONF > a/conf")?;
    world.denied(&options, "$EXE act rename a b && mv b a")?;
    world.denied(&options, "$EXE act rename $W/work $W/w && mv $W/w $W/work")?;
    world.allowed(
        &options,
        "cat plain a/conf && echo x > new && echo x > /tmp/confine-$$ && rm /tmp/confine-$$",
    )?;
    let limited = ["--without", "new-mount-calls"];
    if Path::new("/usr/bin/bwrap").exists() {
        return world.denied(&limited, "echo x > $W/outside/new && rm $W/outside/new");
    }
    world.refused(&limited, "Linux 5.12")
}

fn landlock_alone(world: &World) -> Outcome {
    let options = ["--only", "landlock"];
    world.denied(&options, "echo x > $W/outside/new && rm $W/outside/new")?;
    world.allowed(&options, "cat secret && echo x > new")?;
    world.allowed(&options, "chmod 600 $W/outside/far")?;
    let strict = ["--only", "landlock", "--sandbox", "strict", "--network", "open"];
    world.denied(&strict, "cat $W/outside/far")
}

fn seccomp_alone(world: &World) -> Outcome {
    let options = ["--only", "seccomp", "--sandbox", "off", "--network", "blocked"];
    world.denied(&options, "$EXE act socket 2")?;
    world.denied(&options, "$EXE act unshare")?;
    world.allowed(&options, "echo x > $W/outside/new")
}

fn mounts_alone(world: &World) -> Outcome {
    let options = ["--only", "mounts", "--deny", "secret", "--protect", "plain"];
    world.denied(&options, "cat secret")?;
    world.denied(&options, "echo PLAIN > plain")?;
    world.denied(&options, "echo x > $W/outside/new && rm $W/outside/new")?;
    world.denied(&options, "chmod 640 $W/outside/far")?;
    world.allowed(&options, "echo x > new && $EXE act socket 2")
}

fn alone_refuses_what_it_cannot(world: &World) -> Outcome {
    world.refused(&["--only", "landlock", "--deny", "secret"], "cannot express")?;
    world.refused(&["--only", "landlock", "--network", "blocked"], "cannot express")?;
    world.refused(&["--only", "seccomp"], "cannot express")?;
    world.refused(&["--only", "mounts", "--network", "blocked"], "cannot express")
}
