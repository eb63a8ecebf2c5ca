//! [`Args`]: the command line of `confine`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::glob::Limits;

/// Runs a command in a sandbox, or refuses.
///
/// Exits 125 when it refuses, 126 when the command cannot be run, 127 when it is not found,
/// 128+n when it ended on signal n, else with the status of the command.
#[derive(Clone, Debug, Parser)]
#[command(name = "confine", version)]
pub struct Args {
    /// What the command may do: workspace, devbox, read-only, strict, workspace-write, off, or a
    /// profile of sandbox.toml. When absent `$GROK_SANDBOX`, the session, config.toml, else off.
    #[arg(long = "sandbox", value_name = "PROFILE")]
    pub profile: Option<String>,

    /// The workspace; the current folder when absent.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// One more path that may be read.
    #[arg(long, value_name = "PATH")]
    pub read_only: Vec<PathBuf>,

    /// One more path that may be read and written; made when missing.
    #[arg(long, value_name = "PATH")]
    pub read_write: Vec<PathBuf>,

    /// A path, or a glob, that may neither be read nor written.
    #[arg(long, value_name = "PATH|GLOB")]
    pub deny: Vec<OsString>,

    /// How deep deny globs are followed, 64 when absent; more is a refusal.
    #[arg(long, value_name = "N")]
    pub glob_depth: Option<usize>,

    /// How many paths deny globs may match together, 4096 when absent.
    #[arg(long, value_name = "N")]
    pub glob_matches: Option<usize>,

    /// How many files and folders may be looked at for deny globs, 2000000 when absent.
    #[arg(long, value_name = "N")]
    pub glob_entries: Option<usize>,

    /// Let the folders of denied paths be renamed, which a later start does not know of.
    #[arg(long)]
    pub no_deny_pins: bool,

    /// A path that may be read but never written, moved or replaced.
    #[arg(long, value_name = "PATH")]
    pub protect: Vec<PathBuf>,

    /// Network of the command; the profile's when absent.
    #[arg(long, value_name = "open|blocked")]
    pub network: Option<NetworkArg>,

    /// A JSON file that says which environment variables reach the command.
    #[arg(long, value_name = "FILE")]
    pub env_policy: Option<PathBuf>,

    /// Begin a session of this name, and remember its profile.
    #[arg(long, value_name = "ID", conflicts_with_all = ["resume", "go_on"])]
    pub session: Option<String>,

    /// A title by which the new session can be found.
    #[arg(long, value_name = "TITLE", requires = "session")]
    pub session_title: Option<String>,

    /// The session the new one goes back to; its profile is kept.
    #[arg(long, value_name = "ID", requires = "session")]
    pub session_parent: Option<String>,

    /// Go on with this session, under the profile it began with.
    #[arg(long, value_name = "ID|TITLE", conflicts_with = "go_on")]
    pub resume: Option<String>,

    /// Go on with the newest session of this workspace.
    #[arg(long = "continue")]
    pub go_on: bool,

    /// An inherited descriptor the command keeps; all others but 0, 1 and 2 are closed.
    #[arg(long = "keep-fd", value_name = "N")]
    pub keep_fds: Vec<i32>,

    /// Stay in the session of the terminal.
    #[arg(long)]
    pub tty: bool,

    /// Do as if the host lacked this mechanism.
    #[arg(long, value_name = "MECHANISM")]
    pub without: Vec<Mechanism>,

    /// Use this mechanism and no other, and never refuse for want of another.
    #[arg(long, value_name = "MECHANISM", hide = true, conflicts_with = "without")]
    pub only: Option<Mechanism>,

    /// Refuse also when a mere second layer is missing.
    #[arg(long, conflicts_with = "fail_open")]
    pub strict_enforcement: bool,

    /// Start with what the host can enforce, and say what it cannot.
    #[arg(long)]
    pub fail_open: bool,

    /// Say which layer enforces each promise, and start nothing.
    #[arg(long)]
    pub explain: bool,

    /// Be this weakened variant.
    #[cfg(feature = "mutants")]
    #[arg(long = "mutant", value_name = "MUTANT", hide = true)]
    pub mutants: Vec<super::mutant::Mutant>,

    /// Go on inside bwrap, as this descriptor says.
    #[arg(long, value_name = "N", hide = true)]
    pub stage: Option<i32>,

    /// The command and its arguments.
    #[arg(last = true, required_unless_present_any = ["explain", "stage"], value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl Args {
    /// The limits of deny globs: these, but for what the command line says.
    #[must_use]
    pub fn limits(&self, otherwise: Limits) -> Limits {
        Limits {
            depth: self.glob_depth.unwrap_or(otherwise.depth),
            matches: self.glob_matches.unwrap_or(otherwise.matches),
            entries: self.glob_entries.unwrap_or(otherwise.entries),
        }
    }
}

/// The network as it may be spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NetworkArg {
    /// As on the host.
    Open,
    /// Unix sockets and route netlink only.
    Blocked,
}

/// A mechanism of the kernel, or a way to use one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Mechanism {
    /// Access rights of the command's own domain.
    Landlock,
    /// The filter of system calls.
    Seccomp,
    /// A mount namespace with covers.
    Mounts,
    /// Mounts made by confine itself; without it `bwrap` is tried.
    #[value(hide = true)]
    OwnMounts,
    /// The mount calls of Linux 5.12; without them bind and remount are used.
    #[value(hide = true)]
    NewMountCalls,
    /// An empty network namespace.
    NetworkNamespace,
}
