//! [`Plan`]: what is granted and what is covered, every path canonical.

use std::path::{Path, PathBuf};

use sandproof_scenarios::{Network, Profile};

use super::args::{Args, NetworkArg, ProfileArg};
use super::grants::{self, Grants};
use super::refusal::Refusal;
use super::resolve::{self, Resolved};
use super::surroundings::{self, Surroundings};

/// What is to be enforced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The profile.
    pub profile: Profile,
    /// What may be read and written; canonical, existing paths.
    pub grants: Grants,
    /// Paths neither read nor written.
    pub mask: Vec<PathBuf>,
    /// Paths read but not written.
    pub freeze: Vec<PathBuf>,
    /// Those of `mask` that do not exist yet.
    pub missing_mask: Vec<PathBuf>,
    /// Those of `freeze` that do not exist yet.
    pub missing_freeze: Vec<PathBuf>,
    /// Network of the command.
    pub network: Network,
}

impl Plan {
    /// True when nothing at all is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.grants.limited && !self.covers() && self.network == Network::Open
    }

    /// True when something is to be masked or frozen.
    #[must_use]
    pub fn covers(&self) -> bool {
        !self.mask.is_empty() || !self.freeze.is_empty()
    }
}

/// Draws the plan. Only the write roots are made when they are missing; nothing else is changed.
///
/// # Errors
/// A path that cannot be resolved.
pub fn draw(args: &Args, around: &Surroundings) -> Result<Plan, Refusal> {
    let profile = profile(surroundings::profile(args)?);
    let mut grants = grants::of(profile, around, &grants::Host);
    if grants.limited {
        grants.read.extend(args.read_only.iter().map(|path| around.cwd.join(path)));
        grants.write.extend(args.read_write.iter().map(|path| around.cwd.join(path)));
        settle(&mut grants)?;
    }
    let mut plan = Plan {
        profile,
        grants,
        mask: Vec::new(),
        freeze: Vec::new(),
        missing_mask: Vec::new(),
        missing_freeze: Vec::new(),
        network: args.network.map_or(profile.network(), network),
    };
    for entry in &args.deny {
        plan.mask(resolve::entry(&around.workspace.join(entry))?);
    }
    for entry in &args.protect {
        plan.freeze(resolve::entry(&around.workspace.join(entry))?);
    }
    Ok(plan)
}

impl Plan {
    fn mask(&mut self, resolved: Resolved) {
        self.mask.extend(resolved.existing);
        self.mask.extend(resolved.missing.iter().cloned());
        self.missing_mask.extend(resolved.missing);
    }

    fn freeze(&mut self, resolved: Resolved) {
        self.freeze.extend(resolved.existing);
        self.freeze.extend(resolved.missing.iter().cloned());
        self.missing_freeze.extend(resolved.missing);
    }
}

/// Makes the write roots that are missing, and every root canonical. A read root that does not
/// exist grants nothing.
fn settle(grants: &mut Grants) -> Result<(), Refusal> {
    grants.read = grants.read.iter().filter_map(|path| path.canonicalize().ok()).collect();
    for path in &grants.write {
        std::fs::create_dir_all(path).or_else(|error| missing_root(path, &error))?;
    }
    let write = grants.write.iter().map(|path| {
        path.canonicalize().map_err(|error| {
            Refusal::at(format!("a write root cannot be reached ({error})"), path, "leave it out")
        })
    });
    grants.write = write.collect::<Result<_, _>>()?;
    for list in [&mut grants.read, &mut grants.write] {
        list.sort();
        list.dedup();
    }
    Ok(())
}

/// A single file may be a write root; what cannot be made may not.
fn missing_root(path: &Path, error: &std::io::Error) -> Result<(), Refusal> {
    if path.exists() {
        return Ok(());
    }
    let what = format!("a write root cannot be made ({error})");
    Err(Refusal::at(what, path, "make it, or leave it out"))
}

fn profile(arg: ProfileArg) -> Profile {
    match arg {
        ProfileArg::Workspace => Profile::Workspace,
        ProfileArg::ReadOnly => Profile::ReadOnly,
        ProfileArg::Strict => Profile::Strict,
        ProfileArg::Devbox => Profile::Devbox,
        ProfileArg::WorkspaceWrite => Profile::WorkspaceWrite,
        ProfileArg::Off => Profile::Off,
    }
}

fn network(arg: NetworkArg) -> Network {
    match arg {
        NetworkArg::Open => Network::Open,
        NetworkArg::Blocked => Network::Blocked,
    }
}
