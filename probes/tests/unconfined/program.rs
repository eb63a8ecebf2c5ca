//! Programs and shells.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use sandproof_probes::{Attempt, Observation, Outcome};
use tempfile::tempdir;

use crate::client::{WORD, WORD_SHA, done, failed, once, printed, route, shell, unavailable};

crate::tests![
    runs_a_program,
    statuses_and_signals_are_told_apart,
    a_program_that_cannot_start,
    a_shell_has_its_folder_and_variables,
    both_outputs_arrive_in_order,
    input_is_at_its_end,
    much_output_is_hashed_whole,
    background_processes_do_not_hang,
    a_program_may_close_its_output,
];

fn exec(argv: &[&str]) -> Attempt {
    Attempt::Exec { argv: argv.iter().map(|&word| word.to_owned()).collect() }
}

fn here(script: &str) -> Observation {
    once(shell(script, Path::new("/")))
}

fn runs_a_program() {
    printed(&once(exec(&["/bin/echo", "a b", "$HOME"])), "a b $HOME\n");
    printed(&once(exec(&["echo", "found by PATH"])), "found by PATH\n");
    let seen = once(exec(&["/bin/echo", WORD]));
    assert_eq!(seen.words, [WORD_SHA]);
}

fn statuses_and_signals_are_told_apart() {
    assert_eq!(here("exit 7").outcome, Outcome::Exit { code: 7 });
    assert_eq!(here("kill -9 $$").outcome, Outcome::Signal { number: 9 });
    assert_eq!(here("exit 137").outcome, Outcome::Exit { code: 137 });
    let seen = here("echo said; exit 1");
    assert_eq!((seen.outcome, seen.text.as_str()), (Outcome::Exit { code: 1 }, "said\n"));
}

fn a_program_that_cannot_start() {
    let room = tempdir().unwrap();
    let file = room.path().join("file");
    std::fs::write(&file, "no program").unwrap();
    failed(&once(exec(&["/none"])), "execve", libc::ENOENT);
    failed(&once(exec(&[file.to_str().unwrap()])), "execve", libc::EACCES);
    failed(&once(shell("true", &room.path().join("none"))), "chdir", libc::ENOENT);
    unavailable(&once(exec(&[])));
    unavailable(&once(exec(&["/bin/echo", "a\0b"])));
}

fn a_shell_has_its_folder_and_variables() {
    let room = tempdir().unwrap();
    let cwd = room.path().canonicalize().unwrap();
    let env = BTreeMap::from([("WORK".to_owned(), "w w".to_owned())]);
    let script = r#"pwd -P; echo "$WORK"; test -n "$PATH""#.to_owned();
    let seen = once(Attempt::Shell { script, cwd: cwd.clone(), env });
    printed(&seen, &format!("{}\nw w\n", cwd.display()));
}

fn both_outputs_arrive_in_order() {
    printed(&here("echo 1; echo 2 >&2; echo 3"), "1\n2\n3\n");
}

fn input_is_at_its_end() {
    printed(&here("cat; cat; echo after"), "after\n");
}

fn much_output_is_hashed_whole() {
    let seen = here(&format!("head -c 3000000 /dev/zero; echo; echo {WORD}"));
    assert!(seen.done());
    assert_eq!(seen.length, 3_000_001 + 33);
    assert_eq!(seen.words, [WORD_SHA]);
}

fn background_processes_do_not_hang() {
    let start = Instant::now();
    let seen = here("sleep 60 & echo $!");
    assert!(seen.done() && start.elapsed() < Duration::from_secs(30));
    let sleeper = seen.text.trim().parse().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(sleeper), nix::sys::signal::SIGKILL)
        .expect("the sleeper must still have been there");
    // One that prints for ever ends by itself: its pipe has no reader any more.
    let seen = here("yes & true");
    assert!(seen.done() && start.elapsed() < Duration::from_secs(30));
}

fn a_program_may_close_its_output() {
    let room = tempdir().unwrap();
    let script = "exec >&- 2>&-; for i in 1 2 3; do /bin/true; done; : > ended";
    let seen =
        route([shell(script, room.path()), Attempt::Stat { path: room.path().join("ended") }]);
    done(&seen[0]);
    assert!(seen[1].done(), "the answer came before the program had ended");
}
