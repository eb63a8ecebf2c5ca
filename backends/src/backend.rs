//! The trait [`Backend`]: identity, abilities, and how to start its subject.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use sandproof_scenarios::{Capability, Platform, Policy, Rooms};
use serde::{Deserialize, Serialize};

use crate::{Launch, Unsupported};

/// Turns a policy and an arena into a command line. It never sees an expectation.
pub trait Backend: Send + Sync + fmt::Debug {
    /// Name in reports and on the command line, kebab case.
    fn name(&self) -> &str;

    /// One line for users.
    fn title(&self) -> &str;

    /// Where it exists at all.
    fn platforms(&self) -> &[Platform];

    /// What it can express (capabilities of backends only).
    fn can(&self) -> &BTreeSet<Capability>;

    /// Shortfalls that the vendor documents.
    fn gaps(&self) -> &[Gap] {
        &[]
    }

    /// Capabilities of the host without which it cannot enforce a policy that asks for `wanted`:
    /// lacking one of them is a skip that says what mends it.
    fn needs(&self, _wanted: &BTreeSet<Capability>) -> Vec<Capability> {
        Vec::new()
    }

    /// Whether it can be started on this machine by this user, found by doing; and the identity
    /// of what would be started. Called once per run, before planning.
    ///
    /// # Errors
    /// What is missing, and the command that mends it.
    fn detect(&self) -> Result<Subject, NotReady>;

    /// The command line for one arm. `command` is what must run inside; `rooms.config` is a
    /// private empty folder, made before.
    ///
    /// # Errors
    /// A policy item or a path that cannot be expressed: a skip, never a silent pass.
    fn launch(
        &self,
        policy: &Policy,
        rooms: &Rooms,
        command: &[OsString],
    ) -> Result<Launch, Unsupported>;

    /// Glob patterns (`*`, `?`) of what the subject is known to leave outside the rooms. What is
    /// found there is removed, and counts as residue unless under a gap.
    fn leaves(&self, _rooms: &Rooms) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Files in the rooms in which the subject itself, under this GROK_HOME, notes what it does. They may grow by lines
    /// of JSON; any other change of them is residue.
    fn logs(&self, _grok_home: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// The concrete sandbox behind a backend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// Product name.
    pub name: String,
    /// Version as it says itself.
    pub version: String,
    /// SHA-256 (hex) of its executable.
    pub sha256: String,
    /// Version and hash of programs it calls: `0.8.0 sha256:…`.
    pub helpers: BTreeMap<String, String>,
}

/// Why a backend cannot be started here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotReady {
    /// What is missing, a lower-case fragment.
    pub why: String,
    /// The command that mends it, or what to do.
    pub mend: String,
}

/// A shortfall that the vendor documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Scenario id, or id/route.
    pub id: String,
    /// Where it applies.
    pub platforms: Vec<Platform>,
    /// The vendor's document.
    pub link: String,
    /// The vendor's words, paraphrased.
    pub says: String,
}
