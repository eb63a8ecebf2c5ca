//! [`profile`]: what a profile must say on this host, from the plan. Looks at the file system,
//! changes nothing.

use std::path::{Path, PathBuf};

use super::{Rules, text, volume};
use crate::confine::plan::Plan;
use crate::confine::refusal::Refusal;
use crate::confine::surroundings::Surroundings;
use crate::confine::warning::Unfound;
use crate::confine::{links, resolve};
use crate::glob::{GlobSet, Limits, walk_root};

/// The text of the profile for a settled plan, and what is not known of hard links.
///
/// # Errors
/// A path that cannot be resolved, a file whose hard links are not all found, a glob outside the
/// grammar or its limits, and what no profile can hold.
pub fn profile(plan: &Plan, around: &Surroundings) -> Result<(String, Unfound), Refusal> {
    let (rules, unfound) = rules(plan, around)?;
    match text(&rules) {
        Ok(text) => Ok((text, unfound)),
        Err(error) => Err(Refusal::new(error.to_string(), "leave it out, or write it otherwise")),
    }
}

/// Every name that leads to what is denied and protected.
fn rules(plan: &Plan, around: &Surroundings) -> Result<(Rules, Unfound), Refusal> {
    let near: Vec<PathBuf> =
        std::iter::once(&around.workspace).chain(&plan.grants.write).cloned().collect();
    let (globs, glob_matches, targets) = expand(&plan.globs, plan.limits)?;
    let mut deny = resolved_all(&plan.mask)?;
    deny.extend(targets);
    let found = links::search(&deny, &glob_matches, &near)?;
    deny.extend(found.names);
    let mut protect = resolved_all(&plan.frozen())?;
    protect.extend(links::others(&protect, &near)?);
    protect.extend(plan.ways.iter().cloned());
    let rules = Rules {
        grants: plan.grants.clone(),
        sockets: sockets(around),
        deny: once(deny),
        deny_globs: globs,
        glob_matches,
        pin_deny: plan.pins,
        protect: once(protect),
        network: plan.network,
        fold_case: volume::folds_case(&around.workspace),
    };
    Ok((rules, found.unknown))
}

/// Where unix sockets work although the network is blocked: in the workspace and in `$TMPDIR`. In
/// `/tmp` lie those of other programs.
fn sockets(around: &Surroundings) -> Vec<PathBuf> {
    std::iter::once(&around.workspace).chain(&around.tmpdir).cloned().collect()
}

/// Each path as it is and as it resolves.
fn resolved_all(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Refusal> {
    let mut names = Vec::new();
    for path in paths {
        names.extend(resolve::entry(path)?.all());
    }
    Ok(names)
}

fn once(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup();
    paths
}

/// The globs in both spellings of the folder they begin in; what they match now; and what the
/// symlinks among that lead to, which is under no expression.
type Expanded = (Vec<String>, Vec<PathBuf>, Vec<PathBuf>);

fn expand(globs: &[String], limits: Limits) -> Result<Expanded, Refusal> {
    let refuse = |error| Refusal::new(format!("a deny {error}"), "nothing was started");
    let mut all = globs.to_vec();
    for glob in globs {
        all.extend(resolved(glob)?);
    }
    let set = GlobSet::compile(&all).map_err(refuse)?;
    let found = set.expand(limits).map_err(refuse)?;
    let (matches, targets) = found.into_iter().partition(|path| set.matches(path));
    Ok((all, matches, targets))
}

/// The glob below the folder that its first names lead to, when that is another one.
fn resolved(glob: &str) -> Result<Option<String>, Refusal> {
    let root = walk_root(glob);
    let existing = root.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    let Some((folder, real)) = existing else { return Ok(None) };
    let real = real.join(root.strip_prefix(folder).unwrap_or(&root));
    if real == root {
        return Ok(None);
    }
    let odd = |text: &str| text.contains(['*', '?', '[', '{', '}', '\\']);
    match (real.to_str(), Path::new(glob).strip_prefix(&root)) {
        (Some(text), Ok(tail)) if !odd(text) => {
            Ok(Some(format!("{}/{}", text.trim_end_matches('/'), tail.display())))
        }
        (Some(_) | None, Ok(_) | Err(_)) => {
            let what = "the folder in which a deny glob begins cannot be named in a glob";
            Err(Refusal::at(what, &real, "deny it by exact paths"))
        }
    }
}

#[cfg(test)]
mod tests;
