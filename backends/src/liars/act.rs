//! [`liar_main`]: what the executable does when it is started as a liar.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};

use super::relay::{Beside, BlockMost, DenyAll, FakeSuccess, Kill, Strip, relay};
use super::{LiarKind, daemon, forge};

/// No liar outlives this, whatever becomes of the harness.
const LONGEST: Duration = Duration::from_secs(600);

/// The file that [`LiarKind::LeavesResidue`] leaves in the workspace.
const RESIDUE: &str = ".liar-was-here";

/// The words after `liar`.
#[derive(Debug, PartialEq, Eq)]
struct Words {
    kind: LiarKind,
    folder: PathBuf,
    skip: usize,
    command: Vec<OsString>,
}

/// Acts as a liar: `KIND [--folder DIR] [--skip N] -- COMMAND...`; returns the exit status.
#[must_use]
pub fn liar_main(args: &[OsString]) -> i32 {
    if args.first().is_some_and(|word| word == daemon::ARGUMENT) {
        return daemon::daemon(&args[1..]);
    }
    let outcome = words(args).and_then(act);
    outcome.unwrap_or_else(|error| {
        // Where standard error is closed, nobody listens.
        let _ = writeln!(io::stderr(), "liar: {error}");
        125
    })
}

fn words(args: &[OsString]) -> io::Result<Words> {
    let bad = |what: &str| io::Error::new(ErrorKind::InvalidInput, what.to_owned());
    let kind = args.first().and_then(|name| LiarKind::parse(name.to_str()?));
    let kind = kind.ok_or_else(|| bad("the first word must be the name of a liar"))?;
    let (mut folder, mut skip) = (PathBuf::new(), 0);
    let mut rest = args[1..].iter();
    loop {
        let word = rest.next().and_then(|word| word.to_str());
        match word {
            Some("--folder") => folder = rest.next().ok_or_else(|| bad("no folder"))?.into(),
            Some("--skip") => {
                let number = rest.next().and_then(|n| n.to_str()?.parse().ok());
                skip = number.ok_or_else(|| bad("--skip needs a number"))?;
            }
            Some("--") => break,
            _ => return Err(bad("the words are KIND [--folder DIR] [--skip N] -- COMMAND...")),
        }
    }
    let command: Vec<OsString> = rest.cloned().collect();
    if command.len() <= skip {
        return Err(bad("there is no command"));
    }
    Ok(Words { kind, folder, skip, command })
}

fn act(words: Words) -> io::Result<i32> {
    let command = &words.command;
    match words.kind {
        LiarKind::Null => become_command(command),
        LiarKind::DenyAll => relay(command, &mut DenyAll),
        LiarKind::RefusesEveryStart => refuse(),
        LiarKind::BlocksEverythingElse => relay(command, &mut BlockMost),
        LiarKind::FakesSuccess => relay(command, &mut FakeSuccess),
        LiarKind::LeaksSecondTime => leak_second_time(&words),
        LiarKind::Hangs => hang(),
        LiarKind::ForgesProtocol => forge::forge(),
        LiarKind::ForgesBeside => relay(command, &mut Beside),
        LiarKind::StripsMarkers => relay(command, &mut Strip),
        LiarKind::ExitsZero => Ok(0),
        LiarKind::KillsProbe => relay(command, &mut Kill::default()),
        LiarKind::LeavesResidue => {
            std::fs::write(words.folder.join(RESIDUE), "a liar was here\n")?;
            daemon::leave()?;
            become_command(command)
        }
    }
}

/// Becomes the command, or says why not.
fn become_command(command: &[OsString]) -> io::Result<i32> {
    Err(Command::new(&command[0]).args(&command[1..]).exec())
}

fn refuse() -> io::Result<i32> {
    writeln!(io::stderr(), "liar: refused: nothing is ever started here")?;
    Ok(125)
}

/// The memory is a file in the configuration folder of the arena.
fn leak_second_time(words: &Words) -> io::Result<i32> {
    let memory = words.folder.join("started-before");
    match OpenOptions::new().write(true).create_new(true).open(memory) {
        Ok(_) => become_command(&words.command),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            become_command(&words.command[words.skip..])
        }
        Err(error) => Err(error),
    }
}

/// Blocks what asks politely, and waits for KILL.
fn hang() -> io::Result<i32> {
    let mut polite = SigSet::empty();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT] {
        polite.add(signal);
    }
    polite.thread_block()?;
    let end = Instant::now() + LONGEST;
    while Instant::now() < end {
        thread::park_timeout(LONGEST);
    }
    Ok(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> io::Result<Words> {
        words(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn words_are_taken_apart() {
        let words = parse("leaks-second-time --folder /c --skip 1 -- box probe").unwrap();
        assert_eq!(words.kind, LiarKind::LeaksSecondTime);
        assert_eq!((words.folder, words.skip), (PathBuf::from("/c"), 1));
        assert_eq!(words.command, ["box", "probe"]);
    }

    #[test]
    fn bad_words_are_refused() {
        for line in
            ["", "honest -- a", "null a", "null --", "null --skip x -- a", "null --skip 1 -- a"]
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
