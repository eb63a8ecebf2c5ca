//! What each profile lets the command read, write and reach.

use std::fs;
use std::os::unix::fs::symlink;

use crate::check::{Outcome, Test, ensure, test};
use crate::world::{World, run};

pub(crate) fn all() -> Vec<Test> {
    vec![
        test("grok_1_3_what_each_profile_grants", grok_1_3_what_each_profile_grants),
        test("grok_1_4_temp_folders", grok_1_4_temp_folders),
        test("grok_1_5_strict_reads_system_folders", grok_1_5_strict_reads_system_folders),
        test("grok_1_6_devices", grok_1_6_devices),
        test("grok_1_7_a_start_without_a_terminal", grok_1_7_a_start_without_a_terminal),
        test("grok_1_8_missing_roots", grok_1_8_missing_roots),
        test("grok_1_10_grants_are_canonical", grok_1_10_grants_are_canonical),
        test("grok_1_11_grok_home", grok_1_11_grok_home),
        test("grok_1_12_the_workspace", grok_1_12_the_workspace),
        test("grok_1_13_what_is_read_can_be_run", grok_1_13_what_is_read_can_be_run),
        test("codex_a1_temp_of_workspace_write", codex_a1_temp_of_workspace_write),
        test("codex_a2_metadata_at_the_top", codex_a2_metadata_at_the_top),
        test("codex_a2_a_pointer_is_followed", codex_a2_a_pointer_is_followed),
        test(
            "a_pipe_in_place_of_metadata_holds_nothing_up",
            a_pipe_in_place_of_metadata_holds_nothing_up,
        ),
        test("codex_a2_a_symlink_in_its_place_stays", codex_a2_a_symlink_in_its_place_stays),
    ]
}

/// Writes a file and removes it.
fn writes(path: &str) -> String {
    format!("echo x > {path}/n-$$ && rm {path}/n-$$")
}

const INET: &str = "$EXE act socket 2";

fn grok_1_3_what_each_profile_grants(world: &World) -> Outcome {
    world.folder("home/.grok")?;
    let (work, home, far) = (writes("."), writes("~"), writes("$W/outside"));
    let grok = writes("~/.grok");
    let hook = "echo {} > ~/.grok/hooks/a.json && rm ~/.grok/hooks/a.json";
    let read = "cat $W/outside/far";
    world.folder("home/.grok/hooks")?;
    let scripts = [&work, &grok, &home, &far, read, hook, INET];
    // Which of the scripts work.
    for (profile, works) in [
        ("workspace", [true, true, false, false, true, false, true]),
        ("devbox", [true, true, true, true, true, true, true]),
        ("read-only", [false, true, false, false, true, false, false]),
        ("strict", [true, true, false, false, false, false, false]),
        ("workspace-write", [true, false, false, false, true, false, false]),
        ("off", [true, true, true, true, true, true, true]),
    ] {
        for (script, works) in scripts.iter().zip(works) {
            let options = ["--sandbox", profile];
            let outcome = if works {
                world.allowed(&options, script)
            } else {
                world.denied(&options, script)
            };
            outcome.map_err(|why| format!("{profile}: {why}"))?;
        }
    }
    Ok(())
}

fn grok_1_4_temp_folders(world: &World) -> Outcome {
    for profile in ["workspace", "read-only", "strict"] {
        let options = ["--sandbox", profile];
        for folder in ["/tmp", "/var/tmp", "$TMPDIR"] {
            world.allowed(&options, &writes(folder))?;
        }
        // A folder of that name is none of them.
        let ran = run(world.sandbox(&options).env("TMPDIR", world.at("no-such")).args([
            "--",
            "sh",
            "-c",
            &writes("$W/temp"),
        ]))?;
        ensure(ran.status != 0 && ran.status != 125, &format!("{ran:?}"))?;
    }
    Ok(())
}

fn grok_1_5_strict_reads_system_folders(world: &World) -> Outcome {
    let strict = ["--sandbox", "strict"];
    world
        .allowed(&strict, "ls / > /dev/null 2>&1; ls /usr /etc /proc /sys /tmp /var > /dev/null")?;
    world.allowed(&strict, "cat plain ~/.grok/hooks-paths && cat /etc/passwd > /dev/null")?;
    world.write("home/own", "OWN")?;
    world.denied(&strict, "cat ~/own")?;
    world.denied(&strict, "cat $W/outside/far")?;
    for folder in ["/opt", "/srv", "/mnt", "/home"] {
        if fs::read_dir(folder).is_ok() && !world.at("").starts_with(folder) {
            world.denied(&strict, &format!("ls {folder}"))?;
        }
    }
    Ok(())
}

