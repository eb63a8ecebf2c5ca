//! Subjects that lie, to test the harness: each declares every capability of a backend, enforces
//! nothing it says, and must be caught. They are never shown in a user's table.

mod act;
mod daemon;
mod forge;
mod relay;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sandproof_scenarios::{Capability, Platform, Policy, Rooms};

use crate::identify;
use crate::{Backend, Launch, NotReady, Subject, Unsupported};

pub use act::liar_main;

/// The hidden first argument that turns sandproof into a liar.
pub const LIAR_ARGUMENT: &str = "liar";

/// What a liar does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LiarKind {
    /// Runs the command unconfined.
    Null,
    /// Starts the probe, and answers every attempt itself: EPERM.
    DenyAll,
    /// Prints a refusal and ends with status 125.
    RefusesEveryStart,
    /// Lets names be seen (stat, list, readlink) and denies all else with EACCES: more plausible
    /// than `deny-all`, it passes a still-works that reads nothing.
    BlocksEverythingElse,
    /// Performs nothing, and answers every attempt with success and no output.
    FakesSuccess,
    /// Hands over to an honest sandbox at the first start in an arena, to none at the second.
    LeaksSecondTime,
    /// Never starts the probe, stays deaf to TERM.
    Hangs,
    /// Runs nothing, answers with protocol lines of its own under invented nonces.
    ForgesProtocol,
    /// Relays, and prints such lines before and after each true one.
    ForgesBeside,
    /// Relays, but blots every marker out of the text.
    StripsMarkers,
    /// Runs nothing, ends with status 0.
    ExitsZero,
    /// Kills the probe at the second attempt, or at the end of a route that has only one.
    KillsProbe,
    /// Relays, but leaves a file in the workspace and a process of a session of its own.
    LeavesResidue,
}

impl LiarKind {
    /// All kinds.
    pub const ALL: [LiarKind; 13] = [
        LiarKind::Null,
        LiarKind::DenyAll,
        LiarKind::RefusesEveryStart,
        LiarKind::BlocksEverythingElse,
        LiarKind::FakesSuccess,
        LiarKind::LeaksSecondTime,
        LiarKind::Hangs,
        LiarKind::ForgesProtocol,
        LiarKind::ForgesBeside,
        LiarKind::StripsMarkers,
        LiarKind::ExitsZero,
        LiarKind::KillsProbe,
        LiarKind::LeavesResidue,
    ];

