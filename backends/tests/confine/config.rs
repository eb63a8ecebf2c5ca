//! Profiles and settings from files.

use std::os::unix::ffi::OsStringExt;
use std::process::Command;

use crate::check::{Outcome, Test, ensure, test};
use crate::world::{Ran, World, run};

pub(crate) fn all() -> Vec<Test> {
    vec![
        test("grok_1_9_a_file_is_no_root", grok_1_9_a_file_is_no_root),
        test("grok_2_1_both_files_define_profiles", grok_2_1_both_files_define_profiles),
        test("grok_2_2_a_mistake_is_shown", grok_2_2_a_mistake_is_shown),
        test("grok_2_4_a_clash_is_told", grok_2_4_a_clash_is_told),
        test("grok_2_5_a_broken_file_is_refused", grok_2_5_a_broken_file_is_refused),
        test("grok_2_6_lists_are_added_to_the_base", grok_2_6_lists_are_added_to_the_base),
        test("grok_2_7_relative_paths", grok_2_7_relative_paths),
        test("grok_2_8_a_pattern_at_the_end", grok_2_8_a_pattern_at_the_end),
        test("grok_2_9_who_chooses", grok_2_9_who_chooses),
        test("grok_2_11_no_overlay", grok_2_11_no_overlay),
        test("grok_2_12_no_other_variable", grok_2_12_no_other_variable),
        test("limits_come_from_the_user", limits_come_from_the_user),
        test("grok_9_1_the_table_of_config", grok_9_1_the_table_of_config),
        test(
            "grok_9_5_nothing_is_touched_without_a_policy",
            grok_9_5_nothing_is_touched_without_a_policy,
        ),
        test("grok_9_9_every_process_is_filtered", grok_9_9_every_process_is_filtered),
    ]
}

const GLOBAL: &str = "home/.grok/sandbox.toml";

/// Runs a script without a profile on the command line.
fn unchosen(world: &World, change: impl FnOnce(&mut Command), script: &str) -> Result<Ran, String> {
    let mut sandbox = world.unchosen(&[]);
    change(&mut sandbox);
    run(sandbox.args(["--", "sh", "-c", script]))
}

fn variable(command: &mut Command, profile: &str) {
    command.env("GROK_SANDBOX", profile);
}

fn grok_1_9_a_file_is_no_root(world: &World) -> Outcome {
    world.write(GLOBAL, "[profiles.mine]\nread_write = [\"plain\"]\n")?;
    for profile in ["mine", "strict", "off"] {
        world.refused(&["--sandbox", profile], "sandbox.toml:2:15: a file cannot be a root")?;
    }
    world.write(GLOBAL, "[profiles.mine]\nread_write = [\"made\"]\n")?;
    world.allowed(&["--sandbox", "mine"], "echo x > made/x")
}

fn grok_2_1_both_files_define_profiles(world: &World) -> Outcome {
    world.write(GLOBAL, "[profiles.a]\ndeny = [\"secret\"]\n")?;
    world.write("work/.grok/sandbox.toml", "[profiles.b]\nextends = \"strict\"\n")?;
    world.denied(&["--sandbox", "a"], "cat secret")?;
    world.allowed(&["--sandbox", "a"], "cat $W/outside/far")?;
    world.allowed(&["--sandbox", "b"], "cat secret")?;
    world.denied(&["--sandbox", "b"], "cat $W/outside/far")?;
    // Not that of a folder above.
    world.folder("work/sub")?;
    let ran = run(world
        .unchosen(&["--sandbox", "b", "--workspace", &world.text("work/sub")])
        .args(["--", "true"]))?;
    ensure(ran.status == 125 && ran.err.contains("`b`"), &format!("{ran:?}"))
}

