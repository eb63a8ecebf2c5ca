//! What each sub-command does. All talk goes to stderr, results to stdout.

mod catalogue;
mod compare;
mod doctor;
mod run;
mod source;
mod waive;

use std::ffi::OsString;
use std::io::{self, Write as _};

use clap::Parser as _;

use crate::cli::{Cli, Command};
use crate::progress::say;

pub use doctor::ability;

/// The request is wrong.
pub const USAGE: i32 = 2;

/// Sandproof itself failed.
pub const INTERNAL: i32 = 3;

/// Why a command cannot be carried out: the exit status and what to say.
#[derive(Debug)]
pub struct Failure {
    /// Exit status.
    pub code: i32,
    /// What is wrong, where, and what to do.
    pub text: String,
}

impl Failure {
    /// The request is wrong.
    pub fn usage(text: impl Into<String>) -> Self {
        Self { code: USAGE, text: text.into() }
    }

    /// Sandproof itself failed.
    pub fn internal(text: impl Into<String>) -> Self {
        Self { code: INTERNAL, text: text.into() }
    }
}

/// Parses the command line and carries it out; answers the exit status.
#[must_use]
pub fn main(arguments: &[OsString]) -> i32 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { USAGE } else { 0 };
        }
    };
    match carry_out(cli.command) {
        Ok(code) => code,
        Err(failure) => {
            say(&format!("sandproof: {}", failure.text));
            failure.code
        }
    }
}

fn carry_out(command: Command) -> Result<i32, Failure> {
    match command {
        Command::Run(arguments) => run::run(&arguments),
        Command::List { json, source } => catalogue::list(json, &source),
        Command::Show { id, backend, source } => catalogue::show(&id, backend.as_deref(), &source),
        Command::Explain { word } => catalogue::explain(&word),
        Command::Lint { path } => catalogue::lint(path.as_deref()),
        Command::New { id, dir } => catalogue::new(&id, dir.as_deref()),
        Command::Schema { of } => catalogue::schema(&of),
        Command::Doctor { json } => doctor::doctor(json),
        Command::Report { journals, format } => compare::report(&journals, &format),
        Command::Diff { old, new } => compare::diff(&old, &new),
    }
}

/// Prints a result. A closed stdout (`| head`) is no failure.
///
/// # Errors
/// Any other reason why it cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::internal(format!("cannot write to stdout: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
