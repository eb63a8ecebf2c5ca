//! What the mounts bring about, and how that is known before the command starts.

use std::fs;
use std::path::Path;

use crate::check::{Outcome, Test, ensure, tests};
use crate::deny::errors;
use crate::world::{World, run};

pub(crate) fn all() -> Vec<Test> {
    tests![
        grok_3_25_parents_of_a_denied_path_are_pinned,
        grok_3_25_pins_cost_renames_and_links_across_them,
        grok_3_25_without_pins_only_the_folders_move,
        grok_4_8_mounts_are_made_when_something_needs_them,
        grok_4_9_a_variable_is_no_proof_of_being_inside,
        grok_4_10_only_mounts_and_privileges_are_taken,
        grok_4_11_nothing_is_left_in_grok_home,
        grok_4_12_the_status_comes_through_bwrap,
        grok_4_13_folders_above_hooks_are_pinned_and_writable,
        grok_4_16_errors_of_protected_paths,
        grok_4_16_no_nested_namespace_lifts_a_cover,
        explain_says_what_enforces_each_promise,
        explain_says_what_is_not_enforced,
        strict_enforcement_refuses_what_is_given_up,
    ]
}

fn grok_3_25_parents_of_a_denied_path_are_pinned(world: &World) -> Outcome {
    world.write("work/a/b/deep", "SECRET")?;
    for options in [&[][..], &["--sandbox", "off"], &["--sandbox", "devbox"]] {
        let deny = [options, &["--deny", "a/b/deep"]].concat();
        for folder in ["a", "a/b"] {
            let script = format!("$EXE act rename {folder} moved && mv moved {folder}");
            world.denied(&deny, &script)?;
        }
        world.denied(&deny, "$EXE act rename $W/work $W/work2 && mv $W/work2 $W/work")?;
        world.allowed(&deny, "echo x > a/b/beside && rm a/b/beside && mkdir a/c && rmdir a/c")?;
    }
    // The pins of a missing path hold as well, and of a match.
    world.denied(&["--deny", "a/late"], "$EXE act rename a x && mv x a")?;
    world.denied(&["--deny", "**/deep"], "$EXE act rename a x && mv x a")
}

/// A folder `a/b` is pinned; `a/free` and `top` are not.
fn with_pins(world: &World) -> Outcome {
    world.write("work/a/b/secret", "SECRET")?;
    world.write("work/a/b/file", "FILE")?;
    world.write("work/a/free/file", "FILE")?;
    world.folder("work/top")
}

const PINNED: [&str; 4] = ["--sandbox", "off", "--deny", "a/b/secret"];

fn grok_3_25_pins_cost_renames_and_links_across_them(world: &World) -> Outcome {
    with_pins(world)?;
    let expected = [
        ("rename a/b/file top/file", "EXDEV"),
        ("link a/b/file top/file", "EXDEV"),
        ("rename top a/b/top", "EXDEV"),
        ("rename a/b a/moved", "EBUSY"),
    ];
    errors(world, &PINNED, &expected)?;
    // mv copies; ln fails; on one side of a pin both are as always.
    world.allowed(&PINNED, "mv a/b/file top/file && mv top/file a/b/file && test -s a/b/file")?;
    world.denied(&PINNED, "ln a/b/file top/file && rm top/file")?;
    world.allowed(&PINNED, "ln a/b/file a/b/l && mv a/b/l a/b/m && rm a/b/m")?;
    world.allowed(&PINNED, "$EXE act rename a/free/file a/free/f && mv a/free/f a/free/file")?;
    if Path::new("/usr/local/bin/git").exists() || Path::new("/usr/bin/git").exists() {
        let git = "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b \
                   GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; git init -q . && \
                   git add a/b/file && git commit -qm one && ";
        let moved = world.confined(&PINNED, &format!("{git} git mv a/b/file top/file"))?;
        ensure(!moved.ok() && moved.err.contains("cross-device"), &format!("{moved:?}"))?;
        let moved = world.bare("git mv a/b/file top/file")?;
        ensure(moved.ok(), &format!("does not work without sandbox: {moved:?}"))?;
    }
    Ok(())
}

fn grok_3_25_without_pins_only_the_folders_move(world: &World) -> Outcome {
    with_pins(world)?;
    let loose = [&PINNED[..], &["--no-deny-pins", "--protect", "plain"]].concat();
    let ran = world.confined(&loose, "true")?;
    ensure(ran.err.contains("warning: --no-deny-pins"), &format!("not said: {ran:?}"))?;
    world.allowed(
        &loose,
        "$EXE act rename a/b/file top/file && $EXE act link top/file a/b/file && rm top/file && \
         $EXE act rename a/b a/moved && $EXE act rename a/moved a/b",
    )?;
    // All else is as before, also after the folder has moved.
    world.denied(&loose, "cat a/b/secret")?;
    world.denied(&loose, "$EXE act rename a/b/secret a/s && mv a/s a/b/secret")?;
    let ran = world.confined(&loose, "mv a/b a/c && ! cat a/c/secret && mv a/c a/b")?;
    ensure(ran.ok() && ran.out.is_empty(), &format!("{ran:?}"))?;
    world.denied(&loose, "echo PLAIN > plain")?;
    world.denied(&loose, "$EXE act rename $W/work $W/w && mv $W/w $W/work")?;
    let quiet = world.confined(&["--no-deny-pins"], "true")?;
    ensure(quiet.err.is_empty(), &format!("nothing is denied: {quiet:?}"))
}

