//! [`Config`]: what the files of GROK_HOME and of the workspace say.
//!
//! Four files are read, each once: `sandbox.toml` of GROK_HOME (profiles of this user, and limits),
//! `.grok/sandbox.toml` of the workspace (more profiles), `config.toml` and `requirements.toml` of
//! GROK_HOME (which profile, which variables). They are read strictly, whether or not anything in
//! them is used: a rule that is misread in silence protects nothing. A missing file says nothing.

mod complain;
mod entries;
mod profiles;
mod read;
mod settings;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::mutant::{self, Mutant};
use super::refusal::Refusal;
use super::surroundings::Surroundings;

pub use complain::{Source, near};
pub use entries::mistake;
pub use profiles::{Custom, GlobLimits};
pub use settings::{Named, Settings};

/// Names of profiles that need no file, with their other spellings.
pub const BUILT_IN: [(&str, sandproof_scenarios::Profile); 8] = {
    use sandproof_scenarios::Profile as P;
    [
        ("workspace", P::Workspace),
        ("devbox", P::Devbox),
        ("read-only", P::ReadOnly),
        ("readonly", P::ReadOnly),
        ("strict", P::Strict),
        ("workspace-write", P::WorkspaceWrite),
        ("off", P::Off),
        ("none", P::Off),
    ]
};

/// The profile that needs no file and has this name; letters count as they are written.
#[must_use]
pub fn built_in(name: &str) -> Option<sandproof_scenarios::Profile> {
    BUILT_IN.into_iter().find(|(known, _)| *known == name).map(|(_, profile)| profile)
}

/// Everything the files say.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Custom profiles by name.
    pub profiles: BTreeMap<String, Custom>,
    /// Limits of the walk for deny globs.
    pub limits: GlobLimits,
    /// `config.toml`.
    pub settings: Settings,
    /// `requirements.toml`: outranks everything that is said elsewhere.
    pub required: Settings,
    /// What the user should know, though nothing is refused for it.
    pub warnings: Vec<String>,
}

impl Config {
    /// Reads the files.
    ///
    /// # Errors
    /// A file that exists and is not exactly what it should be.
    pub fn read(around: &Surroundings) -> Result<Self, Refusal> {
        let home = &around.grok_home;
        let settings = settings::read(&home.join("config.toml"))?;
        let required = settings::read(&home.join("requirements.toml"))?;
        let warnings = [&settings, &required].into_iter().flat_map(|file| file.warnings.clone());
        let warnings = warnings.collect();
        let mut config = Self { settings, required, warnings, ..Self::default() };
        config.refuse_empty_requirement()?;
        let global = home.join("sandbox.toml");
        if let Some(file) = profiles::read(&global, &around.cwd)? {
            (config.profiles, config.limits) = (file.profiles, file.limits);
        }
        let project = around.workspace.join(".grok/sandbox.toml");
        if !same_file(&global, &project)
            && let Some(file) = profiles::read(&project, &around.cwd)?
        {
            config.add_project(&project, file)?;
        }
        Ok(config)
    }

    /// Adds profiles of the workspace under names that are free: whoever writes the workspace must
    /// not say what the profiles of the user mean.
    fn add_project(&mut self, path: &Path, file: profiles::File) -> Result<(), Refusal> {
        if let Some(limits) = file.limits_stand_at
            && !mutant::on(Mutant::ConfigProjectLimits)
        {
            return Err(limits);
        }
        if file.limits != GlobLimits::default() {
            self.limits = file.limits;
        }
        for (name, profile) in file.profiles {
            match self.profiles.get(&name) {
                Some(own) if *own == profile => {}
                Some(_) if !mutant::on(Mutant::ConfigProjectWins) => {
                    let shown = path.display().to_string();
                    self.warnings.push(format!(
                        "profile `{}` of {} is not used: the one in GROK_HOME differs and wins",
                        name.escape_debug(),
                        shown.escape_debug()
                    ));
                }
                Some(_) | None => drop(self.profiles.insert(name, profile)),
            }
        }
        Ok(())
    }

    /// An empty name counts as none elsewhere; a requirement of nothing is a mistake.
    fn refuse_empty_requirement(&mut self) -> Result<(), Refusal> {
        match &self.required.profile {
            Some(named) if named.name.is_empty() => {
                if mutant::on(Mutant::ConfigEmptyRequirement) {
                    self.required.profile = None;
                    return Ok(());
                }
                Err(named.wrong("the required profile has no name; write one, or remove the key"))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Whether both names lead to one file: a workspace may be HOME itself.
fn same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| -> Option<PathBuf> { path.canonicalize().ok() };
    real(one).is_some() && real(one) == real(other)
}

#[cfg(test)]
mod tests;
