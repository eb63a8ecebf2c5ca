//! Commands about scenarios and their grammar: list, show, explain, lint, new, schema.

use std::ffi::OsString;
use std::path::Path;

use sandproof_backends::host::PLATFORM;
use sandproof_backends::manifest::{self, parse_manifest};
use sandproof_backends::{Express, Launch};
use sandproof_scenarios::{
    Expectation, Level, Profile, Rooms, Scenario, catalogue, explain as words, load,
    schema as schemas, template,
};
use serde_json::json;

use crate::cli::SourceArgs;
use crate::command::{Failure, print, source};
use crate::progress::say;

/// `sandproof list`.
pub(super) fn list(json: bool, source: &SourceArgs) -> Result<i32, Failure> {
    let sources = source::scenarios(source)?;
    if json {
        let items: Vec<_> = sources.scenarios.iter().map(item).collect();
        let text = serde_json::to_string_pretty(&items).unwrap_or_default();
        print(&format!("{text}\n"))?;
        return Ok(0);
    }
    let width = sources.scenarios.iter().map(|scenario| scenario.id.len()).max().unwrap_or(0);
    let lines = sources.scenarios.iter().map(|s| format!("{:width$}  {}\n", s.id, s.title));
    print(&lines.collect::<String>())?;
    Ok(0)
}

fn item(scenario: &Scenario) -> serde_json::Value {
    let routes: Vec<&str> = scenario.routes.iter().map(|(name, _)| name.as_str()).collect();
    let profiles: Vec<&str> = scenario.policy.profiles.iter().map(|p| p.name()).collect();
    json!({
        "id": scenario.id,
        "title": scenario.title,
        "severity": scenario.severity,
        "claim": scenario.claim,
        "tags": scenario.tags,
        "kind": match scenario.expect {
            Expectation::Then => "then",
            Expectation::Works => "works",
        },
        "profiles": profiles,
        "routes": routes,
        "needs": scenario.needs,
        "promise": scenario.promise,
    })
}

/// `sandproof show`.
pub(super) fn show(id: &str, backend: Option<&str>, source: &SourceArgs) -> Result<i32, Failure> {
    let sources = source::scenarios(source)?;
    let found = sources.scenarios.iter().zip(&sources.texts).find(|(s, _)| s.id == id);
    let Some((scenario, (_, text))) = found else {
        let near: Vec<&str> =
            sources.scenarios.iter().map(|s| s.id.as_str()).filter(|s| s.contains(id)).collect();
        let hint = if near.is_empty() { String::new() } else { format!(": {}", near.join(", ")) };
        return Err(Failure::usage(format!(
            "no scenario has the id `{id}`\n  `sandproof list` shows them all{hint}"
        )));
    };
    let Some(backend) = backend else {
        print(text)?;
        return Ok(0);
    };
    let executable = std::env::current_exe().map_err(|e| Failure::internal(e.to_string()))?;
    let wanted = source::backend(backend)?;
    let backend = crate::request::named(&wanted, &executable, &[])
        .map_err(|error| Failure::usage(error.to_string()))?;
    let rooms = Rooms::below(Path::new("/ARENA"));
    for profile in &scenario.policy.profiles {
        let policy = scenario.policy.resolve(*profile, &rooms, Path::new("/ARENA/bin"));
        let command: [OsString; 2] = ["/ARENA/bin/sandproof".into(), "probe".into()];
        match backend.launch(&policy, &rooms, &command) {
            Ok(launch) => print(&shown(*profile, &launch))?,
            Err(what) => print(&format!("# {}: skip: {what}\n", profile.name()))?,
        }
    }
    Ok(0)
}

