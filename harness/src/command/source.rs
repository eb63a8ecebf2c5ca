//! Scenarios and backends by what the user names.

use std::path::Path;

use sandproof_backends::manifest::parse_manifest;
use sandproof_backends::{Backend as _, registry};
use sandproof_scenarios::{Complaint, Level, Scenario, catalogue, load};

use crate::cli::SourceArgs;
use crate::command::Failure;
use crate::progress::say;
use crate::request::Wanted;

/// Loaded scenarios with their texts, in the order of ids.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) scenarios: Vec<Scenario>,
    pub(super) texts: Vec<(String, String)>,
}

/// Loads what `--scenarios` names, or the catalogue.
pub(super) fn scenarios(source: &SourceArgs) -> Result<Sources, Failure> {
    let mut sources = Sources::default();
    if source.scenarios.is_empty() {
        sources.add_embedded()?;
    }
    for dir in &source.scenarios {
        if dir == Path::new("embedded") {
            sources.add_embedded()?;
        } else {
            sources.add_folder(dir)?;
        }
    }
    sources.scenarios.sort_by(|a, b| a.id.cmp(&b.id));
    sources.texts.sort();
    let twice = sources.scenarios.windows(2).find(|pair| pair[0].id == pair[1].id);
    match twice {
        Some(pair) => Err(Failure::usage(format!(
            "two scenarios have the id `{}`: rename one of the files",
            pair[0].id
        ))),
        None => Ok(sources),
    }
}

impl Sources {
    fn add_embedded(&mut self) -> Result<(), Failure> {
        self.scenarios.extend(catalogue::load_embedded().map_err(refused)?);
        let texts = catalogue::embedded().into_iter();
        self.texts.extend(texts.map(|(id, text)| (id.to_owned(), text.to_owned())));
        Ok(())
    }

    fn add_folder(&mut self, dir: &Path) -> Result<(), Failure> {
        let (scenarios, complaints) = load::folder_checked(dir);
        let (errors, warnings): (Vec<_>, Vec<_>) =
            complaints.into_iter().partition(|complaint| complaint.level == Level::Error);
        warnings.iter().for_each(|warning| say(&warning.to_string()));
        if !errors.is_empty() {
            return Err(refused(errors));
        }
        for scenario in &scenarios {
            let file = dir.join(format!("{}.yaml", scenario.id));
            let text = std::fs::read_to_string(&file)
                .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
            self.texts.push((scenario.id.clone(), text));
        }
        self.scenarios.extend(scenarios);
        Ok(())
    }
}

/// All mistakes, one after the other.
pub(super) fn refused(complaints: Vec<Complaint>) -> Failure {
    let count = complaints.len();
    let mut text: Vec<String> = complaints.iter().map(ToString::to_string).collect();
    text.push(format!("{count} mistake(s); nothing was run"));
    Failure::usage(text.join("\n"))
}

/// A backend by name, or a manifest by path: whatever holds a `/` or ends in `.yaml` is a file.
pub(super) fn backend(named: &str) -> Result<Wanted, Failure> {
    if let Err(complaints) = registry::select(&[named.to_owned()], Path::new("")) {
        return Err(refused(complaints));
    }
    if !(named.contains('/') || named.ends_with(".yaml")) {
        return Ok(Wanted::Name(named.to_owned()));
    }
    let text = std::fs::read_to_string(named)
        .map_err(|error| Failure::usage(format!("manifest {named}: {error}")))?;
    Ok(Wanted::Manifest(named.to_owned(), text))
}

/// The name under which reports know a backend.
pub(super) fn name_of(wanted: &Wanted) -> String {
    match wanted {
        Wanted::Name(name) => name.clone(),
        // It was read before, so it can be read again.
        Wanted::Manifest(origin, text) => parse_manifest(text, origin)
            .map_or_else(|_| origin.clone(), |manifest| manifest.name().to_owned()),
    }
}
