//! [`Session`]: one launch of one subject, and the conversation with the probe inside it.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use sandproof_probes::wire::{Answer, Ask, Hello, Reply, Request, VERSION};
use sandproof_probes::{Attempt, Observation};

use crate::channel::{Folder, Input, Woken, wait_any};
use crate::evidence::End;
use crate::supervisor::{Event, Order, Supervisor};

/// What a session is started with.
#[derive(Debug)]
pub struct Start<'a> {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: BTreeMap<String, String>,
    /// Working directory.
    pub cwd: String,
    /// Descriptors the launcher inherits.
    pub inherited: &'a [(i32, OwnedFd)],
    /// Its controlling terminal.
    pub terminal: Option<BorrowedFd<'a>>,
    /// Folder of the channel for subjects that pass no stdin.
    pub folder: Folder,
    /// Nonces of the two channels.
    pub nonces: [String; 2],
    /// When its time is over.
    pub deadline: Instant,
}

/// A running subject with its probe.
#[derive(Debug)]
pub struct Session<'a> {
    supervisor: &'a Supervisor,
    to: Option<std::fs::File>,
    from: Input,
    errors: Input,
    folder: Option<Folder>,
    nonce: String,
    seq: u64,
    deadline: Instant,
    ended: Option<Finished>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gone {
    /// Time is over.
    Deadline,
    /// The subject ended.
    Ended(Option<End>),
    /// The probe did not understand, or answered something else.
    Protocol(String),
    /// It could not be started.
    Unstartable(String),
}

/// How a launch ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finished {
    /// How the subject ended; none when it was killed.
    pub end: Option<End>,
    /// Processes it left behind.
    pub leftovers: Vec<String>,
    /// It did not end by itself in time.
    pub late: bool,
    /// What it said on stderr, then whatever on stdout was no protocol line.
    pub said: String,
}

impl<'a> Session<'a> {
    /// Starts the subject and waits for the probe's hello.
    ///
    /// # Errors
    /// Why there was no hello, with how the subject ended.
    pub fn open(
        supervisor: &'a Supervisor,
        start: Start<'_>,
    ) -> Result<(Self, Hello), (Gone, Finished)> {
        let mut session = Self::launch(supervisor, start)
            .map_err(|error| (Gone::Unstartable(error.to_string()), Finished::default()))?;
        match supervisor.event() {
            Ok(Event::Started) => {}
            Ok(Event::Unstartable(why)) => {
                return Err((Gone::Unstartable(why), Finished::default()));
            }
            Ok(Event::Ended { .. }) => {
                return Err((Gone::Protocol("an end without a start".into()), Finished::default()));
            }
            Err(error) => return Err((Gone::Unstartable(error.to_string()), Finished::default())),
        }
        match session.greet() {
            Ok(hello) => Ok((session, hello)),
            Err(gone) => {
                let finished = session.kill();
                Err((gone, finished))
            }
        }
    }

    /// Performs one attempt inside.
    ///
    /// # Errors
    /// Why there is no observation.
    pub fn attempt(&mut self, attempt: Attempt) -> Result<Observation, Gone> {
        match self.ask(Ask::Try(attempt))? {
            Answer::Saw(observation) => Ok(observation),
            other @ (Answer::Hello(_) | Answer::Ready | Answer::Wrong(_)) => {
                Err(unexpected(&other))
            }
        }
    }

