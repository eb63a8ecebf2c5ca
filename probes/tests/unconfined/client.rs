//! The other end of the protocol, as small as it can be, and words for what is expected.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use sandproof_probes::wire::{Answer, Ask, Hello, Reply, Request, VERSION};
use sandproof_probes::{Attempt, Observation, Outcome};

/// The hidden argument that makes this executable the probe.
pub(crate) const PROBE: &str = "run-as-probe";

/// The hidden argument that makes it print what the host can do.
pub(crate) const ABILITY: &str = "run-as-ability";

/// A marker, as scenarios use them.
pub(crate) const WORD: &str = "00112233445566778899aabbccddeeff";

/// Its SHA-256.
pub(crate) const WORD_SHA: &str =
    "5947d7c33d783f94b3b4c1a96ebc8991ed28f1b069b71e03376cba8caa98a720";

/// One started probe.
pub(crate) struct Probe {
    pub(crate) process: Child,
    pub(crate) nonce: String,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    seq: u64,
}

/// This executable as a probe, not yet started.
pub(crate) fn probe() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(PROBE);
    command
}

impl Probe {
    /// Starts one and greets it.
    pub(crate) fn start() -> Self {
        let mut probe = Self::spawn(&mut probe());
        assert!(matches!(probe.ask(Ask::Hello), Answer::Hello(_)));
        probe
    }

    /// Starts a command that is, or becomes, a probe.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let to = process.stdin.take();
        let from = process.stdout.take().unwrap();
        Self { process, nonce: nonce(), to, from: BufReader::new(from), seq: 0 }
    }

    /// Sends bytes as they are.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.to.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Asks, and waits for the answer to that very question.
    pub(crate) fn ask(&mut self, ask: Ask) -> Answer {
        let request = self.request(ask);
        self.send(&line(&request));
        self.answer(request.seq)
    }

    /// The next request of this session.
    pub(crate) fn request(&mut self, ask: Ask) -> Request {
        self.seq += 1;
        Request { v: VERSION, nonce: self.nonce.clone(), seq: self.seq, ask }
    }

    /// The next line that carries the nonce; what lacks it is skipped, as in the harness.
    pub(crate) fn answer(&mut self, seq: u64) -> Answer {
        let mut text = String::new();
        loop {
            text.clear();
            assert_ne!(self.from.read_line(&mut text).unwrap(), 0, "the probe hung up");
            match serde_json::from_str::<Reply>(&text) {
                Ok(reply) if reply.nonce == self.nonce => {
                    assert_eq!((reply.v, reply.seq), (VERSION, seq), "{text}");
                    return reply.answer;
                }
                _ => {}
            }
        }
    }

    pub(crate) fn hello(&mut self) -> Hello {
        match self.ask(Ask::Hello) {
            Answer::Hello(hello) => hello,
            other => panic!("hello was answered by {other:?}"),
        }
    }

    pub(crate) fn begin(&mut self) {
        assert_eq!(self.ask(Ask::Begin), Answer::Ready);
    }

    pub(crate) fn end(&mut self) {
        assert_eq!(self.ask(Ask::End), Answer::Ready);
    }

    pub(crate) fn attempt(&mut self, attempt: Attempt) -> Observation {
        match self.ask(Ask::Try(attempt.clone())) {
            Answer::Saw(observation) => observation,
            other => panic!("{attempt:?} was answered by {other:?}"),
        }
    }

    /// Says goodbye and checks that the probe ended well.
    pub(crate) fn bye(mut self) {
        assert_eq!(self.ask(Ask::Bye), Answer::Ready);
        assert!(self.process.wait().unwrap().success());
    }

    /// The pipes between this process and the probe.
    #[cfg(target_os = "linux")]
    pub(crate) fn pipes(&self) -> [std::path::PathBuf; 2] {
        use std::os::fd::AsRawFd;
        let ends = [self.to.as_ref().unwrap().as_raw_fd(), self.from.get_ref().as_raw_fd()];
        ends.map(|end| std::fs::read_link(format!("/proc/self/fd/{end}")).unwrap())
    }

    /// Closes the probe's input.
    pub(crate) fn hang_up(&mut self) {
        self.to = None;
    }
}

/// A request as it goes over the wire.
pub(crate) fn line(request: &Request) -> Vec<u8> {
    // A newline first, for others may have begun a line and not ended it.
    format!("\n{}\n", serde_json::to_string(request).unwrap()).into_bytes()
}

/// Performs all of these in one child.
pub(crate) fn route(attempts: impl IntoIterator<Item = Attempt>) -> Vec<Observation> {
    let mut probe = Probe::start();
    probe.begin();
    let seen = attempts.into_iter().map(|attempt| probe.attempt(attempt)).collect();
    probe.end();
    probe.bye();
    seen
}

/// Performs this one.
pub(crate) fn once(attempt: Attempt) -> Observation {
    route([attempt]).remove(0)
}

/// Runs a shell script in a folder.
pub(crate) fn shell(script: &str, cwd: &Path) -> Attempt {
    Attempt::Shell { script: script.to_owned(), cwd: cwd.to_owned(), env: BTreeMap::new() }
}

/// It succeeded without output.
#[track_caller]
pub(crate) fn done(seen: &Observation) {
    assert_eq!(*seen, Observation::bare(Outcome::Done));
}

/// It succeeded and printed this.
#[track_caller]
pub(crate) fn printed(seen: &Observation, text: &str) {
    assert_eq!((&seen.outcome, seen.text.as_str()), (&Outcome::Done, text));
    assert_eq!(seen.length, text.len() as u64);
    assert_eq!(seen.sha256.len(), if text.is_empty() { 0 } else { 64 });
}

/// This call failed with this errno.
#[track_caller]
pub(crate) fn failed(seen: &Observation, call: &str, number: i32) {
    let expected = Outcome::Errno { call: call.to_owned(), number };
    assert_eq!(*seen, Observation::bare(expected));
}

/// It could not be tried.
#[track_caller]
pub(crate) fn unavailable(seen: &Observation) {
    assert!(matches!(seen.outcome, Outcome::Unavailable { .. }), "{:?}", seen.outcome);
}

pub(crate) fn root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Different for every session of this process, and nowhere else in its environment.
fn nonce() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let word = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}
