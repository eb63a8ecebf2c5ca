//! GROK_HOME and the hook sources in it.

use std::fs;
use std::os::unix::fs::symlink;

use crate::check::{Outcome, Test, ensure, test};
use crate::world::{World, run};

pub(crate) fn all() -> Vec<Test> {
    vec![
        test("grok_6_1_slots_are_made_and_not_written", grok_6_1_slots_are_made_and_not_written),
        test(
            "grok_4_13_targets_of_the_registry_are_protected",
            grok_4_13_targets_of_the_registry_are_protected,
        ),
        test("grok_6_2_symlinked_grok_home_is_refused", grok_6_2_symlinked_grok_home_is_refused),
        test("grok_7_6_linked_hook_file_is_refused", grok_7_6_linked_hook_file_is_refused),
        test("grok_6_4_missing_target_is_refused", grok_6_4_missing_target_is_refused),
        test("grok_6_1_devbox_leaves_hooks_alone", grok_6_1_devbox_leaves_hooks_alone),
        test("grok_6_8_settings_and_records_stay", grok_6_8_settings_and_records_stay),
        test("grok_6_3_what_is_missing_comes_and_goes", grok_6_3_what_is_missing_comes_and_goes),
        test("grok_4_16_siblings_of_hooks_are_written", grok_4_16_siblings_of_hooks_are_written),
        test("grok_7_10_a_spoofed_marker_is_refused", grok_7_10_a_spoofed_marker_is_refused),
    ]
}

fn grok_6_1_slots_are_made_and_not_written(world: &World) -> Outcome {
    for profile in ["workspace", "read-only", "strict"] {
        let options = ["--sandbox", profile];
        world.allowed(
            &options,
            "cat ~/.grok/hooks-paths && ls ~/.grok/hooks && echo x > ~/.grok/x",
        )?;
        world.denied(&options, "echo {} > ~/.grok/hooks/a.json && rm ~/.grok/hooks/a.json")?;
        world.denied(&options, "echo x > ~/.grok/hooks-paths && : > ~/.grok/hooks-paths")?;
        world.denied(&options, "cd ~/.grok && $EXE act rename hooks h && mv h hooks")?;
        world.denied(&options, "$EXE act rename ~/.grok ~/g && mv ~/g ~/.grok")?;
    }
    ensure(world.at("home/.grok/hooks").is_dir(), "no slot was made")
}

fn grok_4_13_targets_of_the_registry_are_protected(world: &World) -> Outcome {
    world.write("work/tools/deep/hook.sh", "HOOK")?;
    world.write("home/.grok/hooks-paths", &world.text("work/tools/deep/hook.sh"))?;
    world.denied(&[], "echo x >> tools/deep/hook.sh")?;
    world.denied(&[], "$EXE act rename tools t && mv t tools")?;
    world.denied(&[], "$EXE act rename tools/deep tools/d && mv tools/d tools/deep")?;
    world.allowed(&[], "grep -q HOOK tools/deep/hook.sh && echo x > tools/deep/beside")
}

fn grok_6_2_symlinked_grok_home_is_refused(world: &World) -> Outcome {
    world.folder("outside/real")?;
    symlink(world.at("outside/real"), world.at("home/.grok")).map_err(|e| e.to_string())?;
    world.refused(&[], "a symlink leads to hook sources")?;
    let left = fs::read_dir(world.at("outside/real")).map_err(|e| e.to_string())?.count();
    ensure(left == 0, "the target of the link was changed")?;
    fs::remove_file(world.at("home/.grok")).map_err(|e| e.to_string())?;
    world.folder("home/.grok")?;
    world.allowed(&[], "true")
}

fn grok_7_6_linked_hook_file_is_refused(world: &World) -> Outcome {
    world.write("home/.grok/hooks/a.json", "{}")?;
    world.allowed(&[], "true")?;
    fs::hard_link(world.at("home/.grok/hooks/a.json"), world.at("work/alias"))
        .map_err(|e| e.to_string())?;
    world.refused(&[], "second hard link")
}

fn grok_6_4_missing_target_is_refused(world: &World) -> Outcome {
    world.write("home/.grok/hooks-paths", &world.text("work/hook.sh"))?;
    world.refused(&[], "hook.sh")?;
    world.write("home/.grok/hooks-paths", "/")?;
    world.refused(&[], "everything would be covered")?;
    world.write("home/.grok/hooks-paths", &world.text("work/hook.sh"))?;
    world.write("work/hook.sh", "")?;
    world.allowed(&[], "true")
}