    /// Begins or ends the child that performs attempts.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn order(&mut self, ask: Ask) -> Result<(), Gone> {
        match self.ask(ask)? {
            Answer::Ready => Ok(()),
            other @ (Answer::Hello(_) | Answer::Saw(_) | Answer::Wrong(_)) => {
                Err(unexpected(&other))
            }
        }
    }

    /// Lets the probe end, and waits for the whole tree.
    pub fn finish(mut self) -> Finished {
        let asked = self.ask(Ask::Bye);
        self.to = None;
        let mut waiting = matches!(asked, Ok(_) | Err(Gone::Ended(_)));
        while waiting && self.ended.is_none() {
            waiting = self.listen().is_ok();
        }
        match self.ended.take() {
            Some(finished) => finished,
            None => Finished { late: true, ..self.kill() },
        }
    }

    /// Kills the tree, and waits for it.
    pub fn kill(mut self) -> Finished {
        self.to = None;
        if self.ended.is_none() && self.supervisor.order(&Order::Kill, &[]).is_ok() {
            match self.supervisor.event() {
                Ok(event) => self.note_end(event),
                Err(_) => self.ended = None,
            }
        }
        self.drain();
        let mut finished = self.ended.take().unwrap_or_default();
        finished.said = self.said();
        finished
    }

    fn launch(supervisor: &'a Supervisor, start: Start<'_>) -> io::Result<Self> {
        let (stdin, to) = io::pipe()?;
        let (from, stdout) = io::pipe()?;
        let (errors, stderr) = io::pipe()?;
        let order = Order::Start {
            argv: start.argv,
            env: start.env,
            cwd: start.cwd,
            inherited: start.inherited.iter().map(|(number, _)| *number).collect(),
            terminal: start.terminal.is_some(),
        };
        let mut fds = vec![stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
        fds.extend(start.inherited.iter().map(|(_, fd)| fd.as_fd()));
        fds.extend(start.terminal);
        let mut session = Self {
            supervisor,
            to: Some(OwnedFd::from(to).into()),
            from: Input::new(from.into())?,
            errors: Input::new(errors.into())?,
            folder: Some(start.folder),
            nonce: start.nonces[0].clone(),
            seq: 1,
            deadline: start.deadline,
            ended: None,
        };
        // Written before the start: the probe finds its first request waiting on either channel.
        let folder_hello = line(&start.nonces[1], 1, Ask::Hello)?;
        if let Some(folder) = &mut session.folder {
            folder.nonce = start.nonces[1].clone();
            folder.write(&folder_hello)?;
        }
        let hello = line(&session.nonce, 1, Ask::Hello)?;
        session.write(&hello)?;
        supervisor.order(&order, &fds)?;
        Ok(session)
    }

    /// Waits for the hello, on whichever channel it comes.
    fn greet(&mut self) -> Result<Hello, Gone> {
        let answer = self.answer()?;
        match answer {
            Answer::Hello(hello) => Ok(hello),
            other @ (Answer::Ready | Answer::Saw(_) | Answer::Wrong(_)) => Err(unexpected(&other)),
        }
    }

    fn ask(&mut self, ask: Ask) -> Result<Answer, Gone> {
        self.seq += 1;
        let line = line(&self.nonce, self.seq, ask).map_err(|e| Gone::Protocol(e.to_string()))?;
        if self.write(&line).is_err() {
            // The reading side is closed: the probe is gone. Its end says more than this error.
            while self.ended.is_none() {
                self.listen()?;
            }
        }
        self.answer()
    }

    /// The answer to the request with the present number.
    fn answer(&mut self) -> Result<Answer, Gone> {
        loop {
            while let Some(line) = self.from.line() {
                if let Some(answer) = self.understand(&line, &self.nonce.clone()) {
                    self.folder = self.folder.take().filter(|folder| folder.in_use);
                    return Ok(answer);
                }
                self.from.noise(&line);
            }
            if let Some(answer) = self.folder_answer() {
                return Ok(answer);
            }
            if let Some(finished) = &self.ended {
                return Err(Gone::Ended(finished.end));
            }
            self.listen()?;
        }
    }

    /// An answer by the folder; the first one makes the folder the channel.
    fn folder_answer(&mut self) -> Option<Answer> {
        let (lines, nonce) = {
            let folder = self.folder.as_mut()?;
            (folder.input.lines(), folder.nonce.clone())
        };
        let answer = lines.iter().find_map(|line| self.understand(line, &nonce))?;
        if let Some(folder) = self.folder.as_mut().filter(|folder| !folder.in_use) {
            folder.in_use = true;
            self.nonce = nonce;
            self.to = None;
        }
        Some(answer)
    }

    fn understand(&self, line: &[u8], nonce: &str) -> Option<Answer> {
        let reply: Reply = serde_json::from_slice(line).ok()?;
        (reply.v == VERSION && reply.nonce == nonce && reply.seq == self.seq)
            .then_some(reply.answer)
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        match (&mut self.folder, &mut self.to) {
            (Some(folder), _) if folder.in_use => folder.write(line),
            (_, Some(to)) => to.write_all(line),
            (_, None) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Waits until something comes: output, errors, an event, or the deadline.
    fn listen(&mut self) -> Result<(), Gone> {
        let woken = wait_any(
            [&self.from, &self.errors],
            self.folder.as_ref().map(|folder| &folder.input),
            self.supervisor.fd(),
            self.deadline,
        )
        .map_err(|error| Gone::Protocol(error.to_string()))?;
        match woken {
            Woken::Deadline => return Err(Gone::Deadline),
            Woken::Event => {
                let event =
                    self.supervisor.event().map_err(|error| Gone::Protocol(error.to_string()))?;
                self.drain();
                self.note_end(event);
            }
            Woken::Output => self.drain(),
        }
        Ok(())
    }

    fn note_end(&mut self, event: Event) {
        self.drain();
        let Event::Ended { code, signal, leftovers } = event else { return };
        let end = code.map(End::Exited).or(signal.map(End::Signalled));
        self.ended = Some(Finished { end, leftovers, late: false, said: self.said() });
    }

    fn drain(&mut self) {
        self.from.fill();
        self.errors.fill();
        if let Some(folder) = &mut self.folder {
            folder.input.fill();
        }
    }

    fn said(&mut self) -> String {
        while let Some(line) = self.from.line() {
            self.from.noise(&line);
        }
        let mut said = String::from_utf8_lossy(self.errors.all()).into_owned();
        said.push_str(&String::from_utf8_lossy(self.from.noise_so_far()));
        said.push_str(&String::from_utf8_lossy(self.from.all()));
        said
    }
}

fn line(nonce: &str, seq: u64, ask: Ask) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Request { v: VERSION, nonce: nonce.to_owned(), seq, ask })?;
    line.push(b'\n');
    Ok(line)
}

fn unexpected(answer: &Answer) -> Gone {
    match answer {
        Answer::Wrong(why) => Gone::Protocol(why.clone()),
        Answer::Hello(_) | Answer::Ready | Answer::Saw(_) => {
            Gone::Protocol("an answer to something else".into())
        }
    }
}
