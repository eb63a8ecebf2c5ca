//! [`Request`]: a run as it was asked for, in plain data, so that it can be handed to a child
//! process of another user; and how the engine carries it out.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sandproof_backends::bare::Bare;
use sandproof_backends::host::Host;
use sandproof_backends::manifest::parse_manifest;
use sandproof_backends::mechanism::{self, Confine};
use sandproof_backends::{Backend, registry};
use sandproof_reports::Header;
use sandproof_scenarios::{Capability, Profile, Scenario, load};
use serde::{Deserialize, Serialize};

use crate::engine::{self, Absent, EngineError, Event, Settings, Work};
use crate::plan::{Ready, Selection};
use crate::provenance;

/// A run as it was asked for. Everything has been checked before; the engine checks again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Request {
    /// Ids and texts of the scenarios.
    pub scenarios: Vec<(String, String)>,
    /// Names of backends, or manifests by name and text; empty: the default.
    pub backends: Vec<Wanted>,
    /// Substrings of cell names.
    pub filters: Vec<String>,
    /// The filters are whole names.
    pub exact: bool,
    /// Only these profiles.
    pub profiles: Vec<Profile>,
    /// Only these tags.
    pub tags: Vec<String>,
    /// Part K of N.
    pub partition: Option<(u64, u64)>,
    /// Workers.
    pub jobs: usize,
    /// Milliseconds of one arm.
    pub timeout: u64,
    /// Words come from it.
    pub seed: u64,
    /// `--arena-root`.
    pub arena_root: Option<PathBuf>,
    /// Leave arenas behind.
    pub keep_arena: bool,
    /// Stop at the first red verdict.
    pub fail_fast: bool,
    /// Control arms only.
    pub control_only: bool,
    /// Mechanisms taken away from `confine`.
    pub without: Vec<String>,
    /// Capabilities of the host that must be there.
    pub required: Vec<String>,
}

/// A backend that was named.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// One that is known.
    Name(String),
    /// A manifest: how the user names the file, and its text.
    Manifest(String, String),
}

/// Carries a request out in this process, as this user.
///
/// # Errors
/// See [`EngineError`].
pub fn carry_out(request: &Request, sink: &mut dyn FnMut(Event)) -> Result<(), EngineError> {
    let scenarios = scenarios(request)?;
    let settings = settings(request);
    let mut root = engine::arena_root(&settings)?;
    let host = Host::measure(root.executable());
    let (backends, absent) = backends(request, root.executable())?;
    let user = provenance::user_name();
    let provenance = provenance::of_run(&host, &backends, request, &user);
    let lacking: Vec<Absent> = request.required.iter().filter_map(|w| lacking(w, &host)).collect();
    let work = Work {
        scenarios: &scenarios,
        backends: &backends,
        absent: absent.into_iter().chain(lacking).collect(),
        host: &host,
        header: Header {
            kind: "header".into(),
            schema: sandproof_reports::record::SCHEMA,
            provenance,
        },
        base_env: base_env(&user),
        user,
    };
    engine::run(&root, &settings, work, sink)?;
    for arena in root.tidy() {
        sink(Event::Note(format!("an arena cannot be removed: {}", arena.display())));
    }
    Ok(())
}

fn scenarios(request: &Request) -> Result<Vec<Scenario>, EngineError> {
    let load = |(id, text): &(String, String)| {
        load::scenario(text, id, Some(id)).map_err(|complaints| {
            let text: Vec<String> = complaints.iter().map(ToString::to_string).collect();
            EngineError::Failed(text.join("\n"))
        })
    };
    request.scenarios.iter().map(load).collect()
}

fn settings(request: &Request) -> Settings {
    Settings {
        selection: Selection {
            filters: request.filters.clone(),
            exact: request.exact,
            profiles: request.profiles.clone(),
            tags: request.tags.clone(),
            partition: request.partition,
        },
        jobs: request.jobs,
        timeout: Duration::from_millis(request.timeout),
        seed: request.seed,
        arena_root: request.arena_root.clone(),
        keep_arena: request.keep_arena,
        fail_fast: request.fail_fast,
        control_only: request.control_only,
        simulated: if request.control_only {
            Some("control arms only, no sandbox was started".to_owned())
        } else {
            (!request.without.is_empty())
                .then(|| format!("confine without {}", request.without.join(", ")))
        },
    }
}

