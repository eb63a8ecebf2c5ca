//! [`Weakened`]: the reference sandbox with mutants switched on, to test the catalogue. Only tests
//! build it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sandproof_scenarios::{Capability, Platform, Policy, Rooms};

use super::Confine;
use crate::confine::mutant::{self, Mutant, TABLE};
use crate::{Backend, Launch, NotReady, Subject, Unsupported};

/// What a backend of this module is called: this, and the name of its mutant.
const PREFIX: &str = "mutant-";

/// What is added when the other layers are off as well.
const GROUP: &str = "-and-layers";

/// The whole sandbox, weakened.
#[derive(Clone, Debug)]
pub struct Weakened {
    name: String,
    mutants: Vec<Mutant>,
    confine: Confine,
}

impl Weakened {
    /// The backend of this name: `mutant-NAME` for one alone, `mutant-NAME-and-layers` with those
    /// that switch off the other layers.
    #[must_use]
    pub fn by_name(name: &str, exe: &Path) -> Option<Self> {
        Self::all(exe).into_iter().find(|weakened| weakened.name == name)
    }

    /// Every mutant, alone and with its group.
    #[must_use]
    pub fn all(exe: &Path) -> Vec<Self> {
        TABLE.iter().flat_map(|row| [false, true].map(|group| Self::of(row, group, exe))).collect()
    }

    fn of(row: &mutant::Row, group: bool, exe: &Path) -> Self {
        let others = if group { row.held_by } else { &[] };
        let mutants = std::iter::once(row.mutant).chain(others.iter().copied()).collect();
        Self {
            name: format!("{PREFIX}{}{}", mutant::name(row.mutant), if group { GROUP } else { "" }),
            mutants,
            confine: Confine::new(PathBuf::from(exe), Vec::new()),
        }
    }
}

impl Backend for Weakened {
    fn name(&self) -> &str {
        &self.name
    }

    fn title(&self) -> &'static str {
        "the reference sandbox, weakened"
    }

    fn platforms(&self) -> &[Platform] {
        &[Platform::Linux]
    }

    fn can(&self) -> &BTreeSet<Capability> {
        self.confine.can()
    }

    fn needs(&self, wanted: &BTreeSet<Capability>) -> Vec<Capability> {
        self.confine.needs(wanted)
    }

    fn detect(&self) -> Result<Subject, NotReady> {
        self.confine.detect()
    }

    fn launch(
        &self,
        policy: &Policy,
        rooms: &Rooms,
        command: &[OsString],
    ) -> Result<Launch, Unsupported> {
        let mut launch = self.confine.launch(policy, rooms, command)?;
        // Right behind `EXE confine`.
        for mutant in &self.mutants {
            launch.argv.splice(2..2, ["--mutant".into(), mutant::name(*mutant).into()]);
        }
        Ok(launch)
    }

    fn leaves(&self, rooms: &Rooms) -> Vec<PathBuf> {
        self.confine.leaves(rooms)
    }

    fn logs(&self, grok_home: &Path) -> Vec<PathBuf> {
        self.confine.logs(grok_home)
    }
}
