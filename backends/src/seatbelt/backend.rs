//! [`Seatbelt`]: the profile alone, without the rest of `confine`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sandproof_scenarios::{Capability, Platform, Policy, Profile, Rooms};

use super::collect::{self, Asked};
use super::{SANDBOX_EXEC, text};
use crate::confine::grants::{self, Host};
use crate::confine::metadata;
use crate::confine::plan::has_hooks;
use crate::confine::sources::Sources;
use crate::confine::state;
use crate::confine::surroundings::Surroundings;
use crate::identify::sha256;
use crate::{Backend, Express, Launch, NotReady, ReceiptItem, Subject, Unsupported};

/// Runs a command under a profile by `sandbox-exec`.
#[derive(Clone, Debug)]
pub struct Seatbelt {
    can: BTreeSet<Capability>,
}

impl Default for Seatbelt {
    fn default() -> Self {
        let can = [
            Capability::WriteScope,
            Capability::ReadScope,
            Capability::DenyList,
            Capability::DenyGlob,
            Capability::Protect,
            Capability::GrokHome,
            Capability::Metadata,
            Capability::NetworkBlock,
        ];
        Self { can: can.into_iter().collect() }
    }
}

impl Backend for Seatbelt {
    fn name(&self) -> &'static str {
        "seatbelt"
    }

    fn title(&self) -> &'static str {
        "a Seatbelt profile alone"
    }

    fn platforms(&self) -> &[Platform] {
        &[Platform::Macos]
    }

    fn can(&self) -> &BTreeSet<Capability> {
        &self.can
    }

    fn detect(&self) -> Result<Subject, NotReady> {
        let sha256 = sha256(Path::new(SANDBOX_EXEC)).map_err(|error| NotReady {
            why: format!("`{SANDBOX_EXEC}` cannot be read ({error})"),
            mend: "use macOS".to_owned(),
        })?;
        Ok(Subject { name: "sandbox-exec".to_owned(), sha256, ..Subject::default() })
    }

    fn launch(
        &self,
        policy: &Policy,
        rooms: &Rooms,
        command: &[OsString],
    ) -> Result<Launch, Unsupported> {
        if policy.env_asked {
            let why = "a profile has no means for it".to_owned();
            return Err(Unsupported { item: "env".to_owned(), why });
        }
        let text = profile(policy, rooms)
            .map_err(|why| Unsupported { item: "deny and protect".to_owned(), why })?;
        let mut argv: Vec<OsString> = vec![SANDBOX_EXEC.into(), "-p".into(), text.into()];
        argv.extend(command.iter().cloned());
        Ok(Launch { argv, receipt: receipt(policy), ..Launch::default() })
    }
}

/// The profile for a policy, as it stands in the rooms now.
///
/// # Errors
/// What no profile can hold, and what is not there to be protected.
pub fn profile(policy: &Policy, rooms: &Rooms) -> Result<String, String> {
    let around = Surroundings {
        workspace: rooms.work.clone(),
        home: rooms.home.clone(),
        grok_home: policy.grok_home.clone(),
        tmpdir: Some(rooms.temp.clone()),
        cwd: rooms.work.clone(),
    };
    let mut grants = grants::of(policy.profile, &around, &Host);
    if grants.limited {
        grants.read.extend(policy.extra_read.iter().cloned());
        grants.write.extend(policy.extra_write.iter().cloned());
    }
    let mut protect = policy.protect.clone();
    if has_hooks(policy.profile) {
        let sources = Sources::prepare(&policy.grok_home).map_err(|refusal| refusal.to_string())?;
        protect.extend(sources.paths());
        let state = state::of(&policy.grok_home, &rooms.work, &grants.write)
            .map_err(|refusal| refusal.to_string())?;
        protect.extend(state.files.into_iter().chain(state.folders));
    }
    if policy.profile == Profile::WorkspaceWrite {
        protect.extend(metadata::of(&grants.write).map_err(|refusal| refusal.to_string())?);
    }
    let sockets = [&rooms.work, &rooms.temp].into_iter().chain(&policy.extra_write);
    let rules = collect::rules(Asked {
        sockets: sockets.cloned().collect(),
        grants,
        deny: &policy.deny,
        globs: &policy.deny_globs,
        pin_deny: true,
        protect: &protect,
        network: policy.network,
        workspace: &rooms.work,
    });
    text(&rules.map_err(|refusal| refusal.to_string())?).map_err(|error| error.to_string())
}

fn receipt(policy: &Policy) -> Vec<ReceiptItem> {
    let paths = |word: &'static str, list: &[PathBuf]| -> Vec<String> {
        list.iter().map(|path| format!("{word} {}", path.display())).collect()
    };
    let mut items = vec![format!("profile {}", policy.profile.name())];
    items.extend(paths("deny", &policy.deny));
    items.extend(policy.deny_globs.iter().map(|glob| format!("deny {glob}")));
    items.extend(paths("protect", &policy.protect));
    items.into_iter().map(|item| ReceiptItem { item, express: Express::Expressed }).collect()
}
