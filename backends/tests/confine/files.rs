//! What can be read and written.

use std::fs;
use std::os::unix::fs::symlink;

use crate::check::{Outcome, Test, ensure, test};
use crate::world::World;

pub(crate) fn all() -> Vec<Test> {
    vec![
        test("denied_file_is_closed", denied_file_is_closed),
        test("denied_file_stays_where_it_is", denied_file_stays_where_it_is),
        test("folders_of_a_denied_file_are_pinned", folders_of_a_denied_file_are_pinned),
        test("denied_folder_is_closed", denied_folder_is_closed),
        test("denied_symlink_is_closed_at_both_ends", denied_symlink_is_closed_at_both_ends),
        test("hard_links_of_a_denied_file_are_closed", hard_links_of_a_denied_file_are_closed),
        test("globs_close_what_they_match", globs_close_what_they_match),
        test("denied_paths_of_proc_and_dev_are_closed", denied_paths_of_proc_and_dev_are_closed),
        test("a_missing_denied_path_stays_closed", a_missing_denied_path_stays_closed),
        test("workspace_writes_its_roots_only", workspace_writes_its_roots_only),
        test("read_only_does_not_write_the_workspace", read_only_does_not_write_the_workspace),
        test("strict_reads_its_roots_only", strict_reads_its_roots_only),
        test("devbox_writes_beside_the_workspace", devbox_writes_beside_the_workspace),
        test("off_limits_nothing_but_the_denied", off_limits_nothing_but_the_denied),
        test("more_roots_can_be_given", more_roots_can_be_given),
        test("the_whole_tree_can_be_a_write_root", the_whole_tree_can_be_a_write_root),
        test("words_that_nobody_expands_are_refused", words_that_nobody_expands_are_refused),
        test("protected_file_is_read_and_not_written", protected_file_is_read_and_not_written),
        test("missing_protected_path_is_not_made", missing_protected_path_is_not_made),
        test("metadata_is_protected", metadata_is_protected),
        test("bad_requests_are_refused", bad_requests_are_refused),
    ]
}

const DENY: [&str; 2] = ["--deny", "secret"];

fn denied_file_is_closed(world: &World) -> Outcome {
    world.denied(&DENY, "cat secret")?;
    world.denied(&DENY, "cat $W/work/secret")?;
    world.denied(&DENY, "cat /proc/self/cwd/secret")?;
    world.denied(&DENY, "cat /proc/self/root$W/work/secret")?;
    world.with_victim(|pid| {
        world.denied(&DENY, &format!("cat /proc/{pid}/root$W/work/secret"))?;
        world.denied(&DENY, &format!("cat /proc/{pid}/cwd/secret"))
    })?;
    let script = "cat /proc/$PPID/root$W/work/secret";
    ensure(!world.confined(&DENY, script)?.ok(), "the supervisor shows the host's mounts")?;
    world.denied(&DENY, "echo >> secret")?;
    world.denied(&DENY, "chmod 600 secret")?;
    world.allowed(&DENY, "cat plain && echo new > new && rm new")?;
    ensure(world.read("work/secret").starts_with("SECRET"), "the denied file changed")
}

fn denied_file_stays_where_it_is(world: &World) -> Outcome {
    world.denied(&DENY, "$EXE act rename secret moved && mv moved secret")?;
    world.denied(&DENY, "$EXE act link secret linked && rm linked")?;
    world.denied(&DENY, "$EXE act swap secret plain && $EXE act swap secret plain")?;
    world.denied(&DENY, "rm secret && echo again > secret")?;
    world.allowed(&DENY, "$EXE act rename plain p && $EXE act link p plain && rm p")
}

fn folders_of_a_denied_file_are_pinned(world: &World) -> Outcome {
    world.write("work/a/b/deep", "DEEP")?;
    let deny = ["--deny", "a/b/deep"];
    for folder in ["a", "a/b"] {
        let script = format!("$EXE act rename {folder} moved && mv moved {folder}");
        world.denied(&deny, &script)?;
    }
    world.denied(&deny, "$EXE act rename $W/work $W/work2 && mv $W/work2 $W/work")?;
    world.allowed(&deny, "echo x > a/b/beside && rm a/b/beside && mkdir a/c && rmdir a/c")
}