fn grok_2_2_a_mistake_is_shown(world: &World) -> Outcome {
    world.write(GLOBAL, "[profiles.mine]\ndeney = [\"secret\"]\n")?;
    let ran = world.confined(&[], "echo RAN")?;
    let shown = [
        &format!("confine: refused: {}:2:1: unknown field `deney`", world.text(GLOBAL)),
        "\n  2 | deney = [\"secret\"]\n    | ^^^^^\n  did you mean `deny`?\n",
    ];
    ensure(ran.status == 125 && shown.iter().all(|part| ran.err.contains(*part)), &ran.err)
}

fn grok_2_4_a_clash_is_told(world: &World) -> Outcome {
    world.write(GLOBAL, "[profiles.p]\ndeny = [\"secret\"]\n")?;
    world.write("work/.grok/sandbox.toml", "[profiles.p]\n")?;
    world.denied(&["--sandbox", "p"], "cat secret")?;
    let told = |world: &World| {
        world.confined(&["--sandbox", "p"], "true").map(|ran| ran.err.contains("warning: profile"))
    };
    ensure(told(world)?, "nothing was said")?;
    world.write("work/.grok/sandbox.toml", "[profiles.p]\ndeny = ['secret'] # same\n")?;
    ensure(!told(world)?, "equal profiles are no clash")
}

fn grok_2_5_a_broken_file_is_refused(world: &World) -> Outcome {
    // With the global file as good as absent, that of the workspace would say what `p` means.
    world.write("work/.grok/sandbox.toml", "[profiles.p]\n")?;
    world.allowed(&["--sandbox", "p"], "true")?;
    world.write(GLOBAL, "[profiles.p]\ndeny = [\"secret\"\n")?;
    world.refused(&["--sandbox", "p"], "sandbox.toml:2:17: ")
}

fn grok_2_6_lists_are_added_to_the_base(world: &World) -> Outcome {
    let (far, more) = (world.text("outside"), world.text("outside/more"));
    let text = format!(
        "[profiles.mine]\nextends = \"strict\"\nread_only = [\"{far}\"]\nread_write = [\"{more}\"]\n\
         [profiles.box]\nextends = \"devbox\"\ndeny = [\"secret\"]\n[profiles.usual]\n"
    );
    world.write(GLOBAL, &text)?;
    let mine = ["--sandbox", "mine"];
    world.allowed(&mine, "cat $W/outside/far && echo x > $W/outside/more/x && echo x > new")?;
    world.denied(&mine, "echo x > $W/outside/new && rm $W/outside/new")?;
    world.denied(&mine, "ls ~")?;
    world.denied(&mine, "$EXE act socket 2")?;
    let hook = "echo {} > ~/.grok/hooks/a.json && rm ~/.grok/hooks/a.json";
    world.denied(&mine, hook)?;
    world.denied(&["--sandbox", "usual"], hook)?;
    // Hooks are not for a profile on devbox to protect; its own rules hold.
    world.allowed(&["--sandbox", "box"], hook)?;
    world.denied(&["--sandbox", "box"], "cat secret")
}

fn grok_2_7_relative_paths(world: &World) -> Outcome {
    world.folder("outside/here")?;
    world.write(
        GLOBAL,
        "[profiles.mine]\nextends = \"strict\"\nread_write = [\"here\"]\ndeny = [\"secret\"]\n",
    )?;
    // Roots are meant from the current folder, what is denied from the workspace.
    let outside = |script: &str| {
        let options = ["--sandbox", "mine", "--workspace", &world.text("work")];
        let mut sandbox = world.unchosen(&options);
        run(sandbox.current_dir(world.at("outside")).args(["--", "sh", "-c", script]))
    };
    let ran = outside("echo x > $W/outside/here/x && cat $W/work/plain")?;
    ensure(ran.ok(), &format!("{ran:?}"))?;
    let ran = outside("cat $W/work/secret")?;
    ensure(ran.status == 1 && !ran.out.contains("SECRET"), &format!("{ran:?}"))?;
    for path in ["~/x", "$HOME/x"] {
        world.write(GLOBAL, &format!("[profiles.mine]\ndeny = [\"{path}\"]\n"))?;
        world.refused(&[], "not expanded")?;
    }
    Ok(())
}

