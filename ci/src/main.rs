//! Floor 4: checks of the project on itself, and what workflows call. Imports none of the other
//! crates: it reads their files and starts their executable.
//!
//! Every check is a function from a folder to [`Finding`]s; none means that it holds.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod cfg;
mod conformance;
mod files;
mod finding;
mod floors;
mod machine;
mod scenario;
mod schemas;
mod source;
mod tidy;
mod unsafes;
mod userns;
mod workflows;

use finding::{CheckError, Finding};

/// Checks of the project on itself.
#[derive(Debug, Parser)]
#[command(name = "sandproof-ci")]
struct Args {
    /// Folder of the workspace.
    #[arg(long, global = true, default_value = ".")]
    root: PathBuf,
    #[command(subcommand)]
    check: Check,
}

/// What is checked.
#[derive(Clone, Debug, Subcommand)]
enum Check {
    /// Module docs, file lengths, unfinished code, spaces, scenario ids, machine paths.
    Tidy,
    /// Which crate imports which, from cargo metadata.
    Floors,
    /// Where code asks for its operating system.
    Cfg,
    /// Where code is unsafe.
    Unsafe,
    /// The table of conformance of the reference sandbox is whole.
    Conformance,
    /// Actions pinned by hash, read-only tokens.
    Workflows,
    /// Committed schemas equal those that `sandproof schema` prints.
    Schemas {
        /// The built executable; without it, cargo runs it.
        #[arg(long)]
        sandproof: Option<PathBuf>,
    },
    /// All checks that need no built executable: all of the above but schemas.
    All,
    /// The AppArmor restriction of user namespaces is as a job says, or the job tests nothing.
    Userns {
        /// What the job says.
        state: userns::State,
    },
}

fn main() -> ExitCode {
    let Args { root, check } = Args::parse();
    match run(&root, &check) {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            for finding in &findings {
                say(&finding.to_string());
            }
            say(&format!("{} to mend", findings.len()));
            ExitCode::from(1)
        }
        Err(error) => {
            say(&format!("cannot check: {error}"));
            ExitCode::from(2)
        }
    }
}

/// A line on stderr; a closed one is no reason to fail otherwise than the check does.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn run(root: &Path, check: &Check) -> Result<Vec<Finding>, CheckError> {
    match check {
        Check::Tidy => tidy::check(root),
        Check::Floors => floors::check(root),
        Check::Cfg => cfg::check(root),
        Check::Unsafe => unsafes::check(root),
        Check::Conformance => conformance::check(root),
        Check::Workflows => workflows::check(root),
        Check::Schemas { sandproof } => schemas::check(root, sandproof.as_deref()),
        Check::Userns { state } => userns::check(Path::new(userns::SWITCH), *state),
        Check::All => {
            let checks = [
                tidy::check,
                floors::check,
                cfg::check,
                unsafes::check,
                conformance::check,
                workflows::check,
            ];
            let found: Result<Vec<_>, _> = checks.iter().map(|check| check(root)).collect();
            Ok(found?.concat())
        }
    }
}