fn denied_folder_is_closed(world: &World) -> Outcome {
    world.write("work/dir/sub/file", "SECRET")?;
    // A folder and what lies in it may both be named.
    let deny = ["--deny", "dir", "--deny", "dir/sub/file"];
    world.denied(&deny, "ls dir")?;
    world.denied(&deny, "cat dir/sub/file")?;
    world.denied(&deny, "echo x > dir/new && rm dir/new")?;
    world.denied(&deny, "$EXE act rename dir moved && mv moved dir")
}

fn denied_symlink_is_closed_at_both_ends(world: &World) -> Outcome {
    symlink(world.at("outside/far"), world.at("work/link")).map_err(|e| e.to_string())?;
    let deny = ["--deny", "link"];
    world.denied(&deny, "cat link")?;
    world.denied(&deny, "cat $W/outside/far")?;
    world.denied(&deny, "$EXE act rename link moved && mv moved link")?;
    world.allowed(&deny, "cat plain")
}

fn hard_links_of_a_denied_file_are_closed(world: &World) -> Outcome {
    for alias in ["work/alias", "outside/alias"] {
        fs::hard_link(world.at("work/secret"), world.at(alias)).map_err(|e| e.to_string())?;
        world.denied(&DENY, &format!("cat $W/{alias}"))?;
    }
    world.allowed(&DENY, "cat plain $W/outside/far")
}

fn globs_close_what_they_match(world: &World) -> Outcome {
    world.write("work/.env", "SECRET")?;
    world.write("work/a/b/.env", "SECRET")?;
    world.write("work/certs/deep/key.pem", "SECRET")?;
    symlink(world.at("outside/far"), world.at("work/link.pem")).map_err(|e| e.to_string())?;
    let deny = ["--deny", "**/.env", "--deny", "**/*.pem", "--deny", "certs/**"];
    for file in [".env", "a/b/.env", "certs/deep/key.pem", "link.pem", "$W/outside/far"] {
        world.denied(&deny, &format!("cat {file}"))?;
    }
    world.denied(&deny, "$EXE act rename a x && mv x a")?;
    world.allowed(&deny, "cat plain secret")
}

fn denied_paths_of_proc_and_dev_are_closed(world: &World) -> Outcome {
    world.denied(&["--deny", "/proc/version"], "cat /proc/version")?;
    world.denied(&["--deny", "/dev/zero"], "head -c1 /dev/zero")?;
    world.denied(&["--sandbox", "off", "--deny", "/dev/zero"], "head -c1 /dev/zero")?;
    world.allowed(&["--deny", "/dev/zero"], "head -c1 /dev/urandom; echo x > /dev/null")
}

