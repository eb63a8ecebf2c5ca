//! What is denied, by path and by glob.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Instant;

use crate::check::{Outcome, Test, ensure, tests};
use crate::world::World;

pub(crate) fn all() -> Vec<Test> {
    tests![
        grok_3_1_three_characters_make_a_glob,
        grok_3_2_exact_paths_join_the_workspace,
        grok_3_3_a_missing_path_counts_as_a_file,
        grok_3_8_relative_globs_stay_in_the_workspace,
        grok_3_9_a_glob_without_its_folder_matches_nothing,
        grok_3_10_limits_are_values_and_refuse,
        grok_3_12_hidden_names_and_other_mounts_are_walked,
        grok_3_13_files_folders_and_link_targets_match,
        grok_3_15_closed_folders_and_strange_names_are_covered,
        grok_3_16_a_refused_glob_starts_nothing,
        grok_3_17_what_is_made_later_is_not_covered,
        grok_3_18_lists_may_overlap,
        grok_3_19_ten_thousand_masks,
        grok_3_20_masks_cost_in_proportion,
        grok_3_21_folder_and_child_in_one_set,
        grok_3_22_an_absolute_symlink_is_covered,
        grok_3_24_errors_of_a_masked_file,
        grok_3_24_errors_of_a_masked_folder,
        grok_3_26_paths_of_dev_and_proc_are_covered,
    ]
}