    /// Its name as a backend.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LiarKind::Null => "null",
            LiarKind::DenyAll => "deny-all",
            LiarKind::RefusesEveryStart => "refuses-every-start",
            LiarKind::BlocksEverythingElse => "blocks-everything-else",
            LiarKind::FakesSuccess => "fakes-success",
            LiarKind::LeaksSecondTime => "leaks-second-time",
            LiarKind::Hangs => "hangs",
            LiarKind::ForgesProtocol => "forges-protocol",
            LiarKind::ForgesBeside => "forges-beside",
            LiarKind::StripsMarkers => "strips-markers",
            LiarKind::ExitsZero => "exits-zero",
            LiarKind::KillsProbe => "kills-probe",
            LiarKind::LeavesResidue => "leaves-residue",
        }
    }

    /// What catches it.
    #[must_use]
    pub fn caught_by(self) -> &'static str {
        match self {
            LiarKind::Null => "every attack gets through: fail(escape)",
            LiarKind::DenyAll => "still-works and works are denied: fail(overblock)",
            LiarKind::RefusesEveryStart => {
                "no hello: the subject did not start; where a start must be refused, its twin"
            }
            LiarKind::BlocksEverythingElse => {
                "still-works that read, write or run something are denied: fail(overblock)"
            }
            LiarKind::FakesSuccess => {
                "still-works and works show another result than in the control arm, and nothing changed outside"
            }
            LiarKind::LeaksSecondTime => "routes with `again`: the second start leaks",
            LiarKind::Hangs => "the deadline, and the kill of the whole tree",
            LiarKind::ForgesProtocol => "no line carries the nonce of the session: no hello",
            LiarKind::ForgesBeside => "only lines with the nonce count: every attack gets through",
            LiarKind::StripsMarkers => "the hashes of the words that were read",
            LiarKind::ExitsZero => "status 0 without a hello is neither a start nor a refusal",
            LiarKind::KillsProbe => "a probe that died is inconclusive, never a denial",
            LiarKind::LeavesResidue => {
                "the photograph of the rooms and the list of processes; attacks get through besides"
            }
        }
    }

    fn parse(name: &str) -> Option<Self> {
        LiarKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The backend that starts a liar.
#[derive(Debug)]
pub struct Liar {
    kind: LiarKind,
    exe: PathBuf,
    can: BTreeSet<Capability>,
    honest: Option<Box<dyn Backend>>,
}

impl Liar {
    /// A liar that needs no other backend, that is every kind but [`LiarKind::LeaksSecondTime`].
    /// `exe` is the executable that runs [`liar_main`].
    #[must_use]
    pub fn new(kind: LiarKind, exe: &Path) -> Self {
        // All there are but one: a liar has no tools of its own that could be called.
        let can = Capability::ALL
            .into_iter()
            .filter(|capability| !capability.of_host() && *capability != Capability::AgentTools)
            .collect();
        Self { kind, exe: exe.to_path_buf(), can, honest: None }
    }

    /// [`LiarKind::LeaksSecondTime`], with the sandbox that it uses at the first start.
    #[must_use]
    pub fn leaks_second_time(exe: &Path, honest: Box<dyn Backend>) -> Self {
        Self { honest: Some(honest), ..Self::new(LiarKind::LeaksSecondTime, exe) }
    }

    /// What it does.
    #[must_use]
    pub fn kind(&self) -> LiarKind {
        self.kind
    }

    /// The command line in front of `rest`; `options` are for [`liar_main`].
    fn argv(&self, options: &[OsString], rest: &[OsString]) -> Vec<OsString> {
        let mut argv = vec![self.exe.clone().into(), LIAR_ARGUMENT.into(), self.kind.name().into()];
        argv.extend_from_slice(options);
        argv.push("--".into());
        argv.extend_from_slice(rest);
        argv
    }

    /// Adds the liar to the launch of the honest sandbox: at the second start it skips the words
    /// in front of the command.
    fn beside(&self, honest: Launch, rooms: &Rooms, command: &[OsString]) -> Launch {
        let skip = honest.argv.len() - command.len();
        let options = [
            "--folder".into(),
            rooms.config.clone().into(),
            "--skip".into(),
            skip.to_string().into(),
        ];
        Launch { argv: self.argv(&options, &honest.argv), ..honest }
    }
}

impl Backend for Liar {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn title(&self) -> &'static str {
        "a liar, to test the harness"
    }

    fn platforms(&self) -> &[Platform] {
        &[Platform::Linux, Platform::Macos]
    }

    fn can(&self) -> &BTreeSet<Capability> {
        &self.can
    }

    fn needs(&self, wanted: &BTreeSet<Capability>) -> Vec<Capability> {
        self.honest.as_ref().map_or_else(Vec::new, |honest| honest.needs(wanted))
    }

    fn detect(&self) -> Result<Subject, NotReady> {
        if let Some(honest) = &self.honest {
            honest.detect()?;
        }
        let sha256 = identify::sha256(&self.exe).map_err(|error| NotReady {
            why: format!("cannot read the executable `{}`: {error}", self.exe.display()),
            mend: "make it readable for this user".to_owned(),
        })?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Subject { name: self.name().to_owned(), version, sha256, ..Subject::default() })
    }

    fn launch(
        &self,
        policy: &Policy,
        rooms: &Rooms,
        command: &[OsString],
    ) -> Result<Launch, Unsupported> {
        if let Some(honest) = &self.honest {
            let launch = honest.launch(policy, rooms, command)?;
            return Ok(self.beside(launch, rooms, command));
        }
        let options = if self.kind == LiarKind::LeavesResidue {
            vec!["--folder".into(), rooms.work.clone().into()]
        } else {
            Vec::new()
        };
        Ok(Launch { argv: self.argv(&options, command), ..Launch::default() })
    }
}
