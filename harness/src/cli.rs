//! The command line of `sandproof`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Finds out, by trying, whether a sandbox keeps its promises.
#[derive(Debug, Parser)]
#[command(name = "sandproof", version, about, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run scenarios under sandboxes and judge what really happened
    Run(Box<RunArgs>),
    /// List the scenarios of the catalogue
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Where scenarios come from
        #[command(flatten)]
        source: SourceArgs,
    },
    /// Show one scenario, and with --backend the command line that would run
    Show {
        /// Scenario id
        id: String,
        /// Backend name or manifest file
        #[arg(long)]
        backend: Option<String>,
        /// Where scenarios come from
        #[command(flatten)]
        source: SourceArgs,
    },
    /// Explain a word of the grammar or of a report
    Explain {
        /// Key, verb, effect, capability, profile or verdict
        word: String,
    },
    /// Check scenarios and manifests without running anything
    Lint {
        /// A scenario file, a folder of scenarios, or a manifest; the catalogue when absent
        path: Option<PathBuf>,
    },
    /// Print a new scenario with every section filled in
    New {
        /// Scenario id: area/what-is-true-when-it-passes
        id: String,
        /// Write DIR/ID.yaml instead of printing; an existing file is left alone
        #[arg(long)]
        dir: Option<PathBuf>,
    },
    /// Print a JSON Schema
    Schema {
        /// scenario, manifest or journal
        #[arg(default_value = "scenario", value_parser = ["scenario", "manifest", "journal"])]
        of: String,
    },
    /// Say what this host can enforce, found by doing, and what mends the rest
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show journals in another format
    Report {
        /// Journals of earlier runs
        #[arg(required = true)]
        journals: Vec<PathBuf>,
        /// terminal, markdown, json or junit
        #[arg(long, default_value = "terminal")]
        format: String,
    },
    /// Compare two journals: what regressed, was repaired, is new or gone, and which input moved
    Diff {
        /// Journal of the earlier run
        old: PathBuf,
        /// Journal of the later run
        new: PathBuf,
    },
}

/// Where scenarios come from.
#[derive(Clone, Debug, Args)]
pub struct SourceArgs {
    /// Folder of scenarios in place of the catalogue; `embedded` adds it back (repeatable)
    #[arg(long = "scenarios", value_name = "DIR")]
    pub scenarios: Vec<PathBuf>,
}

/// Arguments of `sandproof run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Only cells whose name, `[backend/profile] id/route`, contains one of these
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Backends by name or manifest file; these alone run, and decide the exit code
    #[arg(long, value_delimiter = ',', value_name = "NAME|FILE")]
    pub backend: Vec<String>,
    /// Where scenarios come from
    #[command(flatten)]
    pub source: SourceArgs,
    /// Only these profiles
    #[arg(long, value_delimiter = ',', value_name = "P")]
    pub profile: Vec<String>,
    /// Only scenarios with this tag (repeatable)
    #[arg(long, value_name = "T")]
    pub tag: Vec<String>,
    /// Cells at a time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=256))]
    pub jobs: Option<u64>,
    /// Capabilities or backends whose absence is red
    #[arg(long, value_delimiter = ',', value_name = "CAP")]
    pub require: Vec<String>,
    /// Folder of known failures
    #[arg(long, value_name = "DIR")]
    pub waivers: Option<PathBuf>,
    /// Run part K of N
    #[arg(long, value_name = "K/N")]
    pub partition: Option<String>,
    /// Run every arm as this account (root only)
    #[arg(long = "as", value_name = "USER")]
    pub as_user: Option<String>,
    /// Where arenas go; never under /tmp, /var and other places that profiles grant
    #[arg(long, value_name = "DIR")]
    pub arena_root: Option<PathBuf>,
    /// Report format, to stdout or a file (repeatable) [default: terminal]
    #[arg(long, value_name = "FORMAT[=PATH]")]
    pub report: Vec<String>,
    /// Write the journal here
    #[arg(long, value_name = "PATH")]
    pub journal: Option<PathBuf>,
    /// Seconds that one arm may take
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    pub timeout: f64,
    /// Leave arenas behind and say where
    #[arg(long)]
    pub keep_arena: bool,
    /// Number from which all random words come [default: a fresh one]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Take a mechanism away from confine: landlock, seccomp, mounts or network-namespace; without
    /// own-mounts bwrap lays the mounts, without new-mount-calls bind and remount are used
    #[arg(long, value_delimiter = ',', value_name = "MECHANISM",
          value_parser = ["landlock", "seccomp", "mounts", "own-mounts", "new-mount-calls",
                          "network-namespace"])]
    pub without: Vec<String>,
    /// Only show that the attacks work without a sandbox
    #[arg(long)]
    pub control_only: bool,
    /// The filters are whole names
    #[arg(long)]
    pub exact: bool,
    /// Stop at the first red verdict
    #[arg(long)]
    pub fail_fast: bool,
}