fn namespaces(world: &World, options: &[&str]) -> Result<Vec<String>, String> {
    let script = "readlink /proc/self/ns/mnt /proc/self/ns/net /proc/self/ns/pid";
    let ran = world.confined(options, script)?;
    Ok(ran.out.lines().map(str::to_owned).collect())
}

fn grok_4_8_mounts_are_made_when_something_needs_them(world: &World) -> Outcome {
    let host = world.bare("readlink /proc/self/ns/mnt")?.out;
    let own = |options: &[&str]| {
        namespaces(world, options).map(|seen| seen.first().is_some_and(|mnt| *mnt != host.trim()))
    };
    ensure(!own(&["--sandbox", "off"])?, "off made mounts")?;
    for options in [
        &["--sandbox", "off", "--deny", "secret"][..],
        &["--sandbox", "off", "--deny", "s*"],
        &["--sandbox", "off", "--protect", "plain"],
        &["--sandbox", "devbox"],
        &[],
    ] {
        ensure(own(options)?, &format!("{options:?} made no mounts"))?;
    }
    Ok(())
}

fn grok_4_9_a_variable_is_no_proof_of_being_inside(world: &World) -> Outcome {
    let mut sandbox = world.sandbox(&["--deny", "secret"]);
    sandbox.env("__GROK_INSIDE_BWRAP", "1").args(["--", "cat", "plain", "secret"]);
    let ran = run(&mut sandbox)?;
    ensure(ran.status == 125 && ran.out.is_empty(), &format!("{ran:?}"))?;
    // Nor is the hidden option by which bwrap hands over.
    let ran = run(world.sandbox(&[]).args(["--stage", "0", "--", "cat", "secret"]))?;
    ensure(ran.status == 125 && ran.out.is_empty(), &format!("{ran:?}"))
}

fn grok_4_10_only_mounts_and_privileges_are_taken(world: &World) -> Outcome {
    let host = world.bare("readlink /proc/self/ns/net /proc/self/ns/pid")?.out;
    let seen = namespaces(world, &["--deny", "secret"])?;
    let same = seen.get(1..).is_some_and(|rest| rest.join("\n") == host.trim());
    ensure(same, &format!("network and process names are not shared: {seen:?} {host}"))?;
    let status = world.confined(&["--deny", "secret"], "cat /proc/self/status")?.out;
    for line in ["CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"] {
        ensure(status.contains(line), &format!("{line} is not in {status}"))?;
    }
    world.allowed(&["--deny", "secret"], "test -r /proc/self/status && test -c /dev/null")
}

fn grok_4_11_nothing_is_left_in_grok_home(world: &World) -> Outcome {
    world.allowed(&[], "true")?;
    let list = || world.bare("find ~/.grok | sort").map(|ran| ran.out);
    let before = list()?;
    world.write("work/dir/file", "SECRET")?;
    let inside =
        world.confined(&["--deny", "secret", "--deny", "dir"], "stat -c '%F %a' secret dir")?;
    ensure(inside.out == "regular empty file 0\ndirectory 0\n", &format!("{inside:?}"))?;
    let after = list()?;
    ensure(before == after, &format!("left in GROK_HOME: {before} {after}"))
}

fn grok_4_12_the_status_comes_through_bwrap(world: &World) -> Outcome {
    if !Path::new("/usr/bin/bwrap").exists() {
        return world.refused(&["--without", "own-mounts"], "install bubblewrap");
    }
    for (script, status) in [("exit 0", 0), ("exit 7", 7), ("exit 125", 125), ("kill -9 $$", 137)] {
        let ran = world.confined(&["--without", "own-mounts", "--deny", "secret"], script)?;
        ensure(ran.status == status, &format!("{script}: {ran:?}"))?;
    }
    Ok(())
}

fn grok_4_13_folders_above_hooks_are_pinned_and_writable(world: &World) -> Outcome {
    world.write("home/.grok/hooks/a.json", "{}")?;
    world.write("work/tools/deep/hook.sh", "HOOK")?;
    world.write("home/.grok/hooks-paths", &world.text("work/tools/deep/hook.sh"))?;
    for (folder, moved) in
        [("tools", "t"), ("tools/deep", "tools/d"), ("~/.grok/hooks", "~/.grok/h")]
    {
        world.denied(&[], &format!("$EXE act rename {folder} {moved} && mv {moved} {folder}"))?;
    }
    world.denied(&[], "echo x >> ~/.grok/hooks/a.json")?;
    world.denied(&[], "echo x >> tools/deep/hook.sh")?;
    world.allowed(&[], "echo x > tools/deep/new && rm tools/deep/new && echo x > ~/.grok/new")
}

