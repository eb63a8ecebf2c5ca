//! [`Chosen`]: which profile holds, and who said so.
//!
//! In this order: `requirements.toml`, the command line, `$GROK_SANDBOX`, the session that is gone
//! on with, `config.toml`; when all are silent, `off`. An empty name counts as silence, except in a
//! requirement.

use sandproof_scenarios::{Network, Profile};
use sha2::{Digest, Sha256};

use super::args::{Args, NetworkArg};
use super::config::{self, BUILT_IN, Config, Custom, Named, near};
use super::mutant::{self, Mutant};
use super::refusal::Refusal;
use super::surroundings::Surroundings;

/// Who chose the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chooser {
    /// `requirements.toml`.
    Requirement,
    /// `--sandbox`.
    CommandLine,
    /// `$GROK_SANDBOX`.
    Environment,
    /// The session that is gone on with.
    Session,
    /// `config.toml`.
    Config,
    /// Nobody.
    Nobody,
}

/// The profile that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its name, without aliases.
    pub name: String,
    /// What it means.
    pub custom: Custom,
    /// Who chose it.
    pub by: Chooser,
    /// What the user should know about the choice.
    pub notes: Vec<String>,
}

impl Chosen {
    /// What the profile means, in one number: changes with every edit of it. Options of one start
    /// are not part of it, and neither are the folders of this host.
    #[must_use]
    pub fn sha256(&self) -> String {
        let Custom { base, network, read_only, read_write, deny } = &self.custom;
        let network = network.unwrap_or(base.network());
        let meaning = serde_json::json!({
            "profile": self.name,
            "base": base.name(),
            "blocked": network == Network::Blocked,
            // Of a file that is UTF-8.
            "read_only": read_only.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
            "read_write": read_write.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
            "deny": deny,
        });
        Sha256::digest(meaning.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What a session remembers of its profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Its name.
    pub profile: String,
    /// [`Chosen::sha256`] of then.
    pub sha256: Option<String>,
}

/// Chooses.
///
/// # Errors
/// A name that no profile has, or a choice against that of the session or of a requirement.
pub fn choose(
    args: &Args,
    around: &Surroundings,
    config: &Config,
    saved: Option<&Saved>,
) -> Result<Chosen, Refusal> {
    let explicit = explicit(args, around)?;
    if let (Some((name, _)), Some(saved)) = (&explicit, saved) {
        no_conflict(name, saved)?;
    }
    if let Some(required) = &config.required.profile
        && !mutant::on(Mutant::ConfigRequirementIgnored)
    {
        let mut chosen = of_file(required, config, Chooser::Requirement)?;
        let said = explicit.map(|(name, _)| name).or(saved.map(|saved| saved.profile.clone()));
        chosen.notes.extend(overruled(&chosen.name, said));
        no_loosening(args, &chosen)?;
        return unedited(chosen, saved);
    }
    if let Some((name, by)) = explicit {
        return unedited(of_name(&name, config, by)?, saved);
    }
    if let Some(saved) = saved.filter(|_| !mutant::on(Mutant::SessionProfileForgotten)) {
        not_lifted(saved, config)?;
        return unedited(of_name(&saved.profile, config, Chooser::Session)?, Some(saved));
    }
    match config.settings.profile.as_ref().filter(|named| !named.name.is_empty()) {
        Some(named) if !mutant::on(Mutant::ConfigChoiceIgnored) => {
            of_file(named, config, Chooser::Config)
        }
        Some(_) | None => of_name("off", config, Chooser::Nobody),
    }
}

/// The name without aliases.
#[must_use]
pub fn canonical(name: &str) -> &str {
    match config::built_in(name) {
        Some(profile) => profile.name(),
        None => name,
    }
}

/// What was said for this start.
fn explicit(args: &Args, around: &Surroundings) -> Result<Option<(String, Chooser)>, Refusal> {
    if let Some(name) = args.profile.as_ref().filter(|name| !name.is_empty()) {
        return Ok(Some((name.clone(), Chooser::CommandLine)));
    }
    let said = around.sandbox.clone().filter(|_| !mutant::on(Mutant::ConfigVariableIgnored));
    let Some(name) = said else { return Ok(None) };
    let name = name.into_string().map_err(|name| {
        let what = "GROK_SANDBOX names no profile";
        Refusal::at(what, name.as_ref(), "set it to the name of a profile")
    })?;
    Ok(Some((name, Chooser::Environment)))
}

fn of_name(name: &str, config: &Config, by: Chooser) -> Result<Chosen, Refusal> {
    known(name, config, by).ok_or_else(|| {
        let from = match by {
            Chooser::CommandLine => "--sandbox",
            Chooser::Environment => "GROK_SANDBOX",
            Chooser::Session => "the session",
            Chooser::Requirement | Chooser::Config | Chooser::Nobody => "the configuration",
        };
        let what = format!("{from} names no profile: `{}`", name.escape_debug());
        let mend = match suggestion(name, config) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names(config).join(", ")),
        };
        Refusal::new(what, mend)
    })
}