fn a_missing_denied_path_stays_closed(world: &World) -> Outcome {
    let deny = ["--deny", "late", "--deny", "made/up/late"];
    world.denied(&deny, "echo x > late && rm late")?;
    world.denied(&deny, "mkdir -p made/up && echo x > made/up/late && rm -r made")?;
    // The host writes it while the command runs.
    let script = "echo ready; read line; cat late";
    let mut child = world
        .sandbox(&deny)
        .args(["--", "sh", "-c", script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    wait_for_line(&mut child)?;
    fs::write(world.at("work/late"), "LATE").map_err(|e| e.to_string())?;
    drop(child.stdin.take());
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    ensure(!output.status.success() && output.stdout.is_empty(), "the late file was read")?;
    ensure(world.read("work/late") == "LATE", "the late file was removed")?;
    fs::remove_file(world.at("work/late")).map_err(|e| e.to_string())?;
    world.allowed(&deny, "cat plain")?;
    ensure(!world.at("work/late").exists(), "a stub was left")?;
    ensure(!world.at("work/made").exists(), "the folder of a stub was left")
}

/// Reads the first line of a child byte by byte, leaving the rest.
pub(crate) fn wait_for_line(child: &mut std::process::Child) -> Outcome {
    use std::io::Read;
    let out = child.stdout.as_mut().ok_or("no output")?;
    let mut byte = [0];
    while byte != [b'\n'] {
        if out.read(&mut byte).map_err(|e| e.to_string())? == 0 {
            let mut err = String::new();
            if let Some(stderr) = child.stderr.as_mut() {
                stderr.read_to_string(&mut err).map_err(|e| e.to_string())?;
            }
            return Err(format!("the command ended early: {err}"));
        }
    }
    Ok(())
}

fn workspace_writes_its_roots_only(world: &World) -> Outcome {
    let out = "$W/outside";
    world.denied(&[], &format!("echo x > {out}/new && rm {out}/new"))?;
    world.denied(&[], &format!("echo FAR > {out}/far"))?;
    world.denied(&[], &format!("chmod 640 {out}/far && chmod 644 {out}/far"))?;
    world.denied(&[], &format!("touch {out}/far"))?;
    world.denied(&[], &format!("mkdir {out}/d && rmdir {out}/d"))?;
    world.denied(&[], "echo x > ~/new && rm ~/new")?;
    world.allowed(&[], "cat $W/outside/far")?;
    for root in ["$W/work", "$TMPDIR", "~/.grok", "/tmp", "/var/tmp"] {
        let name = format!("{root}/confine-new-$$");
        world.allowed(&[], &format!("echo x > {name} && chmod 600 {name} && rm {name}"))?;
    }
    world.allowed(&[], "mkdir d && $EXE act rename plain d/plain && mv d/plain . && rmdir d")
}

fn read_only_does_not_write_the_workspace(world: &World) -> Outcome {
    let options = ["--sandbox", "read-only"];
    world.denied(&options, "echo x > new && rm new")?;
    world.denied(&options, "chmod 640 plain && chmod 644 plain")?;
    world.allowed(&options, "cat plain $W/outside/far && echo x > $TMPDIR/n && echo x > ~/.grok/n")
}

fn strict_reads_its_roots_only(world: &World) -> Outcome {
    let options = ["--sandbox", "strict"];
    world.write("home/note", "NOTE")?;
    world.denied(&options, "cat $W/outside/far")?;
    world.denied(&options, "ls $W/outside")?;
    world.denied(&options, "cat ~/note")?;
    world.allowed(&options, "cat plain /etc/passwd /usr/bin/env > new && rm new")?;
    world.allowed(&options, "echo x > $TMPDIR/n && echo x > ~/.grok/n")
}

fn devbox_writes_beside_the_workspace(world: &World) -> Outcome {
    let options = ["--sandbox", "devbox", "--deny", "secret"];
    world.allowed(&options, "echo x > $W/outside/new && echo x > ~/new && echo x > new")?;
    world.denied(&options, "cat secret")?;
    world.denied(&options, "$EXE act rename $W/work $W/w && mv $W/w $W/work")?;
    world.denied(&options, "echo 0 > /proc/self/oom_score_adj")
}

fn off_limits_nothing_but_the_denied(world: &World) -> Outcome {
    let options = ["--sandbox", "off", "--deny", "secret"];
    world.denied(&options, "cat secret")?;
    world.with_victim(|pid| {
        world.denied(&options, &format!("cat /proc/{pid}/root$W/work/secret"))
    })?;
    let script = "cat /proc/$PPID/root$W/work/secret";
    ensure(!world.confined(&options, script)?.ok(), "the supervisor shows the host's mounts")?;
    world.denied(&options, "$EXE act rename $W/work $W/w && mv $W/w $W/work")?;
    world.allowed(&options, "echo x > $W/outside/new && rm $W/outside/new")?;
    world.allowed(&["--sandbox", "off"], "cat secret && $EXE act unshare")
}

fn the_whole_tree_can_be_a_write_root(world: &World) -> Outcome {
    let root = ["--sandbox", "workspace", "--read-write", "/", "--deny", "secret"];
    world.allowed(&root, "echo new > $W/outside/new && rm $W/outside/new")?;
    world.allowed(&root, "echo new > $W/work/new && rm $W/work/new")?;
    world.denied(&root, "cat secret")
}

fn words_that_nobody_expands_are_refused(world: &World) -> Outcome {
    for options in [
        ["--deny", "~/secret"],
        ["--deny", "$HOME/secret"],
        ["--deny", "secret{,.old}"],
        ["--protect", "*.c"],
        ["--protect", "~/hooks"],
        ["--read-write", "~/cache"],
    ] {
        let ran = world.confined(&options, "true")?;
        ensure(ran.status == 125, &format!("{options:?} gave {}", ran.status))?;
    }
    // Files that really have such names.
    world.write("work/a{b}", "SECRET")?;
    world.denied(&["--deny", "a{b}"], "cat 'a{b}'")
}

fn more_roots_can_be_given(world: &World) -> Outcome {
    let (far, more) = (world.text("outside"), world.text("outside/made/here"));
    world.allowed(&["--sandbox", "strict", "--read-only", &far], "cat $W/outside/far")?;
    world.allowed(&["--read-write", &more], "echo x > $W/outside/made/here/new")?;
    world.denied(&["--read-write", &more], "echo x > $W/outside/made/new")
}

fn protected_file_is_read_and_not_written(world: &World) -> Outcome {
    world.write("work/a/conf", "CONF")?;
    let options = ["--protect", "a/conf"];
    world.allowed(&options, "grep -q CONF a/conf && echo x > a/beside")?;
    world.denied(&options, "echo CONF > a/conf")?;
    world.denied(&options, "chmod 640 a/conf && chmod 644 a/conf")?;
    world.denied(&options, "$EXE act rename a/conf a/c && mv a/c a/conf")?;
    world.denied(&options, "rm a/conf && echo CONF > a/conf")?;
    world.denied(&options, "$EXE act rename a b && mv b a")?;
    fs::hard_link(world.at("work/a/conf"), world.at("work/alias")).map_err(|e| e.to_string())?;
    world.denied(&options, "echo CONF > alias")
}

fn missing_protected_path_is_not_made(world: &World) -> Outcome {
    let options = ["--protect", ".hooks"];
    world.denied(
        &options,
        "echo x > .hooks/new || echo x > .hooks && rm -r .hooks; test ! -e .hooks",
    )?;
    world.denied(&options, "mkdir .hooks && rmdir .hooks")?;
    ensure(!world.at("work/.hooks").exists(), "a stub was left")
}

fn metadata_is_protected(world: &World) -> Outcome {
    let options = ["--sandbox", "workspace-write"];
    world.write("work/.git/config", "CONF")?;
    world.write("work/sub/.git/config", "CONF")?;
    world.allowed(&options, "cat .git/config && echo x > sub/.git/config && echo x > new")?;
    world.denied(&options, "echo CONF > .git/config")?;
    world.denied(&options, "$EXE act rename .git g && mv g .git")?;
    world.denied(&options, "mkdir .codex && rmdir .codex")?;
    world.denied(&options, "mkdir .agents && rmdir .agents")?;
    world.denied(&options, "echo x > $W/outside/new && rm $W/outside/new")?;
    ensure(!world.at("work/.codex").exists(), "a stub was left")?;
    world.folder("work2")?;
    world.write("work2/.git", "gitdir: ../work/.git\n")?;
    let (work, work2) = (world.text("work"), world.text("work2"));
    let other = [&options[..], &["--read-write", &work, "--workspace", &work2]].concat();
    world.denied(&other, "echo CONF > .git/config")?;
    world.denied(&other, "echo x >> $W/work2/.git")
}

fn bad_requests_are_refused(world: &World) -> Outcome {
    world.refused(&["--deny", "a**b"], "must be")?;
    world.refused(&["--deny", "/"], "everything would be covered")?;
    world.refused(&["--deny", "/proc/self/environ"], "another file in every process")?;
    world.refused(&["--deny", "."], "the current folder")?;
    world.refused(&["--workspace", "nowhere"], "the workspace is no folder")?;
    world.refused(&["--sandbox", "custom"], "custom")?;
    world.refused(&["--keep-fd", "77"], "descriptor 77")?;
    world.refused(&["--deny", "plain/below"], "cannot be held in place")
}
