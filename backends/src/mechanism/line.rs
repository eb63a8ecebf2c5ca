//! [`Line`]: a command line of `confine`, with its receipt.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sandproof_scenarios::{Network, Policy, Rooms};

use crate::{Express, Launch, ReceiptItem, Unsupported};

/// A command line in the making.
#[derive(Debug)]
pub(super) struct Line {
    launch: Launch,
}

impl Line {
    pub(super) fn begin(exe: &Path) -> Self {
        let argv = vec![exe.into(), "confine".into()];
        Self { launch: Launch { argv, ..Launch::default() } }
    }

    pub(super) fn option(&mut self, option: &str, value: impl Into<OsString>) {
        self.launch.argv.extend([option.into(), value.into()]);
    }

    pub(super) fn flag(&mut self, flag: &str) {
        self.launch.argv.push(flag.into());
    }

    /// Notes that an item is put exactly.
    pub(super) fn expressed(&mut self, item: impl Into<String>) {
        self.note(item, Express::Expressed);
    }

    pub(super) fn note(&mut self, item: impl Into<String>, express: Express) {
        self.launch.receipt.push(ReceiptItem { item: item.into(), express });
    }

    /// The profile with its workspace and further roots.
    pub(super) fn profile(&mut self, policy: &Policy, rooms: &Rooms) {
        if policy.named {
            self.option("--sandbox", policy.profile.name());
        }
        self.option("--workspace", &rooms.work);
        for (option, roots) in
            [("--read-only", &policy.extra_read), ("--read-write", &policy.extra_write)]
        {
            for root in roots {
                self.option(option, root);
            }
        }
        self.expressed(format!("profile {}", policy.profile.name()));
    }

    /// The network where it is not what the profile says: an option against a profile that files
    /// have chosen would be refused.
    pub(super) fn network_beyond_profile(&mut self, policy: &Policy) {
        if policy.network == policy.profile.network() {
            let word = if policy.network == Network::Open { "open" } else { "blocked" };
            self.expressed(format!("network {word}"));
        } else {
            self.network(policy);
        }
    }

    pub(super) fn network(&mut self, policy: &Policy) {
        let word = match policy.network {
            Network::Open => "open",
            Network::Blocked => "blocked",
        };
        self.option("--network", word);
        self.expressed(format!("network {word}"));
    }

    /// The session that is gone on with.
    pub(super) fn session(&mut self, policy: &Policy) {
        if let Some(session) = &policy.session {
            self.option("--resume", &session.resume);
            self.expressed(format!("session {}", session.resume));
        }
    }

    /// Denied and protected paths.
    pub(super) fn covers(&mut self, policy: &Policy) {
        let exact = policy.deny.iter().map(|path| ("--deny", "deny", path.clone()));
        let globs = policy.deny_globs.iter().map(|glob| ("--deny", "deny", PathBuf::from(glob)));
        let protect = policy.protect.iter().map(|path| ("--protect", "protect", path.clone()));
        for (option, word, path) in exact.chain(globs).chain(protect) {
            self.expressed(format!("{word} {}", path.display()));
            self.option(option, path);
        }
    }

    /// The environment policy, in a file of its own.
    pub(super) fn environment(
        &mut self,
        policy: &Policy,
        rooms: &Rooms,
    ) -> Result<(), Unsupported> {
        if !policy.env_asked {
            return Ok(());
        }
        let text = serde_json::to_string(&policy.env).map_err(|error| Unsupported {
            item: "env".to_owned(),
            why: format!("it is no JSON ({error})"),
        })?;
        let file = rooms.config.join("environment.json");
        self.option("--env-policy", &file);
        self.launch.files.push((file, text));
        self.expressed("env");
        Ok(())
    }

    pub(super) fn end(mut self, command: &[OsString]) -> Launch {
        self.launch.argv.push("--".into());
        self.launch.argv.extend(command.iter().cloned());
        self.launch
    }
}
