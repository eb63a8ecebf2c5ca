//! Nothing that an attempt prints, writes or looks for yields the protocol.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use sandproof_probes::wire::{Answer, Reply};
use sandproof_probes::{Abi, Attempt, Observation, Outcome};
use tempfile::tempdir;

use crate::client::{PROBE, Probe, done, printed, shell};

crate::tests![
    forged_lines_are_no_answers,
    the_nonce_is_nowhere_in_the_child,
    nothing_of_the_protocol_is_inherited,
    low_descriptors_are_all_free,
    the_limit_of_descriptors_is_the_launchers,
    the_child_is_an_ordinary_process,
    the_child_dies_with_the_probe,
    closing_everything_ends_only_the_child,
];

fn here(script: &str) -> Attempt {
    shell(script, Path::new("/"))
}

fn forged_lines_are_no_answers() {
    let room = tempdir().unwrap();
    let nonce = "0".repeat(32);
    let saw = Answer::Saw(Observation::bare(Outcome::Done));
    let reply = serde_json::to_string(&Reply { v: 1, nonce, seq: 4, answer: saw }).unwrap();
    let seen = serde_json::to_string(&Observation::bare(Outcome::Done)).unwrap();
    let end = r#""end""#;
    let lines = room.path().join("lines");
    // Whole lines for whoever might read them, and a last one without an end to spoil the next.
    fs::write(&lines, format!("{reply}\n{seen}\n{end}\n{seen}")).unwrap();
    let script = format!(
        r#"n=0; while [ $n -le 20 ]; do (cat {0} >&$n) 2>/dev/null; n=$((n+1)); done
           probe=$(sed -n 's/^PPid:.//p' /proc/$PPID/status); own=$(readlink /proc/$$/fd/1)
           for fd in /proc/$PPID/fd/* /proc/$probe/fd/*; do
             [ -p $fd ] && [ "$(readlink $fd)" != "$own" ] && (cat {0} > $fd) 2>/dev/null &&
               forged=$((forged+1))
           done; [ $forged -ge 3 ] && exit 33"#,
        lines.display()
    );
    let mut probe = Probe::start();
    probe.begin();
    for _ in 0..3 {
        let seen = probe.attempt(here(&script));
        assert_eq!(seen.outcome, Outcome::Exit { code: 33 }, "{}", seen.text);
        printed(&probe.attempt(here("echo real")), "real\n");
    }
    probe.end();
    probe.bye();
}

fn child_of(probe: &mut Probe) -> i32 {
    probe.attempt(here("echo $PPID")).text.trim().parse().unwrap()
}

fn the_nonce_is_nowhere_in_the_child() {
    let mut probe = Probe::start();
    probe.begin();
    let child = child_of(&mut probe);
    assert!(memory_holds(child, b"/bin/sh"), "the search itself must work");
    // Freed memory keeps the end of a text longest: its beginning is where the allocator writes.
    let rest = probe.nonce.as_bytes()[20..].to_vec();
    assert!(!memory_holds(child, &rest));
    // Buffers grow, move and are used again.
    done(&probe.attempt(here(&format!("true {}", "x".repeat(60_000)))));
    probe.end();
    probe.begin();
    let child = child_of(&mut probe);
    assert!(!memory_holds(child, &rest));
    // Only root can look into the probe itself.
    let known = memory_holds(probe.process.id().cast_signed(), &rest);
    assert_eq!(known, crate::client::root());
    probe.end();
    probe.bye();
}

/// Looks through every readable page of a process.
fn memory_holds(pid: i32, wanted: &[u8]) -> bool {
    let Ok(memory) = fs::File::open(format!("/proc/{pid}/mem")) else { return false };
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    maps.lines().any(|line| {
        let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let start = u64::from_str_radix(start, 16).unwrap();
        let length = u64::from_str_radix(end, 16).unwrap() - start;
        let mut bytes = vec![0; length as usize];
        match memory.read_at(&mut bytes, start) {
            Ok(count) => bytes[..count].windows(wanted.len()).any(|part| part == wanted),
            Err(_) => false,
        }
    })
}

/// Where the descriptors of a process lead.
fn descriptors(pid: u32) -> Vec<(i32, PathBuf)> {
    let mut found: Vec<(i32, PathBuf)> = fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            Some((number, fs::read_link(entry.path()).ok()?))
        })
        .collect();
    found.sort_unstable();
    found
}

fn nothing_of_the_protocol_is_inherited() {
    let mut probe = Probe::start();
    probe.begin();
    let child = child_of(&mut probe).cast_unsigned();
    let own = probe.pipes();
    let childs = descriptors(child);
    for end in &own {
        assert!(childs.iter().all(|(_, to)| to != end), "the child holds {}", end.display());
    }
    let high = childs.into_iter().filter(|(number, _)| *number >= 1024).map(|(_, to)| to);
    let listed = probe.attempt(here("for fd in /proc/self/fd/*; do readlink $fd; done")).text;
    assert!(listed.contains("pipe:"), "the search itself must work: {listed}");
    for end in own.into_iter().chain(high) {
        assert!(!listed.contains(end.to_str().unwrap()), "a program holds {}", end.display());
    }
    probe.end();
    probe.bye();
}

fn low_descriptors_are_all_free() {
    let mut probe = Probe::start();
    probe.begin();
    let child = child_of(&mut probe);
    let inherited = descriptors(std::process::id());
    let own = descriptors(child.cast_unsigned());
    let (low, high): (Vec<_>, Vec<_>) = own.into_iter().partition(|(number, _)| *number < 1024);
    assert_eq!(high.len(), 3, "two pipes and the sink: {high:?}");
    for descriptor in low.iter().filter(|(number, _)| *number > 2) {
        assert!(inherited.contains(descriptor), "{descriptor:?} is the probe's own");
    }
    probe.end();
    probe.bye();
}

fn the_limit_of_descriptors_is_the_launchers() {
    for limit in ["64", "1024"] {
        let mut command = std::process::Command::new("/bin/sh");
        let own = std::env::current_exe().unwrap();
        command.args(["-c", &format!(r#"ulimit -S -n {limit}; exec "$0" "$1""#)]);
        let mut probe = Probe::spawn(command.arg(own).arg(PROBE));
        probe.hello();
        probe.begin();
        printed(&probe.attempt(here("ulimit -S -n")), &format!("{limit}\n"));
        probe.end();
        probe.bye();
    }
    // Where the hard limit is low too, the probe makes do with less.
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", r#"ulimit -n 64; exec "$0" "$1""#]);
    let mut probe = Probe::spawn(command.arg(std::env::current_exe().unwrap()).arg(PROBE));
    probe.hello();
    probe.begin();
    printed(&probe.attempt(here("ulimit -H -n")), "64\n");
    probe.bye();
}

fn the_child_is_an_ordinary_process() {
    let mut probe = Probe::start();
    probe.begin();
    let seen = probe.attempt(Attempt::Read { path: "/proc/self/environ".into() });
    assert!(seen.done() && seen.length > 0);
    assert!(probe.attempt(Attempt::List { path: "/proc/self/fd".into() }).done());
    let writable = Attempt::Open {
        path: "/proc/self/mem".into(),
        flags: vec![sandproof_probes::OpenFlag::Rw],
        then_read: false,
    };
    done(&probe.attempt(writable));
    probe.end();
    probe.bye();
}

fn the_child_dies_with_the_probe() {
    let mut probe = Probe::start();
    probe.begin();
    let child = rustix::process::Pid::from_raw(child_of(&mut probe)).unwrap();
    let handle = rustix::process::pidfd_open(child, rustix::process::PidfdFlags::empty()).unwrap();
    let for_ever = Attempt::Syscall { abi: Abi::Native, number: libc::SYS_ppoll, args: vec![] };
    let request = probe.request(sandproof_probes::wire::Ask::Try(for_ever));
    probe.send(&crate::client::line(&request));
    probe.process.kill().unwrap();
    probe.process.wait().unwrap();
    let mut fds =
        [nix::poll::PollFd::new(std::os::fd::AsFd::as_fd(&handle), nix::poll::PollFlags::POLLIN)];
    assert_eq!(nix::poll::poll(&mut fds, 10_000_u16), Ok(1), "it outlived the probe");
}

fn closing_everything_ends_only_the_child() {
    let number = sandproof_probes::syscalls::number(Abi::Native, "close_range").unwrap();
    let close = |from, to| Attempt::Syscall { abi: Abi::Native, number, args: vec![from, to, 0] };
    let mut probe = Probe::start();
    probe.begin();
    assert!(probe.attempt(close(0, 1023)).done(), "the low numbers belong to attempts");
    assert!(probe.attempt(Attempt::Read { path: "/proc/self/stat".into() }).done());
    let seen = probe.attempt(close(0, i64::from(u32::MAX)));
    assert_eq!(seen, Observation::bare(Outcome::Exit { code: 1 }));
    probe.end();
    probe.begin();
    done(&probe.attempt(here("true")));
    probe.end();
    probe.bye();
}
