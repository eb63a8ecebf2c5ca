//! The conversation itself: order, versions, nonces, deaths, and what disturbs it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use sandproof_probes::wire::{Answer, Ask, Reply};
use sandproof_probes::{Attempt, Observation, Outcome};
use tempfile::tempdir;

use crate::client::{PROBE, Probe, done, line, printed, probe, shell};

crate::tests![
    hello_tells_facts,
    requests_out_of_order_are_wrong,
    another_version_is_refused,
    strangers_are_ignored,
    endless_lines_are_skipped,
    a_child_keeps_its_state,
    death_by_signal_is_an_observation,
    ignored_children_are_waited_for_all_the_same,
    the_end_of_input_ends_the_probe,
    a_folder_serves_where_no_input_does,
    wrong_arguments_are_refused,
];

fn here(script: &str) -> Attempt {
    shell(script, Path::new("/"))
}

fn hello_tells_facts() {
    let mut command = probe();
    command.env_clear().env("ONE", "secret").env("ANOTHER", "");
    let mut probe = Probe::spawn(&mut command);
    let hello = probe.hello();
    assert_eq!(hello.pid, i32::try_from(probe.process.id()).unwrap());
    assert_eq!(hello.uid, nix::unistd::geteuid().as_raw());
    assert_eq!(hello.variables, ["ANOTHER", "ONE"]);
    if cfg!(target_os = "linux") {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        assert!(status.contains(&format!("NoNewPrivs:\t{}\n", u8::from(hello.no_new_privs))));
        assert!(status.contains(&format!("Seccomp:\t{}\n", hello.seccomp)));
        assert!(status.contains(&format!("CapEff:\t{}\n", hello.capabilities)));
        for name in ["user", "mnt", "net", "pid", "ipc", "uts"] {
            let link = fs::read_link(format!("/proc/self/ns/{name}")).unwrap();
            assert_eq!(link.to_str().unwrap(), format!("{name}:[{}]", hello.namespaces[name]));
        }
    }
    probe.bye();
}

#[track_caller]
fn wrong(answer: &Answer, word: &str) {
    match answer {
        Answer::Wrong(problem) => assert!(problem.contains(word), "{problem}"),
        other => panic!("{other:?} is no refusal"),
    }
}

fn requests_out_of_order_are_wrong() {
    let mut probe = Probe::start();
    wrong(&probe.ask(Ask::Try(here("true"))), "begin");
    wrong(&probe.ask(Ask::End), "begin");
    probe.begin();
    wrong(&probe.ask(Ask::Begin), "twice");
    done(&probe.attempt(here("true")));
    probe.bye(); // without end
}