fn grok_1_6_devices(world: &World) -> Outcome {
    let devices = "echo x > /dev/null && head -c 1 /dev/zero > /dev/null && \
                   head -c 1 /dev/urandom > /dev/null && echo x 1<> /dev/full; \
                   head -c 1 /dev/random > /dev/null && : > /dev/zero && test -w /dev/ptmx";
    for profile in ["workspace", "read-only", "strict", "devbox", "workspace-write"] {
        let options = ["--sandbox", profile];
        world.allowed(&options, devices)?;
        // A descriptor by its path has the rights of what it leads to.
        world.allowed(&options, "(echo x > /dev/fd/1) | cat && echo y | cat /dev/fd/0")?;
        // No other name can be made there.
        let ran = world.confined(&options, "echo x > /dev/n-$$")?;
        ensure(ran.status != 0 && ran.status != 125, &format!("{profile}: {ran:?}"))?;
    }
    Ok(())
}

fn grok_1_7_a_start_without_a_terminal(world: &World) -> Outcome {
    for profile in ["workspace", "read-only", "strict", "devbox"] {
        let options = ["--sandbox", profile];
        let mut sandbox = world.sandbox(&options);
        let mut setsid = world.command("setsid");
        setsid.arg("--wait").arg(sandbox.get_program()).args(sandbox.get_args());
        let ran =
            run(setsid.args(["--", "sh", "-c", "! cat /dev/tty 2>/dev/null && echo STARTED"]))?;
        ensure(ran.ok() && ran.out.contains("STARTED"), &format!("{profile}: {ran:?}"))?;
        // One that the command makes itself is its own.
        let ran = run(sandbox.args(["--", "sh", "-c", "$EXE act tty"]))?;
        ensure(ran.ok(), &format!("{profile}: {ran:?}"))?;
    }
    Ok(())
}

fn grok_1_8_missing_roots(world: &World) -> Outcome {
    let (made, never) = (world.text("outside/new/deep"), world.text("outside/never"));
    world.allowed(&["--read-write", &made, "--read-only", &never], &writes(&made))?;
    ensure(world.at("outside/new/deep").is_dir(), "the write root was not made")?;
    ensure(!world.at("outside/never").exists(), "the read root was made")?;
    let inside_file = world.text("outside/far/below");
    world.refused(&["--read-write", &inside_file], "a write root cannot be made")
}

fn grok_1_10_grants_are_canonical(world: &World) -> Outcome {
    world.folder("outside/real")?;
    symlink(world.at("outside/real"), world.at("outside/link")).map_err(|e| e.to_string())?;
    let link = world.text("outside/link");
    for path in ["$W/outside/link", "$W/outside/real"] {
        world.allowed(&["--read-write", &link], &writes(path))?;
    }
    world.denied(&["--read-write", &link], &writes("$W/outside"))
}

fn grok_1_11_grok_home(world: &World) -> Outcome {
    let start = |grok: &str| {
        let mut sandbox = world.sandbox(&["--sandbox", "strict"]);
        run(sandbox.env("GROK_HOME", grok).args(["--", "sh", "-c", "echo x > $GROK_HOME/x"]))
    };
    let own = world.text("outside/grok");
    let ran = start(&own)?;
    ensure(ran.ok() && world.at("outside/grok/hooks-paths").exists(), &format!("{ran:?}"))?;
    ensure(!world.at("home/.grok").exists(), "the usual one was made as well")?;
    let ran = start("grok")?;
    ensure(ran.status == 125 && ran.err.contains("GROK_HOME is relative"), &format!("{ran:?}"))?;
    // As it was given: a symlink in it is seen, and refused.
    symlink(world.at("outside/grok"), world.at("outside/link")).map_err(|e| e.to_string())?;
    let ran = start(&world.text("outside/link"))?;
    ensure(ran.status == 125 && ran.err.contains("symlink"), &format!("{ran:?}"))?;
    // One in HOME is not: HOME is made canonical first. An empty one is none.
    symlink(world.at("home"), world.at("outside/house")).map_err(|e| e.to_string())?;
    let mut sandbox = world.sandbox(&["--sandbox", "strict"]);
    sandbox.env("HOME", world.at("outside/house")).env("GROK_HOME", "");
    let ran = run(sandbox.args(["--", "sh", "-c", "echo x > ~/.grok/x"]))?;
    ensure(ran.ok() && world.at("home/.grok/x").exists(), &format!("{ran:?}"))
}

