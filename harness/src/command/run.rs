//! `sandproof run`.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use sandproof_backends::registry;
use sandproof_reports::journal::Journal;
use sandproof_reports::render::{Format, Options, render};
use sandproof_reports::tally;
use sandproof_scenarios::{Capability, Profile};

use crate::cli::RunArgs;
use crate::command::source::{self, Sources};
use crate::command::{Failure, print};
use crate::consume::Consumer;
use crate::engine::{Absent, EngineError};
use crate::identity;
use crate::progress::say;
use crate::request::{Request, Wanted, carry_out};

/// Runs, writes the reports, and answers the exit status.
pub(super) fn run(arguments: &RunArgs) -> Result<i32, Failure> {
    let sources = source::scenarios(&arguments.source)?;
    let reports = reports(&arguments.report)?;
    let account = match &arguments.as_user {
        Some(name) => Some(identity::account(name).map_err(Failure::usage)?),
        None => None,
    };
    let settle = super::waive::settle(arguments.waivers.as_deref(), &sources.scenarios)?;
    let request = request(arguments, sources)?;
    let mut consumer = Consumer::new(arguments.journal.as_deref(), settle)
        .map_err(|error| Failure::usage(format!("--journal: {error}")))?;
    let mut take = |event| consumer.take(event);
    let carried = match &account {
        Some(user) => identity::carry_out_as(user, request, &mut take),
        None => carry_out(&request, &mut take),
    };
    let failed = match carried {
        Ok(()) => None,
        Err(EngineError::Place(error)) => return Err(Failure::usage(error.to_string())),
        Err(EngineError::Refused(why)) => return Err(Failure::usage(why)),
        Err(EngineError::Failed(why)) => Some(Failure::internal(why)),
    };
    let finished = consumer.finish();
    let (journal, absent) =
        finished.map_err(|error| Failure::internal(format!("journal: {error}")))?;
    let code = match &journal {
        Some(journal) => show(journal, &absent, &reports, arguments)?,
        None => 0,
    };
    match failed {
        Some(failure) => Err(failure),
        None => Ok(code),
    }
}

/// Writes every report; answers the exit status.
fn show(
    journal: &Journal,
    absent: &[Absent],
    reports: &[(Format, Option<PathBuf>)],
    arguments: &RunArgs,
) -> Result<i32, Failure> {
    let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let options = Options { color, required: arguments.require.clone() };
    for (format, path) in reports {
        let color = color && path.is_none();
        let text = render(journal, *format, &Options { color, ..options.clone() })
            .map_err(|error| Failure::internal(error.to_string()))?;
        match path {
            None => print(&text)?,
            Some(path) => write_whole(path, &text)?,
        }
    }
    for one in absent {
        say(&format!("not ready: {}: {}\n  {}", one.backend, one.why, one.mend));
    }
    let wanted = |one: &&Absent| one.named || arguments.require.contains(&one.backend);
    let missing: Vec<&Absent> = absent.iter().filter(wanted).collect();
    if journal.records.is_empty() {
        say("nothing was run: no cell has that name; `sandproof list` shows the scenarios");
    }
    let alarms = tally::alarms(journal, &arguments.require);
    alarms.iter().for_each(|alarm| say(&format!("red: {alarm}")));
    missing
        .iter()
        .for_each(|one| say(&format!("red: {} was asked for, and is not ready", one.backend)));
    Ok(i32::from(!missing.is_empty() || !alarms.is_empty()))
}

/// A report file is there whole or not at all.
fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        std::fs::set_permissions(file.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| Failure::internal(format!("report {}: {error}", path.display())))
}

/// The request in plain data; whatever is wrong with it is told before anything runs.
fn request(arguments: &RunArgs, sources: Sources) -> Result<Request, Failure> {
    let backends = arguments.backend.iter().map(|name| source::backend(name));
    let backends = backends.collect::<Result<Vec<Wanted>, Failure>>()?;
    let profiles = arguments.profile.iter().map(|name| profile(name));
    let named: Vec<String> = backends.iter().map(source::name_of).collect();
    arguments.require.iter().try_for_each(|word| requirable(word, &named))?;
    if !(0.1..=3600.0).contains(&arguments.timeout) {
        return Err(Failure::usage("--timeout: from 0.1 to 3600 seconds"));
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Request {
        scenarios: sources.texts,
        backends,
        filters: arguments.filters.clone(),
        exact: arguments.exact,
        profiles: profiles.collect::<Result<Vec<Profile>, Failure>>()?,
        tags: arguments.tag.clone(),
        partition: arguments.partition.as_deref().map(partition).transpose()?,
        jobs: arguments.jobs.map_or(processors, |jobs| jobs as usize),
        timeout: (arguments.timeout * 1000.0) as u64,
        seed: arguments.seed.unwrap_or_else(crate::rng::fresh_seed),
        arena_root: arguments.arena_root.clone(),
        keep_arena: arguments.keep_arena,
        fail_fast: arguments.fail_fast,
        control_only: arguments.control_only,
        without: arguments.without.clone(),
        required: arguments.require.clone(),
    })
}

fn reports(wanted: &[String]) -> Result<Vec<(Format, Option<PathBuf>)>, Failure> {
    if wanted.is_empty() {
        return Ok(vec![(Format::Terminal, None)]);
    }
    let one = |text: &String| {
        let (format, path) = match text.split_once('=') {
            Some((format, path)) => (format, Some(PathBuf::from(path))),
            None => (text.as_str(), None),
        };
        let format = format.parse().map_err(|why| Failure::usage(format!("--report: {why}")))?;
        Ok((format, path))
    };
    wanted.iter().map(one).collect()
}

fn profile(name: &str) -> Result<Profile, Failure> {
    Profile::ALL.into_iter().find(|profile| profile.name() == name).ok_or_else(|| {
        let known = Profile::ALL.map(Profile::name).join(", ");
        Failure::usage(format!("--profile: `{name}` is no profile; known: {known}"))
    })
}

/// `--require` takes a closed list: capabilities, backends, and manifests of this run.
fn requirable(word: &str, named: &[String]) -> Result<(), Failure> {
    let backend = registry::names().iter().chain(named).any(|name| name == word);
    if backend || word.parse::<Capability>().is_ok() {
        return Ok(());
    }
    let capabilities = Capability::ALL.map(Capability::word).join(", ");
    Err(Failure::usage(format!(
        "--require: `{word}` is neither a capability nor a backend\n  capabilities: {capabilities}\n  \
         backends: {}",
        registry::names().join(", ")
    )))
}

fn partition(text: &str) -> Result<(u64, u64), Failure> {
    let parts = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(k, n): &(u64, u64)| (1..=*n).contains(k)).ok_or_else(|| {
        Failure::usage(format!("--partition: `{text}` is not K/N with K from 1 to N"))
    })
}