fn grok_4_16_errors_of_protected_paths(world: &World) -> Outcome {
    world.write("work/a/conf/file", "CONF")?;
    let expected = [
        ("rename a b", "EBUSY"),
        ("file create a/conf/new", "EROFS"),
        ("file append a/conf/file", "EROFS"),
        ("rename a/conf a/c", "EBUSY"),
        ("file rmdir a/conf", "EBUSY"),
    ];
    errors(world, &["--sandbox", "off", "--protect", "a/conf"], &expected)?;
    world
        .allowed(&["--protect", "a/conf"], "cat a/conf/file && echo x > a/beside && rm a/beside")?;
    let bare = world.bare("$EXE act file append a/conf/file && $EXE act rename a/conf a/c")?;
    ensure(bare.ok(), &format!("does not work without sandbox: {bare:?}"))
}

fn grok_4_16_no_nested_namespace_lifts_a_cover(world: &World) -> Outcome {
    for options in [&["--deny", "secret"][..], &["--sandbox", "off", "--deny", "secret"]] {
        world.denied(options, "unshare -Urm true")?;
        let script = "unshare -Urm sh -c 'umount secret; cat secret'; umount secret; cat secret";
        let ran = world.confined(options, script)?;
        ensure(!ran.out.contains("SECRET"), &format!("{ran:?}"))?;
    }
    Ok(())
}

fn explained(world: &World, options: &[&str]) -> Result<String, String> {
    let ran = world.confined(&[options, &["--explain"]].concat(), "echo it-was-run")?;
    ensure(ran.ok() && !ran.out.contains("it-was-run"), &format!("{ran:?}"))?;
    Ok(ran.out)
}

fn explain_says_what_enforces_each_promise(world: &World) -> Outcome {
    world.write("work/a/x.pem", "SECRET")?;
    let before = world.bare("find $W -newer plain | sort")?.out;
    let text = explained(
        world,
        &["--deny", "secret", "--deny", "**/*.pem", "--protect", "plain", "--network", "blocked"],
    )?;
    for line in [
        "profile workspace",
        &format!("denies {}", world.text("work/secret")),
        &format!("denies by glob {}/**/*.pem", world.text("work")),
        "globs match 1 paths now",
        &format!("protects {}", world.text("work/plain")),
        "what is read: Landlock ABI ",
        "what is written: Landlock ABI ",
        "signals to other processes: Landlock ABI ",
        "covers: 2 masks, ",
        "denied and protected paths: own mounts",
        "that their folders stay where they are: own mounts",
        "price of pins: rename and link between a pinned folder and another answer EXDEV",
        "the blocked network: seccomp, network namespace",
        "that the sandbox cannot be undone: seccomp",
        "shared memory: an own, empty /dev/shm",
        "core dumps: off",
    ] {
        ensure(text.contains(line), &format!("`{line}` is not in: {text}"))?;
    }
    ensure(!text.contains("NOT ENFORCED"), &text)?;
    let after = world.bare("find $W -newer plain | sort")?.out;
    ensure(before == after, &format!("something was made: {after}"))
}

fn explain_says_what_is_not_enforced(world: &World) -> Outcome {
    let cases: [(&[&str], &str); 4] = [
        (&["--without", "landlock"], "what is read: NOT ENFORCED; use a kernel with Landlock"),
        (
            &["--without", "mounts", "--deny", "secret"],
            "denied and protected paths: NOT ENFORCED; allow user namespaces, or install bubblewrap",
        ),
        (
            &["--without", "seccomp", "--network", "blocked"],
            "that the sandbox cannot be undone: NOT",
        ),
        (
            &["--no-deny-pins", "--deny", "secret"],
            "folders of denied paths stay where they are: NOT ENFORCED; start without --no-deny-pins",
        ),
    ];
    for (options, line) in cases {
        let text = explained(world, options)?;
        ensure(text.contains(line), &format!("`{line}` is not in: {text}"))?;
    }
    Ok(())
}

fn strict_enforcement_refuses_what_is_given_up(world: &World) -> Outcome {
    let strict = ["--strict-enforcement", "--deny", "secret"];
    world.denied(&strict, "cat secret")?;
    world.refused(&[&strict[..], &["--no-deny-pins"]].concat(), "--no-deny-pins")?;
    for mechanism in ["landlock", "seccomp", "mounts"] {
        world.refused(&[&strict[..], &["--without", mechanism]].concat(), mechanism)?;
    }
    fs::hard_link(world.at("work/plain"), world.at("outside/plain")).map_err(|e| e.to_string())?;
    world.refused(&["--strict-enforcement", "--deny", "p*"], "has 1 other names")?;
    world.denied(&["--deny", "p*"], "cat plain")
}