fn grok_1_12_the_workspace(world: &World) -> Outcome {
    world.folder("outside/other")?;
    symlink(world.at("outside/other"), world.at("home/link")).map_err(|e| e.to_string())?;
    let link = world.text("home/link");
    let script = writes("$W/outside/other");
    world.allowed(&["--workspace", &link], &script)?;
    world.denied(&[], &script)?;
    world.denied(&["--workspace", &link], &writes("$W/work"))?;
    world.refused(&["--workspace", &world.text("outside/far")], "the workspace is no folder")
}

fn grok_1_13_what_is_read_can_be_run(world: &World) -> Outcome {
    world.folder("outside/bin")?;
    fs::copy("/bin/true", world.at("outside/bin/true")).map_err(|e| e.to_string())?;
    let bin = world.text("outside/bin");
    let run = format!("{bin}/true");
    world.allowed(&["--sandbox", "strict", "--read-only", &bin], &run)?;
    world.denied(&["--sandbox", "strict"], &run)?;
    world.allowed(&["--sandbox", "workspace"], &run)
}

fn codex_a1_temp_of_workspace_write(world: &World) -> Outcome {
    let options = ["--sandbox", "workspace-write"];
    world.allowed(&options, &writes("/tmp"))?;
    world.allowed(&options, &writes("$TMPDIR"))?;
    world.denied(&options, &writes("/var/tmp"))
}

fn codex_a2_metadata_at_the_top(world: &World) -> Outcome {
    let options = ["--sandbox", "workspace-write"];
    world.write("work/.git/config", "old")?;
    world.folder("work/sub/.git")?;
    world.denied(&options, "echo new > .git/config && printf old > .git/config")?;
    world.denied(&options, "$EXE act rename .git g && mv g .git")?;
    for name in [".agents", ".codex"] {
        // Not there yet.
        world.denied(&options, &format!("mkdir -p {name}/x && rm -r {name}"))?;
        world.denied(&options, &format!("mkdir -p $TMPDIR/{name}/x && rm -r $TMPDIR/{name}"))?;
    }
    ensure(!world.at("work/.agents").exists(), "something was left")?;
    world.allowed(&options, &writes("sub/.git"))?;
    world.allowed(&options, "cat .git/config && mkdir .GIT && rmdir .GIT")?;
    // A profile that is built on it protects its own roots as well.
    let text = "[profiles.mine]\nextends = \"workspace-write\"\nread_write = [\"../outside\"]\n";
    world.write("home/.grok/sandbox.toml", text)?;
    let mine = ["--sandbox", "mine"];
    world.denied(&mine, "mkdir -p $W/outside/.git/x && rm -r $W/outside/.git")?;
    world.denied(&mine, INET)?;
    world.allowed(&mine, &writes("$W/outside"))?;
    // Profiles of the workspace are metadata of ours.
    world.denied(&options, "mkdir -p .grok && echo > .grok/sandbox.toml && rm -r .grok")
}

fn codex_a2_a_pointer_is_followed(world: &World) -> Outcome {
    let options = ["--sandbox", "workspace-write", "--read-write", &world.text("outside")];
    world.folder("outside/main/.git/worktrees/w")?;
    let inside = writes("$W/outside/main/.git/worktrees/w");
    world.allowed(&options, &inside)?;
    world.write("work/.git", "gitdir: ../outside/main/.git/worktrees/w\n")?;
    world.denied(&options, &inside)?;
    world.denied(&options, "mv .git g && mv g .git")?;
    world.allowed(&options, &writes("$W/outside/main"))?;
    world.write("work/.git", "gitdir: ../nowhere\n")?;
    world.denied(&options, "mv .git g && mv g .git")?;
    world.allowed(&options, &inside)
}

fn a_pipe_in_place_of_metadata_holds_nothing_up(world: &World) -> Outcome {
    world.bare("mkfifo .git")?;
    let options = ["--sandbox", "workspace-write"];
    world.allowed(&options, "test -p .git")?;
    world.denied(&options, "rm .git && mkfifo .git")
}

fn codex_a2_a_symlink_in_its_place_stays(world: &World) -> Outcome {
    let options = ["--sandbox", "workspace-write"];
    world.folder("work/real")?;
    symlink("real", world.at("work/.git")).map_err(|e| e.to_string())?;
    world.denied(&options, "rm .git && mkdir .git && rmdir .git && ln -s real .git")?;
    world.denied(&options, &writes("real"))
}
