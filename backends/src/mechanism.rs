//! The backends that start our own sandbox: [`Confine`] whole, [`Alone`] with one mechanism.

mod alone;
mod line;
mod needs;
#[cfg(feature = "mutants")]
mod weakened;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use sandproof_scenarios::{Capability, Platform, Policy, Rooms};

pub use crate::confine::args::Mechanism;
use crate::identify::sha256;
use crate::{Backend, Launch, NotReady, Subject, Unsupported};
pub use alone::Alone;
use line::Line;
#[cfg(feature = "mutants")]
pub use weakened::Weakened;

/// All backends of this module; `exe` is sandproof's own executable.
#[must_use]
pub fn all(exe: &Path) -> Vec<Box<dyn Backend>> {
    let mut all: Vec<Box<dyn Backend>> = vec![Box::new(Confine::new(exe.to_path_buf(), vec![]))];
    for mechanism in Alone::MECHANISMS {
        all.extend(
            Alone::new(exe.to_path_buf(), mechanism).map(|b| Box::new(b) as Box<dyn Backend>),
        );
    }
    if cfg!(target_os = "macos") {
        all.push(Box::new(crate::seatbelt::Seatbelt::default()));
    }
    all
}

/// The reference sandbox.
#[derive(Clone, Debug)]
pub struct Confine {
    exe: PathBuf,
    without: Vec<Mechanism>,
    can: BTreeSet<Capability>,
}

impl Confine {
    /// The sandbox in this executable, started as `EXE confine ...`, as if the host lacked the
    /// mechanisms `without`, and weakened by that.
    #[must_use]
    pub fn new(exe: PathBuf, without: Vec<Mechanism>) -> Self {
        let mut can = BTreeSet::from([
            Capability::WriteScope,
            Capability::ReadScope,
            Capability::DenyList,
            Capability::DenyGlob,
            Capability::Protect,
            Capability::GrokHome,
            Capability::NetworkBlock,
            Capability::EnvPolicy,
            Capability::Metadata,
            Capability::GrokConfig,
            Capability::Sessions,
        ]);
        if cfg!(target_os = "linux") {
            can.extend([
                Capability::FdScope,
                Capability::ProcessScope,
                Capability::SyscallFilter,
                Capability::KillsTree,
            ]);
        }
        Self { exe, without, can }
    }
}

impl Backend for Confine {
    fn name(&self) -> &'static str {
        "confine"
    }

    fn title(&self) -> &'static str {
        "the reference sandbox"
    }

    fn platforms(&self) -> &[Platform] {
        &[Platform::Linux, Platform::Macos]
    }

    fn can(&self) -> &BTreeSet<Capability> {
        &self.can
    }

    fn needs(&self, wanted: &BTreeSet<Capability>) -> Vec<Capability> {
        if cfg!(target_os = "linux") { needs::of(wanted, &Alone::MECHANISMS) } else { Vec::new() }
    }

    fn detect(&self) -> Result<Subject, NotReady> {
        subject("confine", &self.exe)
    }

    fn launch(
        &self,
        policy: &Policy,
        rooms: &Rooms,
        command: &[OsString],
    ) -> Result<Launch, Unsupported> {
        let mut line = Line::begin(&self.exe);
        for mechanism in &self.without {
            line.option("--without", name(*mechanism));
        }
        if self.without.iter().any(|mechanism| weakens(*mechanism)) {
            // It would refuse to start weakened, and nothing could be seen.
            line.flag("--fail-open");
        }
        line.profile(policy, rooms);
        line.session(policy);
        line.network_beyond_profile(policy);
        line.covers(policy);
        line.environment(policy, rooms)?;
        Ok(line.end(command))
    }

    fn logs(&self, grok_home: &Path) -> Vec<PathBuf> {
        vec![grok_home.join(crate::confine::state::LOG)]
    }
}

/// Whether something is enforced no more without it: the others have a stand-in that does the same.
fn weakens(mechanism: Mechanism) -> bool {
    match mechanism {
        Mechanism::Landlock | Mechanism::Seccomp | Mechanism::Mounts => true,
        Mechanism::NetworkNamespace | Mechanism::OwnMounts | Mechanism::NewMountCalls => false,
    }
}

/// The word for a mechanism on the command line.
#[must_use]
pub fn name(mechanism: Mechanism) -> String {
    mechanism.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// The mechanism of this name.
///
/// # Errors
/// There is none; the names there are.
pub fn by_name(text: &str) -> Result<Mechanism, String> {
    Mechanism::from_str(text, false).map_err(|_| {
        format!("`{text}` is no mechanism; there are landlock seccomp mounts own-mounts new-mount-calls network-namespace")
    })
}

/// Our own executable under the name of a backend.
fn subject(name: &str, exe: &Path) -> Result<Subject, NotReady> {
    let sha256 = sha256(exe).map_err(|error| NotReady {
        why: format!("the executable `{}` cannot be read ({error})", exe.display()),
        mend: "build it again".to_owned(),
    })?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Ok(Subject { name: name.to_owned(), version, sha256, ..Subject::default() })
}

#[cfg(test)]
mod tests;
