//! [`Events`]: what is noted about a start in `GROK_HOME/sandbox-events.jsonl`, one JSON object a
//! line. Only confine itself writes it, from outside the sandbox.
//!
//! What cannot be noted is a refusal: a log with holes proves nothing. A refusal itself is noted
//! where there is a GROK_HOME already; it makes none.

mod log;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::mutant::{self, Mutant};
use super::refusal::Refusal;
use super::state::LOG;
use log::Log;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event_type")]
pub enum Event {
    /// The command is confined and about to run.
    ProfileApplied(Applied),
    /// Nothing was started.
    ApplyFailed {
        /// The workspace.
        workspace: String,
        /// What would have enforced the profile.
        platform: Platform,
        /// Always false.
        enforced: bool,
        /// Why.
        error: String,
    },
    /// The command was denied a file.
    FsViolation(Violation),
    /// The command was denied the network.
    NetViolation(Violation),
    /// Less is enforced than the profile says, because that was asked for.
    BypassGranted {
        /// What was asked for: `--fail-open`, `--sandbox off`.
        operation: String,
        /// What is not enforced, and why.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        error: String,
    },
    /// Less was asked for than something above allows.
    BypassDenied {
        /// Why not.
        error: String,
    },
}

/// What is enforced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The workspace.
    pub workspace: String,
    /// What enforces it.
    pub platform: Platform,
    /// False when `--fail-open` lost something, as noted before.
    pub enforced: bool,
    /// The network of the command is blocked.
    pub restrict_network: bool,
    /// Write roots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_write_paths: Vec<String>,
    /// Read roots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_only_paths: Vec<String>,
    /// What is denied; globs are not expanded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny_paths: Vec<String>,
}

/// One denial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// What was tried: the right that was missing, or the call.
    pub operation: String,
    /// On what: a path, or a family of sockets.
    pub target: String,
    /// The program that tried, by its own name, which it can choose.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// Its process, as seen from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

/// What enforces a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Platform {
    /// Landlock, seccomp and mounts.
    #[serde(rename = "linux/landlock")]
    Linux,
    /// Seatbelt.
    #[serde(rename = "macos/seatbelt")]
    Macos,
    /// Nothing that confine knows.
    #[default]
    #[serde(rename = "unknown")]
    Unknown,
}

impl Platform {
    /// That of this program.
    #[must_use]
    pub fn here() -> Self {
        if cfg!(target_os = "linux") {
            Self::Linux
        } else if cfg!(target_os = "macos") {
            Self::Macos
        } else {
            Self::Unknown
        }
    }
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// When, in UTC, as RFC 3339 writes it.
    pub timestamp: String,
    /// Under which profile.
    pub profile: String,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// Where the events of one start go.
#[derive(Clone, Debug, Default)]
pub struct Events {
    profile: String,
    workspace: String,
    log: Option<Log>,
}

impl Events {
    /// Events of a start under this profile; `grok_home` is absent when nothing is to be noted.
    #[must_use]
    pub fn of(profile: &str, workspace: &Path, grok_home: Option<&Path>) -> Self {
        Self {
            profile: profile.to_owned(),
            workspace: workspace.display().to_string(),
            log: grok_home.map(|folder| Log::at(&folder.join(LOG))),
        }
    }

    /// Makes the log and its folder where they are missing, and sees whether it can be written.
    ///
    /// # Errors
    /// It cannot.
    pub fn open(&self) -> Result<(), Refusal> {
        let Some(log) = self.log.as_ref().filter(|_| !mutant::on(Mutant::StartsUnnoted)) else {
            return Ok(());
        };
        let opened = log.make_folder().and_then(|()| log.append(b""));
        opened.or_else(|error| {
            let ignored = mutant::on(Mutant::LogFailureIgnored);
            if ignored { Ok(()) } else { Err(log.unwritable(&error)) }
        })
    }

    /// Whether anything is noted.
    #[must_use]
    pub fn are_noted(&self) -> bool {
        self.log.is_some()
    }

    /// From here on nothing is noted.
    pub fn close(&mut self) {
        self.log = None;
    }

    /// Notes an event.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn note(&self, event: Event) -> Result<(), Refusal> {
        let Some(log) = self.log.as_ref().filter(|_| !mutant::on(Mutant::StartsUnnoted)) else {
            return Ok(());
        };
        let line = Line {
            timestamp: jiff::Timestamp::now().to_string(),
            profile: self.profile.clone(),
            event,
        };
        let written =
            serde_json::to_vec(&line).map_err(std::io::Error::from).and_then(|mut line| {
                line.push(b'\n');
                log.append(&line)
            });
        written.or_else(|error| {
            let ignored = mutant::on(Mutant::LogFailureIgnored);
            if ignored { Ok(()) } else { Err(log.unwritable(&error)) }
        })
    }

    /// Notes that less is enforced, as was asked for.
    ///
    /// # Errors
    /// See [`Events::note`].
    pub fn granted(&self, operation: &str, error: &str) -> Result<(), Refusal> {
        let (operation, error) = (operation.to_owned(), error.to_owned());
        self.note(Event::BypassGranted { operation, error })
    }

    /// Notes that nothing was started. Whoever is refused hears of it anyway, so a log that cannot
    /// be written changes nothing.
    pub fn refused(&self, refusal: &Refusal) {
        if !self.log.as_ref().is_some_and(Log::has_safe_folder) {
            return;
        }
        let error = refusal.to_string();
        if refusal.is_about_bypass() {
            let _ = self.note(Event::BypassDenied { error: error.clone() });
        }
        let workspace = self.workspace.clone();
        let platform = Platform::here();
        let _ = self.note(Event::ApplyFailed { workspace, platform, enforced: false, error });
    }
}

/// Paths as text; what is no UTF-8 is replaced.
#[must_use]
pub fn texts(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

#[cfg(test)]
mod tests;
