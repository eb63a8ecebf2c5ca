//! The relay between harness and probe, and the lies told on the way.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use sandproof_probes::wire::{Answer, Ask, Reply, Request, VERSION};
use sandproof_probes::{Attempt, Observation, Outcome};

use super::forge::{forged, say};

/// What becomes of a request.
pub(super) enum Fate {
    /// The probe gets it.
    Pass,
    /// The liar answers it.
    Answer(Answer),
    /// The probe is killed.
    Kill,
}

/// One way to lie.
pub(super) trait Lie {
    /// Whether the probe is to see no variable.
    fn hides_environment(&self) -> bool {
        false
    }

    /// Decides before the probe sees a request.
    fn request(&mut self, _request: &Request) -> Fate {
        Fate::Pass
    }

    /// The lines to print instead of a true reply.
    fn reply(&mut self, _request: &Request, reply: Reply) -> Vec<Reply> {
        vec![reply]
    }
}

/// Every attempt: EPERM.
pub(super) struct DenyAll;

impl Lie for DenyAll {
    fn hides_environment(&self) -> bool {
        true
    }

    fn request(&mut self, request: &Request) -> Fate {
        answer(request, |attempt| Some(errno(attempt, libc::EPERM)))
    }
}

/// Names may be seen; the rest is denied as file permissions would.
pub(super) struct BlockMost;

impl Lie for BlockMost {
    fn request(&mut self, request: &Request) -> Fate {
        answer(request, |attempt| {
            if matches!(
                attempt,
                Attempt::Stat { .. } | Attempt::List { .. } | Attempt::Readlink { .. }
            ) {
                return None;
            }
            // What a shell says of a command that it may not execute.
            let program = matches!(attempt, Attempt::Exec { .. } | Attempt::Shell { .. });
            let denial = errno(attempt, libc::EACCES);
            Some(if program { Outcome::Exit { code: 126 } } else { denial })
        })
    }
}

/// Every attempt: done, and nothing to show.
pub(super) struct FakeSuccess;

impl Lie for FakeSuccess {
    fn request(&mut self, request: &Request) -> Fate {
        answer(request, |_| Some(Outcome::Done))
    }
}

/// Kills the probe at the second attempt, or at the end of the first.
#[derive(Default)]
pub(super) struct Kill {
    attempts: usize,
}

impl Lie for Kill {
    fn request(&mut self, request: &Request) -> Fate {
        match request.ask {
            Ask::Hello | Ask::Begin | Ask::Bye => Fate::Pass,
            Ask::Try(_) => {
                self.attempts += 1;
                if self.attempts < 2 { Fate::Pass } else { Fate::Kill }
            }
            Ask::End => Fate::Kill,
        }
    }
}

/// Prints a forgery before and after each true reply.
pub(super) struct Beside;

impl Lie for Beside {
    fn reply(&mut self, request: &Request, reply: Reply) -> Vec<Reply> {
        vec![forged(request), reply, forged(request)]
    }
}

/// Crosses every marker out of the text; length and hashes stay true.
pub(super) struct Strip;

impl Lie for Strip {
    fn reply(&mut self, _request: &Request, mut reply: Reply) -> Vec<Reply> {
        if let Answer::Saw(observation) = &mut reply.answer {
            observation.text = strip(&observation.text);
        }
        vec![reply]
    }
}

/// The text with every run of 32 or more hex digits crossed out.
fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut run = String::new();
    for c in text.chars().chain(std::iter::once('\0')) {
        if c.is_ascii_hexdigit() {
            run.push(c);
            continue;
        }
        if run.len() >= 32 {
            run = "X".repeat(run.len());
        }
        out.push_str(&run);
        run.clear();
        out.push(c);
    }
    out.pop();
    out
}

/// Answers an attempt itself where `lie` has something to say.
fn answer(request: &Request, lie: impl Fn(&Attempt) -> Option<Outcome>) -> Fate {
    match &request.ask {
        Ask::Try(attempt) => lie(attempt)
            .map_or(Fate::Pass, |outcome| Fate::Answer(Answer::Saw(Observation::bare(outcome)))),
        Ask::Hello | Ask::Begin | Ask::End | Ask::Bye => Fate::Pass,
    }
}

/// A denial of this attempt, named by its verb.
fn errno(attempt: &Attempt, number: i32) -> Outcome {
    let verb = serde_json::to_value(attempt)
        .ok()
        .and_then(|value| value.as_object().and_then(|object| object.keys().next().cloned()));
    Outcome::Errno { call: verb.unwrap_or_default(), number }
}

/// Starts the command between two pipes and relays until the harness hangs up or the probe ends.
pub(super) fn relay(command: &[OsString], lie: &mut dyn Lie) -> io::Result<i32> {
    let mut start = Command::new(&command[0]);
    start.args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
    if lie.hides_environment() {
        start.env_clear();
    }
    let mut child = start.spawn()?;
    let (Some(down), Some(up)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the probe has no pipes"));
    };
    let mut probe = Probe { down, up: BufReader::new(up) };
    for line in io::stdin().lock().split(b'\n') {
        if !probe.serve(&line?, lie, &mut child, &mut io::stdout().lock())? {
            break;
        }
    }
    drop(probe);
    Ok(status(child.wait()?))
}

/// The pipes to the probe.
struct Probe {
    down: ChildStdin,
    up: BufReader<ChildStdout>,
}

impl Probe {
    /// Serves one request; false when the probe is gone, or going.
    fn serve(
        &mut self,
        line: &[u8],
        lie: &mut dyn Lie,
        child: &mut Child,
        out: &mut impl Write,
    ) -> io::Result<bool> {
        let Ok(request) = serde_json::from_slice::<Request>(line) else {
            return self.pass(line);
        };
        match lie.request(&request) {
            Fate::Answer(answer) => {
                let nonce = request.nonce.clone();
                say(out, &Reply { v: VERSION, nonce, seq: request.seq, answer })?;
                Ok(true)
            }
            Fate::Kill => child.kill().map(|()| false),
            Fate::Pass => {
                let more = request.ask != Ask::Bye;
                Ok(self.pass(line)? && self.bring(&request, lie, out)? && more)
            }
        }
    }

    /// Hands a line to the probe; false when it is gone.
    fn pass(&mut self, line: &[u8]) -> io::Result<bool> {
        let sent = self.down.write_all(&[line, b"\n"].concat()).and_then(|()| self.down.flush());
        match sent {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Brings lines up to the reply to this request; false when the probe ended before.
    fn bring(
        &mut self,
        request: &Request,
        lie: &mut dyn Lie,
        out: &mut impl Write,
    ) -> io::Result<bool> {
        loop {
            let mut line = Vec::new();
            if self.up.read_until(b'\n', &mut line)? == 0 {
                return Ok(false);
            }
            match serde_json::from_slice::<Reply>(&line) {
                Ok(reply) if reply.nonce == request.nonce && reply.seq == request.seq => {
                    for reply in lie.reply(request, reply) {
                        say(out, &reply)?;
                    }
                    return Ok(true);
                }
                Ok(_) | Err(_) => out.write_all(&line)?,
            }
        }
    }
}

/// As a shell would say it.
fn status(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_crossed_out_and_other_text_kept() {
        let marker = "0123456789abcdef0123456789abcdef";
        assert_eq!(strip(&format!("a={marker};b\n")), format!("a={};b\n", "X".repeat(32)));
        assert_eq!(strip(&marker[1..]), marker[1..]);
        assert_eq!(strip("cafe é 12"), "cafe é 12");
    }
}