/// A launch as files and a command line.
fn shown(profile: Profile, launch: &Launch) -> String {
    let mut text = format!("# {} on {}\n", profile.name(), PLATFORM.name());
    for (path, content) in &launch.files {
        text.push_str(&format!("cat > {} <<'END'\n{content}\nEND\n", path.display()));
    }
    for (name, value) in &launch.env {
        text.push_str(&format!("{}={} \\\n", name.to_string_lossy(), quoted(value)));
    }
    let argv: Vec<String> = launch.argv.iter().map(quoted).collect();
    text.push_str(&format!("{}\n", argv.join(" ")));
    for item in &launch.receipt {
        let how = match &item.express {
            Express::Expressed => "expressed".to_owned(),
            Express::Approximated(how) => format!("approximated: {how}"),
        };
        text.push_str(&format!("#   {}: {how}\n", item.item));
    }
    text
}

/// An argument as a shell would have it written.
fn quoted(argument: &OsString) -> String {
    let text = argument.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// `sandproof explain`.
pub(super) fn explain(word: &str) -> Result<i32, Failure> {
    match words::explain(word) {
        Some(text) => print(&format!("{}\n", text.trim_end()))?,
        None => {
            let near = words::nearest(word).map(|near| format!("; did you mean `{near}`?"));
            return Err(Failure::usage(format!(
                "`{word}` is no word of ours{}",
                near.unwrap_or_default()
            )));
        }
    }
    Ok(0)
}

/// `sandproof lint`.
pub(super) fn lint(path: Option<&Path>) -> Result<i32, Failure> {
    let complaints = match path {
        None => catalogue::embedded()
            .iter()
            .flat_map(|(id, text)| load::checked(text, id, Some(id)).complaints)
            .collect(),
        Some(path) if path.is_dir() => load::folder_checked(path).1,
        Some(path) => {
            let bytes = std::fs::read(path)
                .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
            let text = String::from_utf8_lossy(&bytes);
            let origin = path.display().to_string();
            if is_manifest(&text) {
                return lint_manifest(&text, &origin);
            }
            match std::str::from_utf8(&bytes) {
                Ok(text) => load::checked(text, &origin, None).complaints,
                Err(_) => load::bytes(&bytes, &origin, None).err().unwrap_or_default(),
            }
        }
    };
    complaints.iter().for_each(|complaint| say(&complaint.to_string()));
    let errors = complaints.iter().filter(|c| c.level == Level::Error).count();
    say(&format!("{errors} error(s), {} warning(s)", complaints.len() - errors));
    Ok(if errors > 0 { crate::command::USAGE } else { 0 })
}

/// A manifest names how its subject is driven; a scenario never does.
fn is_manifest(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("drive:") || line.starts_with("argv:"))
}

fn lint_manifest(text: &str, origin: &str) -> Result<i32, Failure> {
    match parse_manifest(text, origin) {
        Ok(_) => {
            say("0 error(s), 0 warning(s)");
            Ok(0)
        }
        Err(complaints) => {
            let lines: Vec<String> = complaints.iter().map(ToString::to_string).collect();
            Err(Failure::usage(lines.join("\n")))
        }
    }
}

/// `sandproof new`.
pub(super) fn new(id: &str, dir: Option<&Path>) -> Result<i32, Failure> {
    let text = template::new_scenario(id).map_err(Failure::usage)?;
    let Some(dir) = dir else {
        print(&text)?;
        return Ok(0);
    };
    let path = dir.join(format!("{id}.yaml"));
    let write = || -> std::io::Result<()> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut file = std::fs::File::create_new(&path)?;
        std::io::Write::write_all(&mut file, text.as_bytes())
    };
    write().map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    say(&format!("wrote {}", path.display()));
    Ok(0)
}

/// `sandproof schema`.
pub(super) fn schema(of: &str) -> Result<i32, Failure> {
    let schema = match of {
        "manifest" => manifest::manifest_schema(),
        "journal" => {
            print(&sandproof_reports::schema::journal_schema())?;
            return Ok(0);
        }
        _ => schemas::scenario_schema(),
    };
    let text =
        serde_json::to_string_pretty(&schema).map_err(|e| Failure::internal(e.to_string()))?;
    print(&format!("{text}\n"))?;
    Ok(0)
}