/// The backends of a run: the named ones, all gating; or `confine`, gating, and every product.
///
/// # Errors
/// A name or manifest that is wrong.
fn backends(
    request: &Request,
    executable: &Path,
) -> Result<(Vec<Ready>, Vec<Absent>), EngineError> {
    if request.control_only {
        // Under no sandbox's name: nothing of one is run.
        let backend: Box<dyn Backend> = Box::new(Bare::default());
        let subject = backend.detect().unwrap_or_default();
        return Ok((vec![Ready { backend, subject, gating: true }], Vec::new()));
    }
    let mut wanted: Vec<(Box<dyn Backend>, bool)> = Vec::new();
    for one in &request.backends {
        wanted.push((named(one, executable, &request.without)?, true));
    }
    if request.backends.is_empty() {
        wanted.push((named(&Wanted::Name("confine".into()), executable, &request.without)?, true));
        wanted.extend(registry::products().into_iter().map(|backend| (backend, false)));
    }
    let (mut ready, mut absent) = (Vec::new(), Vec::new());
    for (backend, gating) in wanted {
        match backend.detect() {
            Ok(subject) => ready.push(Ready { backend, subject, gating }),
            Err(lack) => absent.push(Absent {
                backend: backend.name().to_owned(),
                named: gating,
                why: lack.why,
                mend: lack.mend,
            }),
        }
    }
    Ok((ready, absent))
}

/// A backend by name or manifest.
///
/// # Errors
/// A name that is not known, a manifest with mistakes.
pub fn named(
    wanted: &Wanted,
    executable: &Path,
    without: &[String],
) -> Result<Box<dyn Backend>, EngineError> {
    let refused = EngineError::Refused;
    match wanted {
        Wanted::Name(name) if name == "confine" => {
            let without = without.iter().map(|word| mechanism::by_name(word));
            let without = without.collect::<Result<Vec<_>, String>>().map_err(refused)?;
            Ok(Box::new(Confine::new(executable.to_path_buf(), without)))
        }
        Wanted::Name(name) => registry::by_name(name, executable)
            .ok_or_else(|| refused(format!("no backend is named `{name}`"))),
        Wanted::Manifest(origin, text) => match parse_manifest(text, origin) {
            Ok(backend) => Ok(Box::new(backend)),
            Err(complaints) => {
                let text: Vec<String> = complaints.iter().map(ToString::to_string).collect();
                Err(refused(text.join("\n")))
            }
        },
    }
}

/// A required capability of the host that it does not have.
fn lacking(word: &str, host: &Host) -> Option<Absent> {
    let capability: Capability = word.parse().ok().filter(|c: &Capability| c.of_host())?;
    let lack = host.has(capability).err()?;
    Some(Absent {
        backend: format!("required {capability}"),
        named: true,
        why: lack.what,
        mend: lack.mend,
    })
}

/// Version managers put stand-ins on PATH, which look for the real programs below HOME. HOME is
/// another one in an arm, so they are told where theirs are: a variable, and the folder in HOME
/// that it means when it is not set.
const VERSION_MANAGERS: [(&str, &str); 3] =
    [("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv"), ("VOLTA_HOME", ".volta")];

/// The variables of [`VERSION_MANAGERS`] whose folders are there.
fn version_managers(
    variable: impl Fn(&str) -> Option<OsString>,
    home: Option<&Path>,
) -> BTreeMap<String, String> {
    let place = |name, folder| {
        let told = variable(name).map(PathBuf::from);
        told.or_else(|| Some(home?.join(folder))).filter(|place| place.is_dir())
    };
    let mut env = BTreeMap::new();
    for (name, folder) in VERSION_MANAGERS {
        if let Some(place) = place(name, folder) {
            env.insert(name.to_owned(), place.to_string_lossy().into_owned());
        }
    }
    env
}

/// What every arm's environment begins with: nothing of the caller's but PATH, and where the
/// programs on it have their parts.
fn base_env(user: &str) -> BTreeMap<String, String> {
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".into());
    let mut env = version_managers(|name| std::env::var_os(name), std::env::home_dir().as_deref());
    let words = [
        ("PATH", path.as_str()),
        ("LANG", "C.UTF-8"),
        ("SHELL", "/bin/sh"),
        ("TERM", "dumb"),
        ("USER", user),
        ("LOGNAME", user),
    ];
    env.extend(words.map(|(key, value)| (key.to_owned(), value.to_owned())));
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_managers_are_told_where_their_programs_are() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".rustup")).unwrap();
        std::fs::create_dir(home.path().join("python")).unwrap();
        let told = |name: &str| match name {
            "PYENV_ROOT" => Some(home.path().join("python").into_os_string()),
            "VOLTA_HOME" => Some(home.path().join("gone").into_os_string()),
            _ => None,
        };
        let text = |name: &str| home.path().join(name).to_string_lossy().into_owned();
        let env = version_managers(told, Some(home.path()));
        assert_eq!(
            env,
            BTreeMap::from([
                ("PYENV_ROOT".to_owned(), text("python")),
                ("RUSTUP_HOME".to_owned(), text(".rustup")),
            ])
        );
        assert_eq!(version_managers(|_| None, None), BTreeMap::new());
    }
}