fn grok_6_1_devbox_leaves_hooks_alone(world: &World) -> Outcome {
    world.folder("home/.grok/hooks")?;
    world.allowed(&["--sandbox", "devbox"], "echo {} > ~/.grok/hooks/a.json")
}

fn grok_7_10_a_spoofed_marker_is_refused(world: &World) -> Outcome {
    let start = |options: &[&str], value: &str| {
        let mut command = world.sandbox(options);
        command.env("__GROK_INSIDE_BWRAP", value).args(["--", "echo", "RAN"]);
        run(&mut command)
    };
    // Also 7.11: a profile without hooks, but with something denied.
    for options in [&[][..], &["--sandbox", "devbox", "--deny", "secret"]] {
        for value in ["1", "0", "anything"] {
            let ran = start(options, value)?;
            ensure(ran.status == 125 && ran.out.is_empty(), &format!("{ran:?}"))?;
            ensure(ran.err.contains("__GROK_INSIDE_BWRAP"), &ran.err)?;
        }
        ensure(start(options, "")?.out == "RAN\n", "unset it runs")?;
    }
    // Where nothing is promised nothing can be spoofed.
    ensure(start(&["--sandbox", "off"], "1")?.out == "RAN\n", "off")
}

fn grok_6_8_settings_and_records_stay(world: &World) -> Outcome {
    world.write("work/.grok/sandbox.toml", "# mine\n")?;
    let settings = ["sandbox.toml", "config.toml", "requirements.toml", "sessions/a/summary.json"];
    for name in settings {
        world.write(&format!("home/.grok/{name}"), "# mine\n")?;
    }
    for profile in ["workspace", "read-only", "strict"] {
        let options = ["--sandbox", profile];
        for name in settings {
            let path = format!("~/.grok/{name}");
            world.denied(&options, &format!("printf '' >> {path}"))?;
            world.denied(
                &options,
                &format!("$EXE act rename {path} ~/.grok/n && mv ~/.grok/n {path}"),
            )?;
            world.allowed(&options, &format!("cat {path}"))?;
        }
        world.allowed(&options, "echo x > ~/.grok/beside")?;
    }
    world.denied(&[], "printf '' >> .grok/sandbox.toml")?;
    world.denied(&[], "$EXE act rename .grok g && mv g .grok")?;
    world.allowed(&[], "echo x > .grok/beside")?;
    world.allowed(&["--sandbox", "devbox"], "printf '' >> ~/.grok/config.toml")
}

fn grok_6_3_what_is_missing_comes_and_goes(world: &World) -> Outcome {
    let missing = ["sandbox.toml", "config.toml", "requirements.toml"];
    for name in missing {
        // An empty file, for a program that reads its settings.
        world.allowed(&[], &format!("test -f ~/.grok/{name} && ! test -s ~/.grok/{name}"))?;
        world.denied(&[], &format!("echo > ~/.grok/{name} && rm ~/.grok/{name}"))?;
    }
    world.denied(&[], "mkdir -p ~/.grok/sessions/a && rm -r ~/.grok/sessions")?;
    world.denied(&[], "mkdir -p .grok && echo > .grok/sandbox.toml && rm -r .grok")?;
    let left = world.bare("ls -A ~/.grok . | tr '\\n' ' '")?.out;
    let wanted = ".: plain secret  ";
    ensure(left.starts_with(wanted), &left)?;
    ensure(left.ends_with("hooks hooks-paths sandbox-events.jsonl "), &left)
}

fn grok_4_16_siblings_of_hooks_are_written(world: &World) -> Outcome {
    world.write("home/.grok/hooks/a.json", "{}")?;
    world.allowed(
        &[],
        "mkdir ~/.grok/beside && echo x > ~/.grok/beside/x && rm -r ~/.grok/beside",
    )?;
    for script in [
        "$EXE act rename ~/.grok ~/g && mv ~/g ~/.grok",
        "echo x > ~/.grok/hooks/b.json && rm ~/.grok/hooks/b.json",
        "rm ~/.grok/hooks/a.json && echo {} > ~/.grok/hooks/a.json",
    ] {
        world.denied(&[], script)?;
    }
    // No namespace of its own helps either.
    world.denied(&[], "unshare -Ur true")
}
