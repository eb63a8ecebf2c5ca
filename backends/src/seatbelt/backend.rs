//! [`Seatbelt`]: the profile alone, without the rest of `confine`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sandproof_scenarios::{Capability, Platform, Policy, Rooms};

use super::{SANDBOX_EXEC, collect};
use crate::confine::grants::{self, Host};
use crate::confine::plan::{Plan, has_hooks, ways};
use crate::confine::refusal::Refusal;
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
        sandbox: None,
    };
    let refuse = |refusal: Refusal| refusal.to_string();
    let mut plan = plan(policy, &around);
    plan.settle(&around).map_err(refuse)?;
    collect::profile(&plan, &around).map(|(text, _)| text).map_err(refuse)
}

/// What `confine` would carry out for this policy.
fn plan(policy: &Policy, around: &Surroundings) -> Plan {
    let mut grants = grants::of(policy.profile, around, &Host);
    if grants.limited {
        grants.read.extend(policy.extra_read.iter().cloned());
        grants.write.extend(policy.extra_write.iter().cloned());
    }
    let globs = policy.deny_globs.iter().map(PathBuf::from);
    let named = policy.deny.iter().chain(&policy.protect).cloned();
    Plan {
        ways: ways(named.chain(globs)),
        mask: policy.deny.clone(),
        globs: policy.deny_globs.clone(),
        freeze: policy.protect.clone(),
        grok_home: Some(policy.grok_home.clone()).filter(|_| has_hooks(policy.profile)),
        network: policy.network,
        ..Plan::granting(policy.profile, grants)
    }
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
