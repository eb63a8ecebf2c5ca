//! The values of the template variables, from a policy and an arena.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use minijinja::value::Value;
use sandproof_scenarios::{Network, Policy, Profile, Rooms};

use super::template::COMMAND;
use crate::Unsupported;
use crate::glob::{GlobSet, Limits};
use crate::paths::outermost;

/// What one rendering is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    pub(super) policy: &'a Policy,
    pub(super) rooms: &'a Rooms,
    /// The real file of the product's program.
    pub(super) program: &'a Path,
    /// What the globs match now.
    pub(super) deny_now: &'a [PathBuf],
}

/// A path as text.
///
/// # Errors
/// It is not UTF-8, or holds a newline or another control character: it would end its line.
pub(super) fn text(path: &Path) -> Result<String, Unsupported> {
    let refuse = |why: &str| Unsupported {
        item: path.display().to_string().escape_debug().to_string(),
        why: why.to_owned(),
    };
    let text = path.to_str().ok_or_else(|| refuse("the path is not UTF-8"))?;
    if text.contains(char::is_control) {
        return Err(refuse("the path holds a control character, an argument is one line"));
    }
    Ok(text.to_owned())
}

/// All variables.
///
/// # Errors
/// A path that cannot be passed.
pub(super) fn values(subject: Subject<'_>) -> Result<Value, Unsupported> {
    let Subject { policy, rooms, program, deny_now } = subject;
    let mut values: BTreeMap<&str, Value> = BTreeMap::new();
    for (name, path) in [
        ("work", &rooms.work),
        ("home", &rooms.home),
        ("outside", &rooms.outside),
        ("temp", &rooms.temp),
        ("arena", &rooms.arena),
        ("config", &rooms.config),
    ] {
        values.insert(name, text(path)?.into());
    }
    for (name, paths) in [
        ("read", policy.read.as_slice()),
        ("write", &policy.write),
        ("deny", &policy.deny),
        ("deny_now", deny_now),
        ("protect", &policy.protect),
    ] {
        values.insert(name, texts(paths)?.into());
    }
    let globs: Vec<PathBuf> = policy.deny_globs.iter().map(PathBuf::from).collect();
    values.insert("deny_globs", texts(&globs)?.into());
    values.insert("program", text(program)?.into());
    values.insert("profile", policy.profile.name().into());
    values.insert("read_all", policy.read_all.into());
    values.insert("network", network(policy.network).into());
    values.insert("uid", owner(&rooms.arena).into());
    values.insert("command", COMMAND.into());
    Ok(values.into())
}

fn texts(paths: &[PathBuf]) -> Result<Vec<String>, Unsupported> {
    paths.iter().map(|path| text(path)).collect()
}

fn network(network: Network) -> &'static str {
    match network {
        Network::Open => "open",
        Network::Blocked => "blocked",
    }
}

/// The uid that everything in the arena belongs to. Not always ours: root may run for a user.
fn owner(arena: &Path) -> u32 {
    let own = || rustix::process::geteuid().as_raw();
    arena.metadata().map_or_else(|_| own(), |meta| meta.uid())
}

/// What the deny globs match now, folders in place of what is in them. Links are left out: their
/// targets are in the list, and a mask on a link has nothing to lie on.
///
/// # Errors
/// A pattern outside the subset, or a limit of the walk.
pub(super) fn deny_now(globs: &[String]) -> Result<Vec<PathBuf>, Unsupported> {
    let refuse = |error: crate::glob::GlobError| Unsupported {
        item: "deny glob".to_owned(),
        why: error.to_string(),
    };
    let set = GlobSet::compile(globs).map_err(refuse)?;
    let mut matches = set.expand(Limits::default()).map_err(refuse)?;
    matches.retain(|path| !path.is_symlink());
    Ok(outermost(&matches))
}

/// Policies that together take every branch a template is likely to have, for checking it when it
/// is loaded.
pub(super) fn samples(rooms: &Rooms) -> Vec<Policy> {
    let work = &rooms.work;
    let mut samples = Vec::new();
    for profile in Profile::ALL {
        for full in [false, true] {
            let path = |name: &str| if full { vec![work.join(name)] } else { Vec::new() };
            // A folder that exists, and a name that does not.
            let deny = if full { vec!["/usr".into(), work.join("deny")] } else { Vec::new() };
            let everything = profile == Profile::Off;
            samples.push(Policy {
                profile,
                read_all: profile != Profile::Strict,
                read: path("read"),
                write: if everything { vec!["/".into()] } else { vec![work.clone()] },
                extra_read: Vec::new(),
                extra_write: Vec::new(),
                deny,
                deny_globs: path("**/*.pem").iter().map(|p| p.display().to_string()).collect(),
                protect: path("folder/protect"),
                network: if full { Network::Blocked } else { Network::Open },
                env: sandproof_scenarios::policy::EnvPolicy::default(),
                env_asked: false,
                named: true,
                session: None,
                grok_home: rooms.home.join(".grok"),
            });
        }
    }
    samples
}
