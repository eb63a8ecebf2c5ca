//! Signals, tracing and reading other processes.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};

use sandproof_probes::{Attempt, Outcome};

use crate::client::{WORD, WORD_SHA, done, failed, once, root, unavailable};

crate::tests![
    signals,
    groups_are_never_signalled,
    traces,
    reads_environment_and_memory,
    takes_what_is_open
];

/// The line that comes out of another process's output is not its own.
fn takes_what_is_open() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let child = Command::new("sleep").arg("60").stdout(Stdio::piped()).spawn().unwrap();
    let mut victim = Victim(child);
    let seen = once(Attempt::PidfdGetfd { pid: victim.pid() });
    let written = once(Attempt::ProcessWrite { pid: victim.pid(), address: 8 });
    unavailable(&once(Attempt::ProcessWrite { pid: victim.pid(), address: 0 }));
    if !cfg!(target_os = "linux") {
        unavailable(&seen);
        return;
    }
    if tracing_is_free() {
        done(&seen);
        let mut line = String::new();
        BufReader::new(victim.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "taken\n");
        failed(&written, "process_vm_writev", libc::EFAULT);
    } else {
        failed(&seen, "pidfd_getfd", libc::EPERM);
        failed(&written, "process_vm_writev", libc::EPERM);
    }
}

/// A process outside, of the same user, with a marker in its environment.
struct Victim(Child);

impl Victim {
    fn start() -> Self {
        Self(Command::new("sleep").arg("60").env("SECRET", WORD).spawn().unwrap())
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.0.id()).unwrap()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn signals() {
    let mut victim = Victim::start();
    let pid = victim.pid();
    done(&once(Attempt::Signal { pid, signal: 0 }));
    assert_eq!(victim.0.try_wait().unwrap(), None, "signal 0 only asks");
    done(&once(Attempt::Signal { pid, signal: libc::SIGTERM }));
    assert_eq!(victim.0.wait().unwrap().signal(), Some(libc::SIGTERM));
    failed(&once(Attempt::Signal { pid, signal: 0 }), "kill", libc::ESRCH);
    let own = i32::try_from(std::process::id()).unwrap();
    failed(&once(Attempt::Signal { pid: own, signal: 4000 }), "kill", libc::EINVAL);
}

fn groups_are_never_signalled() {
    for pid in [0, -1, -5] {
        unavailable(&once(Attempt::Signal { pid, signal: 0 }));
    }
}

/// False where only descendants, or nobody, may be traced.
fn tracing_is_free() -> bool {
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    matches!((scope.trim(), root()), ("" | "0", _) | ("1" | "2", true))
}

fn traces() {
    let mut victim = Victim::start();
    let seen = once(Attempt::Ptrace { pid: victim.pid() });
    if !cfg!(target_os = "linux") {
        unavailable(&seen);
        return;
    }
    if tracing_is_free() {
        done(&seen);
    } else {
        failed(&seen, "ptrace", libc::EPERM);
    }
    assert_eq!(victim.0.try_wait().unwrap(), None, "it runs on");
    let status = std::fs::read_to_string(format!("/proc/{}/status", victim.pid())).unwrap();
    assert!(status.contains("TracerPid:\t0"), "it was let go");
    assert!(!status.contains("(tracing stop)"), "{status}");
    failed(&once(Attempt::Ptrace { pid: i32::MAX }), "ptrace", libc::ESRCH);
}

fn reads_environment_and_memory() {
    let victim = Victim::start();
    let read = |pid, address, length| once(Attempt::ProcessRead { pid, address, length });
    let environment = read(victim.pid(), 0, 0);
    if !cfg!(target_os = "linux") {
        unavailable(&environment);
        return;
    }
    let own = i32::try_from(std::process::id()).unwrap();
    let memory = format!("<{WORD}>");
    let there = memory.as_ptr() as u64;
    if tracing_is_free() {
        assert!(environment.done());
        assert_eq!(environment.words, [WORD_SHA]);
        let seen = read(own, there, memory.len() as u64);
        assert!(seen.done());
        assert!(seen.words.iter().any(|word| word == WORD_SHA));
        // Memory that cannot be read does not spoil the environment that could.
        assert_eq!(read(victim.pid(), 1, 8).words, [WORD_SHA]);
    } else {
        assert!(environment.done(), "one's own environment is no matter of tracing");
        assert!(!read(own, there, memory.len() as u64).words.contains(&WORD_SHA.to_owned()));
    }
    failed(&read(i32::MAX, 0, 0), "openat", libc::ENOENT);
    assert!(matches!(read(i32::MAX, 1, 8).outcome, Outcome::Errno { .. }));
}
