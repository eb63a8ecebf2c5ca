//! [`Environment`]: which variables reach the command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use sandproof_scenarios::policy::{EnvPolicy, Inherit};
use serde::{Deserialize, Serialize};

use super::mutant::{self, Mutant};
use super::refusal::Refusal;

/// The variables of the core, compared without case.
const CORE: [&str; 11] = [
    "PATH", "SHELL", "TMPDIR", "TEMP", "TMP", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME",
    "USER",
];

/// Dropped as well where the policy does not ignore them.
const DEFAULT_EXCLUDES: [&str; 3] = ["*KEY*", "*SECRET*", "*TOKEN*"];

/// All variables of the command; absent when they are those of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment(Option<BTreeMap<String, String>>);

impl Environment {
    /// Applies a policy to the environment of this process.
    #[must_use]
    pub fn of(policy: &EnvPolicy) -> Self {
        Self::under(policy, std::env::vars_os())
    }

    /// What of `variables` the policy lets through. A policy that says nothing changes nothing;
    /// under any other, a variable that is not UTF-8 cannot be judged and is dropped.
    fn under(policy: &EnvPolicy, variables: impl Iterator<Item = (OsString, OsString)>) -> Self {
        if *policy == EnvPolicy::default() {
            return Self::default();
        }
        let text = variables.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let based = text.filter(|(name, _)| inherited(policy.inherit, name));
        let mut kept: BTreeMap<String, String> = based
            .filter(|(name, _)| !excluded_by_default(policy, name))
            .filter(|(name, _)| {
                !any_matches(&policy.exclude, name) || mutant::on(Mutant::EnvExcludeIgnored)
            })
            .collect();
        if !mutant::on(Mutant::EnvSetIgnored) {
            kept.extend(policy.set.clone());
        }
        if !policy.include_only.is_empty() && !mutant::on(Mutant::EnvIncludeOnlyIgnored) {
            kept.retain(|name, _| any_matches(&policy.include_only, name));
        }
        Self(Some(kept))
    }

    /// The variables, when they are not simply those of this process.
    #[must_use]
    pub fn variables(&self) -> Option<&BTreeMap<String, String>> {
        self.0.as_ref()
    }
}

/// The policy in a JSON file.
///
/// # Errors
/// The file cannot be read, or holds no policy.
pub fn read(file: &Path) -> Result<EnvPolicy, Refusal> {
    let mend = "write it as {\"inherit\", \"ignore-default-excludes\", \"exclude\", \
                \"include-only\", \"set\"}";
    let text = fs::read(file).map_err(|error| {
        Refusal::at(format!("the environment policy cannot be read ({error})"), file, mend)
    })?;
    let policy: EnvPolicy = serde_json::from_slice(&text).map_err(|error| {
        Refusal::at(format!("the environment policy is not one ({error})"), file, mend)
    })?;
    match policy.set.iter().find_map(|(name, value)| no_variable(name, value)) {
        Some(why) => Err(Refusal::at(format!("the environment policy: {why}"), file, mend)),
        None => Ok(policy),
    }
}

/// What keeps this from being a variable.
#[must_use]
pub fn no_variable(name: &str, value: &str) -> Option<String> {
    let wrong = name.is_empty() || name.contains(['=', '\0']) || value.contains('\0');
    wrong.then(|| {
        format!(
            "`{}` cannot be a variable; a name holds no `=`, neither holds NUL",
            name.escape_debug()
        )
    })
}

fn excluded_by_default(policy: &EnvPolicy, name: &str) -> bool {
    !policy.ignore_default_excludes
        && DEFAULT_EXCLUDES.iter().any(|pattern| any_matches(&[(*pattern).to_owned()], name))
        && !mutant::on(Mutant::EnvDefaultExcludesIgnored)
}

fn inherited(base: Inherit, name: &str) -> bool {
    match base {
        Inherit::Core | Inherit::None if mutant::on(Mutant::EnvInheritIgnored) => true,
        Inherit::All => true,
        Inherit::Core => CORE.iter().any(|core| core.eq_ignore_ascii_case(name)),
        Inherit::None => false,
    }
}

fn any_matches(patterns: &[String], name: &str) -> bool {
    let name: Vec<char> = name.to_lowercase().chars().collect();
    patterns.iter().any(|pattern| {
        let pattern: Vec<char> = pattern.to_lowercase().chars().collect();
        matches(&pattern, &name)
    })
}

/// Whole-name match: `*` is any run, `?` one character. On a mismatch the last `*` takes one
/// character more, so the work is bounded by the product of the lengths.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
        } else if pattern.get(p).is_some_and(|&c| c == '?' || c == name[n]) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            (p, n) = (at + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests;