fn another_version_is_refused() {
    let mut probe = Probe::start();
    let mut request = probe.request(Ask::End);
    request.v = 2;
    probe.send(&line(&request));
    wrong(&probe.answer(request.seq), "version 2");
    // One that could not even be parsed by this version.
    let later =
        format!(r#"{{"v":3,"nonce":"{}","seq":9,"ask":{{"dance":{{}}}},"mood":1}}"#, probe.nonce);
    probe.send(format!("{later}\n").as_bytes());
    wrong(&probe.answer(9), "version 3");
    probe.send(format!("{}\n", later.replace(":3,", ":1,")).as_bytes());
    wrong(&probe.answer(9), "not understood");
    probe.bye();
}

fn strangers_are_ignored() {
    let mut probe = Probe::start();
    let mut stranger = probe.request(Ask::Bye);
    stranger.nonce = "0".repeat(32);
    probe.send(&line(&stranger));
    probe.send(b"\n{}\nnot json\n\xff\xfe\n{\"v\":1}\n");
    // Had any of these been answered or obeyed, this one's answer would not be the next.
    probe.begin();
    printed(&probe.attempt(here("echo mine")), "mine\n");
    probe.end();
    probe.bye();
}

fn endless_lines_are_skipped() {
    let mut probe = Probe::start();
    for size in [(1 << 20) - 1, 1 << 20, 3 << 20] {
        let mut long = vec![b' '; size];
        long.extend_from_slice(&line(&probe.request(Ask::Bye))[1..20]);
        long.push(b'\n');
        probe.send(&long);
        probe.begin();
        probe.end();
    }
    // Just below the limit a line counts, however it is cut into reads.
    probe.begin();
    let script = format!("echo fits #{}", "x".repeat(100_000));
    printed(&probe.attempt(here(&script)), "fits\n");
    probe.bye();
}

fn a_child_keeps_its_state() {
    if !cfg!(target_os = "linux") {
        return; // raw calls are how the state is changed
    }
    let number = sandproof_probes::syscalls::number(sandproof_probes::Abi::Native, "umask");
    let mask = |mask| Attempt::Syscall {
        abi: sandproof_probes::Abi::Native,
        number: number.unwrap(),
        args: vec![mask],
    };
    let mut probe = Probe::start();
    probe.begin();
    let first = probe.attempt(mask(0o123)).text;
    assert_eq!(probe.attempt(mask(0)).text, 0o123.to_string());
    probe.end();
    probe.begin();
    assert_eq!(probe.attempt(mask(0)).text, first, "a new child starts afresh");
    probe.end();
    probe.bye();
}

fn death_by_signal_is_an_observation() {
    let mut probe = Probe::start();
    for (script, outcome) in [
        ("kill -SEGV $PPID", Outcome::Signal { number: libc::SIGSEGV }),
        ("kill -KILL $PPID", Outcome::Signal { number: libc::SIGKILL }),
    ] {
        probe.begin();
        done(&probe.attempt(here("true")));
        let dead = Observation::bare(outcome);
        assert_eq!(probe.attempt(here(script)), dead);
        assert_eq!(probe.attempt(here("true")), dead, "later attempts answer the same");
        probe.end();
    }
    probe.begin();
    done(&probe.attempt(here("true")));
    probe.end();
    probe.bye();
}

fn ignored_children_are_waited_for_all_the_same() {
    let mut command = std::process::Command::new("/bin/sh");
    let own = std::env::current_exe().unwrap();
    command.args(["-c", r#"trap "" CHLD; exec "$0" "$1""#]).arg(own).arg(PROBE);
    let mut probe = Probe::spawn(&mut command);
    probe.hello();
    probe.begin();
    assert_eq!(probe.attempt(here("exit 5")).outcome, Outcome::Exit { code: 5 });
    let killed = probe.attempt(here("kill -TERM $PPID"));
    assert_eq!(killed.outcome, Outcome::Signal { number: libc::SIGTERM });
    probe.end();
    probe.bye();
}

fn the_end_of_input_ends_the_probe() {
    for begun in [false, true] {
        let mut probe = Probe::start();
        if begun {
            probe.begin();
        }
        probe.hang_up();
        assert!(probe.process.wait().unwrap().success());
    }
    assert!(probe().stdin(Stdio::null()).status().unwrap().success());
}

fn a_folder_serves_where_no_input_does() {
    let room = tempdir().unwrap();
    let fifo = |name| {
        let path = room.path().join(name);
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        path
    };
    let (ask, answer) = (fifo("ask"), fifo("answer"));
    let mut process = probe()
        .arg("--folder")
        .arg(room.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut ask = fs::OpenOptions::new().write(true).open(ask).unwrap();
    let mut answers = BufReader::new(fs::File::open(answer).unwrap());
    let nonce = "f".repeat(32);
    let script = here(&format!("ls -A {}", room.path().display()));
    for (seq, asked) in [Ask::Hello, Ask::Begin, Ask::Try(script), Ask::Bye].into_iter().enumerate()
    {
        let request = sandproof_probes::wire::Request {
            v: 1,
            nonce: nonce.clone(),
            seq: seq as u64,
            ask: asked,
        };
        ask.write_all(&line(&request)).unwrap();
        let mut text = String::new();
        while text.trim().is_empty() {
            text.clear();
            assert_ne!(answers.read_line(&mut text).unwrap(), 0);
        }
        let reply: Reply = serde_json::from_str(&text).unwrap();
        assert_eq!((reply.seq, &reply.nonce), (seq as u64, &nonce));
        match reply.answer {
            Answer::Hello(_) | Answer::Ready => {}
            Answer::Saw(seen) => done(&seen), // both names are gone
            Answer::Wrong(problem) => panic!("{problem}"),
        }
    }
    assert!(process.wait().unwrap().success());
}

fn wrong_arguments_are_refused() {
    for args in [&["--folder"][..], &["extra"], &["--folder", "a", "b"]] {
        let output = probe().args(args).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("usage"));
    }
}