fn failed(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn grok_3_1_three_characters_make_a_glob(world: &World) -> Outcome {
    for name in ["a+b", "a.b", "b1", "b2", "~"] {
        world.write(&format!("work/{name}"), "SECRET")?;
    }
    world.denied(&["--deny", "a+b"], "cat a+b")?;
    world.allowed(&["--deny", "a+b"], "cat a.b")?;
    for glob in ["b?", "b*", "b[12]"] {
        world.denied(&["--deny", glob], "cat b1")?;
        world.denied(&["--deny", glob], "cat b2")?;
    }
    // No character takes the meaning away.
    world.refused(&["--deny", "b\\*"], "not supported")
}

fn grok_3_2_exact_paths_join_the_workspace(world: &World) -> Outcome {
    world.write("work/dir/file", "SECRET")?;
    world.write("work/~/file", "SECRET")?;
    for spelled in ["secret", "./secret", "dir/../secret", "../work/secret", "dir/.././secret"] {
        world.denied(&["--deny", spelled, "--deny", "secret"], "cat secret")?;
    }
    world.denied(&["--deny", &world.text("work/secret")], "cat secret")?;
    world.denied(&["--deny", "dir/"], "cat dir/file")?;
    // Nobody expands a tilde; a folder of that name is named otherwise.
    world.refused(&["--deny", "~/file"], "not expanded")?;
    world.denied(&["--deny", "./~/file"], "cat \"$PWD/~/file\"")?;
    world.write("home/file", "HOME")?;
    world.allowed(&["--deny", "./~/file"], "cat ~/file")
}

fn grok_3_3_a_missing_path_counts_as_a_file(world: &World) -> Outcome {
    let deny = ["--deny", "late"];
    world.denied(&deny, "mkdir late && rmdir late")?;
    world.denied(&deny, "echo x > late && rm late")?;
    world.allowed(&deny, "test -f late && test ! -d late")
}

fn grok_3_8_relative_globs_stay_in_the_workspace(world: &World) -> Outcome {
    world.write("work/in/x.pem", "SECRET")?;
    world.write("outside/x.pem", "FAR")?;
    world.denied(&["--deny", "**/*.pem"], "cat in/x.pem")?;
    world.allowed(&["--deny", "**/*.pem"], "cat $W/outside/x.pem")?;
    let absolute = format!("{}/**/*.pem", world.text("outside"));
    world.denied(&["--deny", &absolute], "cat $W/outside/x.pem")?;
    world.allowed(&["--deny", &absolute], "cat in/x.pem")?;
    // A workspace whose name would be read as a glob.
    world.write("w[a]/x.pem", "SECRET")?;
    let strange = world.text("w[a]");
    world.refused(&["--workspace", &strange, "--deny", "*.pem"], "reads as a glob")?;
    let nameless = world.at("").join(OsStr::from_bytes(b"w\xff"));
    fs::create_dir(&nameless).map_err(failed)?;
    let mut sandbox = world.sandbox(&["--deny", "*.pem", "--workspace"]);
    let ran = crate::world::run(sandbox.arg(&nameless).args(["--", "true"]))?;
    ensure(ran.status == 125, &format!("{ran:?}"))
}

fn grok_3_9_a_glob_without_its_folder_matches_nothing(world: &World) -> Outcome {
    world.write("work/certs/deep/x.pem", "SECRET")?;
    world.write("work/x.pem", "PLAIN")?;
    let deny = ["--deny", "certs/**/*.pem", "--deny", "none/at/all/*.pem", "--deny", "/no/*"];
    world.denied(&deny, "cat certs/deep/x.pem")?;
    world.allowed(&deny, "cat x.pem")
}

fn grok_3_10_limits_are_values_and_refuse(world: &World) -> Outcome {
    for name in ["d/1.pem", "d/2.pem", "d/e/3.pem"] {
        world.write(&format!("work/{name}"), "SECRET")?;
    }
    let place = world.text("work/d");
    // Entries: d, two files, e, one file. Depth: d, e.
    for (option, enough) in [("--glob-matches", 3), ("--glob-entries", 5), ("--glob-depth", 2)] {
        let (enough, short) = (enough.to_string(), (enough - 1).to_string());
        world.denied(&["--deny", "d/**/*.pem", option, &enough], "cat d/e/3.pem")?;
        let options = ["--deny", "d/**/*.pem", option, &short];
        for why in ["d/**/*.pem`", &format!("more than {short} "), &place, "stopped at", option] {
            world.refused(&options, why)?;
        }
    }
    world.refused(&["--deny", "*", "--glob-depth", "x"], "invalid value")
}

fn grok_3_12_hidden_names_and_other_mounts_are_walked(world: &World) -> Outcome {
    for name in [".hidden/x.pem", ".git/x.pem", "ignored/x.pem"] {
        world.write(&format!("work/{name}"), "SECRET")?;
        world.denied(&["--deny", "**/*.pem"], &format!("cat {name}"))?;
    }
    world.write("work/.gitignore", "ignored")?;
    world.denied(&["--deny", "**/*.pem"], "cat ignored/x.pem")?;
    // From the root file system into /dev and /proc, which are mounts.
    world.denied(&["--deny", "/[d]ev/zer?"], "head -c1 /dev/zero")?;
    world.denied(&["--deny", "/[p]roc/versio?"], "cat /proc/version")?;
    world.allowed(&["--deny", "/[d]ev/zer?"], "head -c1 /dev/urandom")
}

fn grok_3_13_files_folders_and_link_targets_match(world: &World) -> Outcome {
    world.write("work/dir.d/file", "SECRET")?;
    world.write("work/plain.d", "SECRET")?;
    world.write("work/real/deep/x.d", "PLAIN")?;
    for (link, target) in [("link.d", "outside/far"), ("into", "work/real"), ("gone.d", "none")] {
        symlink(world.at(target), world.at(&format!("work/{link}"))).map_err(failed)?;
    }
    let deny = ["--deny", "*.d"];
    for path in ["dir.d/file", "plain.d", "link.d", "$W/outside/far"] {
        world.denied(&deny, &format!("cat {path}"))?;
    }
    // The link itself is closed, what it would lead to does not match and may be made.
    world.denied(&deny, "$EXE act rename gone.d g && mv g gone.d")?;
    // Found through a folder that is a link only where the glob names it.
    world.allowed(&["--deny", "into*/*.d", "--deny", "**/none.d"], "cat real/deep/x.d")?;
    world.denied(&["--deny", "into/deep/*.d"], "cat real/deep/x.d")?;
    world.denied(&["--deny", "into/deep/*.d"], "cat into/deep/x.d")
}

fn grok_3_15_closed_folders_and_strange_names_are_covered(world: &World) -> Outcome {
    let strange = world.at("work").join(OsStr::from_bytes(b"\xff.pem"));
    fs::write(&strange, "SECRET").map_err(failed)?;
    fs::set_permissions(&strange, fs::Permissions::from_mode(0o644)).map_err(failed)?;
    world.denied(&["--deny", "*.pem"], "cat *.pem")?;
    world.write("work/closed/x.pem", "SECRET")?;
    let mode =
        |mode| fs::set_permissions(world.at("work/closed"), fs::Permissions::from_mode(mode));
    mode(0o000).map_err(failed)?;
    let script = "chmod 700 closed && cat closed/x.pem && chmod 000 closed";
    let outcome = world.denied(&["--deny", "**/x.pem"], script);
    mode(0o700).map_err(failed)?;
    outcome
}

fn grok_3_16_a_refused_glob_starts_nothing(world: &World) -> Outcome {
    for glob in
        ["{a,b}*", "a//*", "*/", "./*", "../*", "a**b", "[]a]", "[[:alpha:]]", "[ab", "[z-a]"]
    {
        world.refused(&["--deny", glob], glob)?;
        world.refused(&["--sandbox", "off", "--deny", glob], glob)?;
    }
    ensure(!world.at("home/.grok").exists(), "a refusal left something behind")
}

/// On macOS it would be: the regular expression is asked at each access.
fn grok_3_17_what_is_made_later_is_not_covered(world: &World) -> Outcome {
    world.write("work/early.pem", "SECRET")?;
    let deny = ["--deny", "*.pem"];
    world.denied(&deny, "cat early.pem")?;
    world.allowed(&deny, "echo late > late.pem && grep late late.pem && rm late.pem")?;
    let explained = world.confined(&["--deny", "*.pem", "--explain"], "true")?.out;
    ensure(explained.contains("made later"), &format!("it is not said: {explained}"))
}

fn grok_3_18_lists_may_overlap(world: &World) -> Outcome {
    world.write("work/dir/x.pem", "SECRET")?;
    let deny = ["--deny", "dir", "--deny", "**/*.pem", "--deny", "dir/x.pem", "--deny", "d?r/*"];
    world.denied(&deny, "cat dir/x.pem")?;
    world.denied(&deny, "ls dir")?;
    world.allowed(&deny, "cat plain")
}

/// Makes so many files that `*.pem` matches.
fn many(world: &World, count: usize) -> Outcome {
    world.folder("work/many")?;
    for number in 0..count {
        fs::write(world.at(&format!("work/many/{number}.pem")), "S").map_err(failed)?;
    }
    Ok(())
}

fn grok_3_19_ten_thousand_masks(world: &World) -> Outcome {
    many(world, 10_000)?;
    let deny = ["--deny", "many/*.pem"];
    world.refused(&deny, "more than 4096 matches")?;
    let deny = ["--deny", "many/*.pem", "--glob-matches", "10000"];
    let script = "cat many/*.pem 2>&1 | grep -c 'Permission denied'; cat many/*.pem 2>/dev/null";
    let ran = world.confined(&deny, script)?;
    ensure(ran.out == "10000\n", &format!("not every file is closed: {ran:?}"))?;
    let bare = world.bare("cat many/*.pem | wc -c")?;
    ensure(bare.out.trim() == "10000", &format!("{bare:?}"))
}

/// Ten times as many masks take about ten times as long, not a hundred times.
fn grok_3_20_masks_cost_in_proportion(world: &World) -> Outcome {
    many(world, 5000)?;
    let seconds = |glob: &str| {
        let deny = ["--sandbox", "off", "--glob-matches", "5000", "--deny", glob];
        let once = || {
            let start = Instant::now();
            let ran = world.confined(&deny, "true")?;
            ensure(ran.ok(), &format!("{ran:?}"))?;
            Ok(start.elapsed().as_secs_f64())
        };
        let times: Result<Vec<f64>, String> = (0..3).map(|_| once()).collect();
        times.map(|times| times.into_iter().fold(f64::INFINITY, f64::min))
    };
    let (few, many) = (seconds("many/[1-4]??.pem")?, seconds("many/*.pem")?);
    ensure(many < few * 40.0, &format!("400 masks: {few} s, 5000 masks: {many} s"))
}

fn grok_3_21_folder_and_child_in_one_set(world: &World) -> Outcome {
    world.write("work/secrets/sub/deep/file", "SECRET")?;
    world.write("work/secrets/file", "SECRET")?;
    for deny in [
        &["--deny", "secrets/**"][..],
        &["--deny", "secrets/sub/deep/file", "--deny", "secrets/sub", "--deny", "secrets/file"],
    ] {
        world.denied(deny, "cat secrets/sub/deep/file")?;
        world.denied(deny, "ls secrets/sub")?;
        world.denied(deny, "cat secrets/file")?;
        world.allowed(deny, "ls secrets && echo x > secrets/new && rm secrets/new")?;
    }
    Ok(())
}

fn grok_3_22_an_absolute_symlink_is_covered(world: &World) -> Outcome {
    world.write("outside/key", "SECRET")?;
    symlink(world.at("outside/key"), world.at("work/absolute.pem")).map_err(failed)?;
    symlink("../outside/far", world.at("work/relative.pem")).map_err(failed)?;
    for deny in [&["--deny", "*.pem"][..], &["--deny", "absolute.pem", "--deny", "relative.pem"]] {
        for path in ["absolute.pem", "relative.pem", "$W/outside/key", "$W/outside/far"] {
            world.denied(deny, &format!("cat {path}"))?;
        }
        world.denied(deny, "$EXE act rename absolute.pem x && mv x absolute.pem")?;
    }
    Ok(())
}

/// The errors that acts end with, in this order.
pub(crate) fn errors(world: &World, options: &[&str], expected: &[(&str, &str)]) -> Outcome {
    for (act, error) in expected {
        let ran = world.confined(options, &format!("$EXE act {act}"))?;
        let named = error.split(" or ").map(number).collect::<Result<Vec<i32>, String>>()?;
        let found = named.iter().any(|number| ran.err.contains(&format!("(os error {number})")));
        ensure(ran.status == 1 && found, &format!("{act} should give {error}: {ran:?}"))?;
    }
    Ok(())
}

fn number(error: &str) -> Result<i32, String> {
    match error {
        "EACCES" => Ok(libc::EACCES),
        "EROFS" => Ok(libc::EROFS),
        "EBUSY" => Ok(libc::EBUSY),
        "EXDEV" => Ok(libc::EXDEV),
        _ => Err(format!("no number for {error}")),
    }
}

fn grok_3_24_errors_of_a_masked_file(world: &World) -> Outcome {
    let expected = [
        ("file read secret", "EACCES"),
        ("file append secret", "EACCES"),
        ("file write secret", "EROFS"),
        ("file truncate secret", "EROFS or EACCES"), // which check comes first is the kernel's
        ("file chmod secret", "EROFS"),
        ("rename secret moved", "EBUSY"),
        ("link secret linked", "EXDEV"),
        ("file unlink secret", "EBUSY"),
    ];
    errors(world, &["--sandbox", "off", "--deny", "secret"], &expected)?;
    errors(
        world,
        &["--deny", "secret"],
        &[("file read secret", "EACCES"), ("file chmod secret", "EROFS")],
    )?;
    let bare = "$EXE act file read secret && $EXE act file append secret && $EXE act file chmod secret && \
                $EXE act link secret l && $EXE act rename secret m && $EXE act file unlink m && \
                $EXE act file truncate l";
    let bare = world.bare(bare)?;
    ensure(bare.ok(), &format!("does not work without sandbox: {bare:?}"))
}

fn grok_3_24_errors_of_a_masked_folder(world: &World) -> Outcome {
    world.write("work/dir/file", "SECRET")?;
    world.folder("work/empty")?;
    let expected = [
        ("file list dir", "EACCES"),
        ("file create dir/new", "EACCES"),
        ("file read dir/file", "EACCES"),
        ("rename dir moved", "EBUSY"),
        ("file rmdir empty", "EBUSY"),
    ];
    errors(world, &["--sandbox", "off", "--deny", "dir", "--deny", "empty"], &expected)?;
    let bare = "$EXE act file list dir && $EXE act file create dir/new && $EXE act file read dir/file && \
                $EXE act rename dir moved && $EXE act file rmdir empty";
    let bare = world.bare(bare)?;
    ensure(bare.ok(), &format!("does not work without sandbox: {bare:?}"))
}

fn grok_3_26_paths_of_dev_and_proc_are_covered(world: &World) -> Outcome {
    for options in [&[][..], &["--sandbox", "off"], &["--sandbox", "devbox"]] {
        let with = |path| [options, &["--deny", path]].concat();
        world.denied(&with("/proc/version"), "cat /proc/version")?;
        world.denied(&with("/dev/zero"), "head -c1 /dev/zero")?;
        world.denied(&with("/proc/sys/kernel"), "cat /proc/sys/kernel/hostname")?;
        world.denied(&with("/dev/zer?"), "head -c1 /dev/zero")?;
        world.allowed(&with("/dev/zero"), "head -c1 /dev/urandom; echo x > /dev/null")?;
    }
    world.refused(&["--deny", "/proc/self/environ"], "another file in every process")
}
