//! `config.toml` and `requirements.toml`: which profile, and which variables. Other tables in them
//! belong to other programs.

use std::collections::BTreeMap;
use std::path::Path;

use sandproof_scenarios::policy::{EnvPolicy, Inherit};
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use super::complain::{Source, near};
use super::read;
use crate::confine::refusal::Refusal;

/// The tables that are read.
const TABLES: [&str; 2] = ["sandbox", "shell_environment_policy"];

/// What one of the files says.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `[sandbox] profile`.
    pub profile: Option<Named>,
    /// `[shell_environment_policy]`.
    pub environment: Option<EnvPolicy>,
    /// Tables that may be meant to be one of the two.
    pub warnings: Vec<String>,
}

/// A profile by name, and where it stands.
#[derive(Clone, Debug)]
pub struct Named {
    /// The name.
    pub name: String,
    span: std::ops::Range<usize>,
    source: Source,
}

impl Named {
    /// What is wrong with the name.
    #[must_use]
    pub fn wrong(&self, message: impl Into<String>) -> Refusal {
        self.wrong_near(message, None)
    }

    /// The same, with the known name that was probably meant.
    #[must_use]
    pub fn wrong_near(&self, message: impl Into<String>, near: Option<String>) -> Refusal {
        self.source.wrong(self.span.clone(), message, near)
    }
}

#[derive(Debug, Deserialize)]
struct FileTable {
    sandbox: Option<SandboxTable>,
    shell_environment_policy: Option<EnvironmentTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SandboxTable {
    profile: Option<Spanned<String>>,
    /// Of the agent: whether it asks before it runs a command. Nobody is asked here.
    #[serde(rename = "auto_allow_bash")]
    _auto_allow_bash: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvironmentTable {
    #[serde(default)]
    inherit: Inherit,
    #[serde(default = "yes")]
    ignore_default_excludes: bool,
    #[serde(default)]
    exclude: Vec<String>,
    #[serde(default)]
    include_only: Vec<String>,
    #[serde(default)]
    set: BTreeMap<Spanned<String>, String>,
}

const fn yes() -> bool {
    true
}

/// Reads a file that exists; one that does not says nothing.
///
/// # Errors
/// One of the two tables is not exactly what it should be, or the file is no TOML.
pub(super) fn read(path: &Path) -> Result<Settings, Refusal> {
    let Some((table, source)) = read::strictly::<FileTable>(path)? else {
        return Ok(Settings::default());
    };
    let warnings = misspelled(path, source.text());
    if path.ends_with("requirements.toml") {
        nothing_is_misplaced(&source)?;
    }
    let environment = table.shell_environment_policy;
    let environment = environment.map(|table| policy(table, &source)).transpose()?;
    let profile = table.sandbox.and_then(|table| table.profile);
    let profile = profile.map(|name| {
        let span = name.span();
        Named { name: name.into_inner(), span, source }
    });
    Ok(Settings { profile, environment, warnings })
}

/// Other tables belong to other programs, unless their name is a misspelling of one of ours.
fn misspelled(path: &Path, text: &str) -> Vec<String> {
    // It is TOML, or it would have been refused before.
    let tables: BTreeMap<String, IgnoredAny> = toml::from_str(text).unwrap_or_default();
    let near = tables.keys().filter_map(|key| Some((key, near(key, TABLES)?)));
    let shown = path.display().to_string();
    let warnings = near.map(|(key, near)| {
        let (shown, key) = (shown.escape_debug(), key.escape_debug());
        format!("{shown}: `[{key}]` is not read; did you mean `[{near}]`?")
    });
    warnings.collect()
}

/// Keys of the two tables, which say nothing outside of them.
const KEYS: [&str; 6] =
    ["profile", "inherit", "ignore_default_excludes", "exclude", "include_only", "set"];

/// How the names of the two tables begin.
const BEGINNINGS: [&str; 2] = ["sand", "shell"];

/// A requirement that is not understood would be no requirement, and nobody would hear of it.
fn nothing_is_misplaced(source: &Source) -> Result<(), Refusal> {
    let keys: BTreeMap<Spanned<String>, IgnoredAny> =
        toml::from_str(source.text()).unwrap_or_default();
    for key in keys.keys().filter(|key| !TABLES.contains(&key.get_ref().as_str())) {
        let name = key.get_ref().to_lowercase();
        if KEYS.contains(&name.as_str()) {
            let message = format!("`{name}` stands outside of `[sandbox]` and its like");
            return Err(source.wrong(key.span(), message, None));
        }
        let near = near(key.get_ref(), TABLES);
        if near.is_some() || BEGINNINGS.iter().any(|begin| name.starts_with(begin)) {
            let message = "no such table; there are `[sandbox]` and `[shell_environment_policy]`";
            return Err(source.wrong(key.span(), message, near));
        }
    }
    Ok(())
}

fn policy(table: EnvironmentTable, source: &Source) -> Result<EnvPolicy, Refusal> {
    let mut set = BTreeMap::new();
    for (name, value) in table.set {
        if let Some(why) = crate::confine::environment::no_variable(name.get_ref(), &value) {
            return Err(source.wrong(name.span(), why, None));
        }
        set.insert(name.into_inner(), value);
    }
    Ok(EnvPolicy {
        inherit: table.inherit,
        ignore_default_excludes: table.ignore_default_excludes,
        exclude: table.exclude,
        include_only: table.include_only,
        set,
    })
}