fn grok_2_8_a_pattern_at_the_end(world: &World) -> Outcome {
    let cache = world.text("outside/cache");
    world.write(GLOBAL, &format!("[profiles.mine]\nread_write = [\"{cache}/**\"]\n"))?;
    let mine = ["--sandbox", "mine"];
    world.allowed(&mine, "mkdir $W/outside/cache/a && echo x > $W/outside/cache/a/x")?;
    ensure(!world.at("outside/cache/**").exists(), "the pattern was taken for a name")?;
    world.denied(&mine, "echo x > $W/outside/x && rm $W/outside/x")?;
    world.write(GLOBAL, &format!("[profiles.mine]\nread_write = [\"{cache}*\"]\n"))?;
    world.refused(&[], "is a pattern")
}

fn grok_2_9_who_chooses(world: &World) -> Outcome {
    let strict = "[sandbox]\nprofile = \"strict\"\n";
    let read = "cat $W/outside/far";
    let ran = unchosen(world, |_| {}, read)?;
    ensure(ran.ok() && ran.err.contains("nothing is enforced"), &format!("nobody: {ran:?}"))?;
    let ran = unchosen(world, |c| variable(c, "off"), read)?;
    ensure(ran.ok() && ran.err.is_empty(), &format!("off was chosen: {ran:?}"))?;
    world.write("home/.grok/config.toml", strict)?;
    ensure(unchosen(world, |_| {}, read)?.status == 1, "config.toml did not choose")?;
    let ran = unchosen(world, |c| variable(c, ""), read)?;
    ensure(ran.status == 1, "an empty name chose")?;
    let ran = unchosen(world, |c| variable(c, "workspace"), read)?;
    ensure(ran.ok(), "GROK_SANDBOX did not outrank config.toml")?;
    let both = |c: &mut Command| {
        variable(c, "workspace");
        c.args(["--sandbox", "strict"]);
    };
    ensure(unchosen(world, both, read)?.status == 1, "--sandbox did not outrank GROK_SANDBOX")?;
    let empty = |c: &mut Command| {
        variable(c, "workspace");
        c.args(["--sandbox", ""]);
    };
    ensure(unchosen(world, empty, read)?.ok(), "an empty --sandbox chose")?;
    world.write("home/.grok/requirements.toml", strict)?;
    world.denied(&["--sandbox", "off"], read)?;
    let ran = world.confined(&["--sandbox", "off"], "true")?;
    ensure(ran.err.contains("`off` is not used"), &ran.err)?;
    world.refused(&["--sandbox", "off", "--network", "open"], "leave out --network open")?;
    world.write("home/.grok/requirements.toml", "[sandbox]\nprofile = \"\"\n")?;
    world.refused(&[], "requirements.toml:2:11: ")
}

fn grok_2_11_no_overlay(world: &World) -> Outcome {
    world.write("home/.grok/config.toml", "[sandbox]\nprofile = \"strict\"\n")?;
    let off = "[sandbox]\nprofile = \"off\"\n";
    world.write("outside/overlay.toml", off)?;
    let overlay = |c: &mut Command| {
        c.env("GROK_CONFIG", off).env("GROK_CONFIG_PATH", world.at("outside/overlay.toml"));
    };
    ensure(unchosen(world, overlay, "cat $W/outside/far")?.status == 1, "an overlay chose")
}

fn grok_2_12_no_other_variable(world: &World) -> Outcome {
    let other = |c: &mut Command| {
        c.env("GROK_SANDBOX_PROFILE", "strict");
    };
    let ran = unchosen(world, other, "cat $W/outside/far")?;
    ensure(ran.ok() && ran.err.contains("nothing is enforced"), &format!("{ran:?}"))
}