fn of_file(named: &Named, config: &Config, by: Chooser) -> Result<Chosen, Refusal> {
    known(&named.name, config, by).ok_or_else(|| {
        let message = format!(
            "`{}` is no profile; there are {}",
            named.name.escape_debug(),
            names(config).join(", ")
        );
        named.wrong_near(message, suggestion(&named.name, config))
    })
}

fn known(name: &str, config: &Config, by: Chooser) -> Option<Chosen> {
    let custom = match config::built_in(name) {
        Some(profile) => Custom::built_in(profile),
        None => config.profiles.get(name)?.clone(),
    };
    Some(Chosen { name: canonical(name).to_owned(), custom, by, notes: Vec::new() })
}

fn names(config: &Config) -> Vec<String> {
    let built_in = Profile::ALL.into_iter().map(|profile| profile.name().to_owned());
    built_in.chain(config.profiles.keys().map(|name| name.escape_debug().to_string())).collect()
}

fn suggestion(name: &str, config: &Config) -> Option<String> {
    let built_in = BUILT_IN.iter().map(|(name, _)| *name);
    near(name, built_in.chain(config.profiles.keys().map(String::as_str)))
}

/// A choice that a requirement has overruled is told: nobody else would say it.
fn overruled(required: &str, said: Option<String>) -> Option<String> {
    let said = said.filter(|said| canonical(said) != required)?;
    Some(format!(
        "requirements.toml demands profile `{}`; `{}` is not used",
        required.escape_debug(),
        said.escape_debug()
    ))
}

/// What a requirement closes, no option opens.
fn no_loosening(args: &Args, chosen: &Chosen) -> Result<(), Refusal> {
    let network = chosen.custom.network.unwrap_or(chosen.custom.base.network());
    let opens = args.network == Some(NetworkArg::Open) && network == Network::Blocked;
    if opens && !mutant::on(Mutant::ConfigRequirementLoosened) {
        let what = format!("profile `{}` is required and blocks the network", chosen.name);
        return Err(Refusal::new(what, "leave out --network open").about_bypass());
    }
    Ok(())
}

/// A session stays under the profile it began with.
fn no_conflict(explicit: &str, saved: &Saved) -> Result<(), Refusal> {
    if canonical(explicit) == canonical(&saved.profile)
        || mutant::on(Mutant::SessionProfileSwitched)
    {
        return Ok(());
    }
    let what = format!(
        "the session began under profile `{}`, and `{}` is asked for",
        saved.profile.escape_debug(),
        explicit.escape_debug()
    );
    let mend = "go on under the profile it began with, or start a new session";
    Err(Refusal::new(what, mend).about_bypass())
}

/// A session that began without a sandbox does not lift one that was configured since.
fn not_lifted(saved: &Saved, config: &Config) -> Result<(), Refusal> {
    let configured = config.settings.profile.as_ref().filter(|named| !named.name.is_empty());
    let stricter = configured.filter(|named| canonical(&named.name) != Profile::Off.name());
    let Some(named) = stricter.filter(|_| canonical(&saved.profile) == Profile::Off.name()) else {
        return Ok(());
    };
    if mutant::on(Mutant::SessionLiftsConfig) {
        return Ok(());
    }
    let what = format!(
        "the session began without a sandbox, and config.toml now says `{}`",
        named.name.escape_debug()
    );
    let mend = "say --sandbox off to go on without one, or start a new session";
    Err(Refusal::new(what, mend).about_bypass())
}

/// The profile means what it meant when the session began.
fn unedited(chosen: Chosen, saved: Option<&Saved>) -> Result<Chosen, Refusal> {
    let Some(saved) = saved.filter(|saved| canonical(&saved.profile) == chosen.name) else {
        return Ok(chosen);
    };
    let same = match &saved.sha256 {
        Some(hash) => *hash == chosen.sha256(),
        // What a built-in profile means is not for a file to change.
        None => config::built_in(&chosen.name).is_some(),
    };
    if same || mutant::on(Mutant::SessionEditUnnoticed) {
        return Ok(chosen);
    }
    let what = format!(
        "profile `{}` is not what it was when the session began",
        chosen.name.escape_debug()
    );
    Err(Refusal::new(what, "undo the change in sandbox.toml, or start a new session"))
}

#[cfg(test)]
mod tests;
