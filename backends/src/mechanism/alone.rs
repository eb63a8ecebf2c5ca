//! [`Alone`]: one mechanism of the kernel by itself, for work on the kernel.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use sandproof_scenarios::{Capability, Network, Platform, Policy, Profile, Rooms};

use super::{Line, Mechanism, needs, subject};
use crate::{Backend, Express, Launch, NotReady, Subject, Unsupported};

/// The sandbox with one mechanism and no other.
#[derive(Clone, Debug)]
pub struct Alone {
    exe: PathBuf,
    kind: Kind,
    can: BTreeSet<Capability>,
}

/// Those that are backends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Landlock,
    Seccomp,
    Mounts,
}

impl Alone {
    /// The mechanisms that are backends.
    pub const MECHANISMS: [Mechanism; 3] =
        [Mechanism::Landlock, Mechanism::Seccomp, Mechanism::Mounts];

    /// The backend of this mechanism, if it is one.
    #[must_use]
    pub fn new(exe: PathBuf, mechanism: Mechanism) -> Option<Self> {
        let (kind, can) = match mechanism {
            Mechanism::Landlock => (
                Kind::Landlock,
                vec![Capability::WriteScope, Capability::ReadScope, Capability::ProcessScope],
            ),
            Mechanism::Seccomp => {
                (Kind::Seccomp, vec![Capability::NetworkBlock, Capability::SyscallFilter])
            }
            Mechanism::Mounts => (
                Kind::Mounts,
                vec![
                    Capability::WriteScope,
                    Capability::DenyList,
                    Capability::DenyGlob,
                    Capability::Protect,
                    Capability::GrokHome,
                ],
            ),
            Mechanism::OwnMounts | Mechanism::NewMountCalls | Mechanism::NetworkNamespace => {
                return None;
            }
        };
        Some(Self { exe, kind, can: can.into_iter().collect() })
    }
}

impl Backend for Alone {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Landlock => "landlock",
            Kind::Seccomp => "seccomp",
            Kind::Mounts => "mounts",
        }
    }

    fn title(&self) -> &'static str {
        match self.kind {
            Kind::Landlock => "Landlock alone",
            Kind::Seccomp => "a filter of system calls alone",
            Kind::Mounts => "a mount namespace alone",
        }
    }

    fn platforms(&self) -> &[Platform] {
        &[Platform::Linux]
    }

    fn can(&self) -> &BTreeSet<Capability> {
        &self.can
    }

    fn needs(&self, wanted: &BTreeSet<Capability>) -> Vec<Capability> {
        let mechanism = match self.kind {
            Kind::Landlock => Mechanism::Landlock,
            Kind::Seccomp => Mechanism::Seccomp,
            Kind::Mounts => Mechanism::Mounts,
        };
        needs::of(wanted, &[mechanism])
    }

    fn detect(&self) -> Result<Subject, NotReady> {
        subject(self.name(), &self.exe)
    }

    fn launch(
        &self,
        policy: &Policy,
        rooms: &Rooms,
        command: &[OsString],
    ) -> Result<Launch, Unsupported> {
        self.refuse(policy)?;
        let mut line = Line::begin(&self.exe);
        line.option("--only", self.name());
        match self.kind {
            Kind::Landlock => {
                line.profile(policy, rooms);
                open_network(&mut line, policy);
            }
            Kind::Seccomp => {
                line.option("--sandbox", "off");
                let how = "files are not limited".to_owned();
                line.note(format!("profile {}", policy.profile.name()), Express::Approximated(how));
                line.network(policy);
            }
            Kind::Mounts => {
                line.profile(policy, rooms);
                if !policy.read_all {
                    let how = "reading is not limited".to_owned();
                    line.note("read-scope", Express::Approximated(how));
                }
                open_network(&mut line, policy);
                line.covers(policy);
            }
        }
        Ok(line.end(command))
    }
}

/// A profile blocks the network by itself; that part is left out, and said so.
fn open_network(line: &mut Line, policy: &Policy) {
    line.option("--network", "open");
    match policy.network {
        Network::Open => line.expressed("network open"),
        Network::Blocked => {
            line.note(
                "network blocked",
                Express::Approximated("the network stays open".to_owned()),
            );
        }
    }
}

impl Alone {
    /// Items a scenario asked for by name and this mechanism has no means for.
    fn refuse(&self, policy: &Policy) -> Result<(), Unsupported> {
        let covers = policy.deny.iter().chain(&policy.protect).next().is_some()
            || !policy.deny_globs.is_empty();
        let metadata = policy.profile == Profile::WorkspaceWrite;
        let item = if policy.env_asked {
            "env"
        } else if covers && self.kind != Kind::Mounts {
            "deny and protect"
        } else if metadata && self.kind == Kind::Landlock {
            "metadata"
        } else {
            return Ok(());
        };
        Err(Unsupported {
            item: item.to_owned(),
            why: format!("{} alone has no means for it", self.name()),
        })
    }
}