fn limits_come_from_the_user(world: &World) -> Outcome {
    world.write(GLOBAL, "[profiles.mine]\ndeny = [\"*.pem\"]\n[limits]\nmatches = 1\n")?;
    world.write("work/a.pem", "SECRET")?;
    world.denied(&["--sandbox", "mine"], "cat a.pem")?;
    world.write("work/b.pem", "SECRET")?;
    world.refused(&["--sandbox", "mine"], "more than 1 matches")?;
    world.write("work/.grok/sandbox.toml", "[limits]\nmatches = 2\n")?;
    world.refused(&["--sandbox", "mine"], "GROK_HOME only")
}

fn grok_9_1_the_table_of_config(world: &World) -> Outcome {
    let table = |rest: &str| format!("[shell_environment_policy]\n{rest}\n");
    let show = |options: &[&str]| {
        let mut sandbox = world.sandbox(options);
        run(sandbox.env("API_TOKEN", "SECRET").env("B", "b").args(["--", "env"]))
    };
    ensure(show(&[])?.out.contains("SECRET"), "the control lacks the variable")?;
    for rest in ["exclude = [\"*token*\"]", "ignore_default_excludes = false", "inherit = \"core\""]
    {
        world.write("home/.grok/config.toml", &table(rest))?;
        let ran = show(&[])?;
        ensure(ran.ok() && !ran.out.contains("SECRET"), &format!("{rest}: {ran:?}"))?;
    }
    // The command line outranks the configuration, and a requirement both.
    world.write("outside/env.json", r#"{"exclude": ["B"]}"#)?;
    let policy = ["--env-policy", &world.text("outside/env.json")];
    let ran = show(&policy)?;
    ensure(ran.out.contains("SECRET") && !ran.out.contains("B=b"), &format!("{ran:?}"))?;
    world.write("home/.grok/requirements.toml", &table("exclude = [\"*token*\"]"))?;
    let ran = show(&policy)?;
    ensure(!ran.out.contains("SECRET") && ran.out.contains("B=b"), &format!("{ran:?}"))?;
    world.write("home/.grok/requirements.toml", &table("exclude = \"*token*\""))?;
    world.refused(&[], "requirements.toml:2:11: invalid type")
}

fn grok_9_5_nothing_is_touched_without_a_policy(world: &World) -> Outcome {
    let odd = std::ffi::OsString::from_vec(vec![b'a', 0xff]);
    let script = "printenv ODD | od -An -tx1; env | sort";
    let sorted = |mut command: Command| {
        run(command.env("ODD", &odd).args(["-c", script])).map(|ran| ran.out)
    };
    let mut inside = world.sandbox(&[]);
    inside.args(["--", "sh"]);
    let (inside, bare) = (sorted(inside)?, sorted(world.command("sh"))?);
    ensure(inside == bare && bare.contains("61 ff"), &format!("{inside} is not {bare}"))?;
    // Under a policy what cannot be judged is left out.
    world.write("outside/env.json", r#"{"exclude": ["NONE"]}"#)?;
    let mut filtered = world.sandbox(&["--env-policy", &world.text("outside/env.json")]);
    filtered.args(["--", "sh"]);
    ensure(!sorted(filtered)?.contains("61 ff"), "a variable that is no text came through")
}

fn grok_9_9_every_process_is_filtered(world: &World) -> Outcome {
    world.write("home/.grok/config.toml", "[shell_environment_policy]\nexclude = [\"T\"]\n")?;
    let scripts = [
        "env",
        "sh -c 'sh -c env'",
        "(setsid env)",
        "cat /proc/$PPID/environ /proc/1/environ; env",
    ];
    for script in scripts {
        let ran = run(world.sandbox(&[]).env("T", "SECRET").args(["--", "sh", "-c", script]))?;
        ensure(ran.out.contains("PATH") && !ran.out.contains("SECRET"), &format!("{ran:?}"))?;
    }
    Ok(())
}
