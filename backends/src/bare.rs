//! The backend `bare`: no sandbox at all, for the control arm.

use std::collections::BTreeSet;
use std::ffi::OsString;

use sandproof_scenarios::{Capability, Platform, Policy, Rooms};

use crate::{Backend, Launch, NotReady, Subject, Unsupported};

/// Starts the command as it is.
#[derive(Clone, Debug, Default)]
pub struct Bare {
    can: BTreeSet<Capability>,
}

impl Bare {
    /// Its name.
    pub const NAME: &str = "bare";
}

impl Backend for Bare {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn title(&self) -> &'static str {
        "no sandbox, the control arm"
    }

    fn platforms(&self) -> &[Platform] {
        &[Platform::Linux, Platform::Macos]
    }

    fn can(&self) -> &BTreeSet<Capability> {
        &self.can
    }

    fn detect(&self) -> Result<Subject, NotReady> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Subject { name: "bare".to_owned(), version, ..Subject::default() })
    }

    fn launch(
        &self,
        _policy: &Policy,
        _rooms: &Rooms,
        command: &[OsString],
    ) -> Result<Launch, Unsupported> {
        Ok(Launch { argv: command.to_vec(), ..Launch::default() })
    }
}
