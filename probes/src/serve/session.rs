//! [`Session`]: one conversation with the harness, request by request.

use std::io::{self, Write as _};

use serde::Deserialize;

use super::channel::Channel;
use super::child::{Begun, Child};
use super::hello::hello;
use super::lines::{Link, wipe};
use crate::Attempt;
use crate::wire::{Answer, Ask, Reply, Request, VERSION};

/// A conversation: the link, its nonce once a `Hello` has set it, and the child there may be.
#[derive(Debug)]
pub(super) struct Session {
    link: Link,
    nonce: String,
    child: Option<Child>,
}

/// What follows a request.
pub(super) enum Next {
    /// Another one.
    Continue,
    /// The harness said `Bye`, or nothing more can come.
    Over,
    /// This is the new child: the session is to be dropped, and the child to live.
    Child(Channel),
}

/// What every version of a request has.
#[derive(Deserialize)]
struct Envelope {
    v: u32,
    nonce: String,
    seq: u64,
}

/// A line that could be read at least as an envelope.
struct Asked {
    nonce: String,
    seq: u64,
    ask: Result<Ask, String>,
}

impl Session {
    /// A conversation that begins.
    pub(super) fn new(link: Link) -> Self {
        Self { link, nonce: String::new(), child: None }
    }

    /// Reads one line and answers it.
    pub(super) fn step(&mut self) -> io::Result<Next> {
        let Some(line) = self.link.lines.next(parse)? else {
            return Ok(Next::Over);
        };
        let Some(asked) = line else {
            return Ok(Next::Continue); // no request at all, and so nobody to answer
        };
        if !self.adopt(asked.nonce, &asked.ask) {
            return Ok(Next::Continue);
        }
        let bye = matches!(asked.ask, Ok(Ask::Bye));
        let answer = match asked.ask {
            Err(problem) => Answer::Wrong(problem),
            Ok(Ask::Hello) => Answer::Hello(hello()),
            Ok(Ask::Begin) => match self.begin() {
                Ok(Some(channel)) => return Ok(Next::Child(channel)),
                Ok(None) => Answer::Ready,
                Err(problem) => Answer::Wrong(problem),
            },
            Ok(Ask::Try(attempt)) => self.attempt(&attempt),
            Ok(Ask::End) => self.end(),
            Ok(Ask::Bye) => {
                self.end();
                Answer::Ready
            }
        };
        self.reply(asked.seq, answer)?;
        Ok(if bye { Next::Over } else { Next::Continue })
    }

    /// True when the request belongs to this session. The first `Hello` founds it; what comes
    /// before has no session, and what carries another nonce is not meant for us.
    fn adopt(&mut self, nonce: String, ask: &Result<Ask, String>) -> bool {
        if self.nonce.is_empty() && matches!(ask, Ok(Ask::Hello) | Err(_)) {
            self.nonce = nonce;
            return true;
        }
        let same = nonce == self.nonce;
        wipe_text(nonce);
        same
    }

    /// Forks. A channel means: this is the child.
    fn begin(&mut self) -> Result<Option<Channel>, String> {
        if self.child.is_some() {
            return Err("begin came twice: send end first".to_owned());
        }
        match Child::begin() {
            Ok(Begun::Child(channel)) => Ok(Some(channel)),
            Ok(Begun::Probe(child)) => {
                self.child = Some(child);
                Ok(None)
            }
            Err(error) => Err(format!("no child could be started: {error}")),
        }
    }

    fn attempt(&mut self, attempt: &Attempt) -> Answer {
        match &mut self.child {
            None => Answer::Wrong("there is no child to try it: send begin first".to_owned()),
            Some(child) => match child.attempt(attempt) {
                Ok(observation) => Answer::Saw(observation),
                Err(problem) => Answer::Wrong(problem),
            },
        }
    }

    fn end(&mut self) -> Answer {
        match self.child.take() {
            None => Answer::Wrong("there is no child to end: send begin first".to_owned()),
            Some(child) => {
                child.end();
                Answer::Ready
            }
        }
    }

    fn reply(&mut self, seq: u64, answer: Answer) -> io::Result<()> {
        // The nonce moves through the reply and back: it is never copied to another place.
        let nonce = std::mem::take(&mut self.nonce);
        let reply = Reply { v: VERSION, nonce, seq, answer };
        // Someone may have begun a line on the same output and not ended it.
        let begun = self.link.out.write_all(b"\n");
        let written = serde_json::to_writer(&mut self.link.out, &reply);
        self.nonce = reply.nonce;
        begun?;
        written?;
        self.link.out.write_all(b"\n")?;
        self.link.out.flush()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        wipe_text(std::mem::take(&mut self.nonce));
    }
}

/// Reads a request, or at least whom to tell that it is wrong.
fn parse(line: &[u8]) -> Option<Asked> {
    match serde_json::from_slice::<Request>(line) {
        Ok(Request { v: VERSION, nonce, seq, ask }) => Some(Asked { nonce, seq, ask: Ok(ask) }),
        Ok(Request { v, nonce, seq, .. }) => Some(Asked { nonce, seq, ask: Err(other_version(v)) }),
        Err(error) => {
            let Envelope { v, nonce, seq } = serde_json::from_slice(line).ok()?;
            let problem =
                if v == VERSION { format!("not understood: {error}") } else { other_version(v) };
            Some(Asked { nonce, seq, ask: Err(problem) })
        }
    }
}

fn other_version(v: u32) -> String {
    format!("version {v} of the protocol is asked for, this probe speaks {VERSION}")
}

fn wipe_text(text: String) {
    wipe(&mut text.into_bytes());
}
