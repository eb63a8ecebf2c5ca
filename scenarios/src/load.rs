//! Files to [`Scenario`]s. Only this file and `yaml` know that scenarios are YAML.
//!
//! What is loaded has been decoded, checked against the rules of the grammar and linted; every
//! mistake of a file, and of every file of a folder, is told at once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::complaint::{Complaint, Fault, Level, nearest};
use crate::file::{RouteSpec, ScenarioFile};
use crate::lint::{self, Finding};
use crate::rules::{self, Check, merge};
use crate::yaml::{self, Tree};
use crate::{Effects, Expectation, Room, Route, Scenario};

/// A file with everything that is to be said about it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The scenario; absent when there is an error among the complaints.
    pub scenario: Option<Scenario>,
    /// Errors and warnings in the order of the text.
    pub complaints: Vec<Complaint>,
}

/// Reads one scenario. `origin` is how the user names the file, `id_from_path` the id that its
/// place in a folder demands.
///
/// # Errors
/// Every mistake in the text.
pub fn scenario(
    text: &str,
    origin: &str,
    id_from_path: Option<&str>,
) -> Result<Scenario, Vec<Complaint>> {
    let Checked { scenario, mut complaints } = checked(text, origin, id_from_path);
    complaints.retain(|complaint| complaint.level == Level::Error);
    scenario.ok_or(complaints)
}

/// Reads one scenario from bytes that may not be text.
///
/// # Errors
/// Every mistake, or the first byte that is not UTF-8.
pub fn bytes(
    bytes: &[u8],
    origin: &str,
    id_from_path: Option<&str>,
) -> Result<Scenario, Vec<Complaint>> {
    scenario(yaml::utf8(bytes, origin)?, origin, id_from_path)
}

/// Reads one scenario and tells warnings too.
#[must_use]
pub fn checked(text: &str, origin: &str, id_from_path: Option<&str>) -> Checked {
    let refused = |faults: Vec<Fault>| {
        let faults = faults.into_iter().map(advised).collect();
        let complaints = yaml::complaints(origin, text, Level::Error, faults);
        Checked { scenario: None, complaints }
    };
    let tree = match yaml::parse(text) {
        Ok(tree) => tree,
        Err(faults) => return refused(faults),
    };
    let scenario = match build(&tree, id_from_path) {
        Ok(scenario) => scenario,
        Err(faults) => return refused(faults),
    };
    let mut findings = lint::lint(&scenario);
    findings.extend(lint::length(text));
    let complaints: Vec<Complaint> =
        findings.into_iter().map(|f| found(origin, text, &tree, f)).collect();
    let complaints = unique(complaints);
    let bad = complaints.iter().any(|complaint| complaint.level == Level::Error);
    Checked { scenario: (!bad).then_some(scenario), complaints }
}

/// Advice that only scenarios need: the nearest room for a path that begins with none, and where
/// outcomes belong.
fn advised(mut fault: Fault) -> Fault {
    if fault.near.is_none() && fault.message.contains("does not begin with a room") {
        let (first, rest) = fault.word.split_once('/').unwrap_or((&fault.word, ""));
        let room = nearest(first, Room::ALL.map(Room::name));
        fault.near = room.map(|room| format!("{room}/{rest}").trim_end_matches('/').to_owned());
    }
    if fault.word == "expect" {
        fault.message.push_str("; what must hold afterwards stands in `then`");
    }
    fault
}

/// A finding of lint at its place.
fn found(origin: &str, text: &str, tree: &Tree, finding: Finding) -> Complaint {
    let Finding { level, place, word, message } = finding;
    let at = tree.locate(&place, &word, &BTreeSet::new());
    Complaint::new(level, origin, text, Fault::new(at, message, word))
}

/// In the order of the text, each once.
fn unique(mut complaints: Vec<Complaint>) -> Vec<Complaint> {
    complaints.sort_by_key(|complaint| (complaint.line, complaint.column));
    complaints.dedup();
    complaints
}

/// Decodes and checks.
fn build(tree: &Tree, id_from_path: Option<&str>) -> Result<Scenario, Vec<Fault>> {
    let decoded = yaml::decode::<ScenarioFile>(tree);
    let mut faults = decoded.faults;
    let Some(file) = decoded.value else { return Err(faults) };
    let mut check = Check { tree, dropped: &decoded.dropped, faults: Vec::new() };
    rules::check(&file, id_from_path, &mut check);
    faults.extend(check.faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    assemble(file).ok_or_else(|| vec![Fault::new(tree.root.at, "the file is incomplete", "")])
}

/// The scenario of a file in which nothing is missing.
fn assemble(file: ScenarioFile) -> Option<Scenario> {
    let expect = if file.then.is_some() { Expectation::Then } else { Expectation::Works };
    let common = file.then.unwrap_or_default();
    let routes = file.routes?.0.into_iter();
    Some(Scenario {
        id: file.id?,
        title: file.title?.trim().to_owned(),
        why: file.why?.trim().to_owned(),
        claim: file.claim?.trim().to_owned(),
        severity: file.severity?,
        tags: file.tags,
        needs: file.needs.iter().map(|need| need.0.to_string()).collect(),
        policy: file.policy?,
        promise: file.promise.unwrap_or_default(),
        given: file.given,
        routes: routes.map(|(name, spec)| (name, route(&common, spec))).collect(),
        expect,
        still_works: file.still_works.unwrap_or_default(),
        twin: file.twin.map(|twin| twin.given),
    })
}

fn route(common: &Effects, spec: RouteSpec) -> Route {
    let (effects, _) = merge(common, &spec.then.unwrap_or_default());
    Route { tools: spec.tools, steps: spec.steps, effects }
}

/// Reads every scenario below a folder, sorted by id.
///
/// # Errors
/// Every mistake in every file; a folder without any scenario.
pub fn folder(dir: &Path) -> Result<Vec<Scenario>, Vec<Complaint>> {
    let (scenarios, mut complaints) = folder_checked(dir);
    complaints.retain(|complaint| complaint.level == Level::Error);
    if complaints.is_empty() { Ok(scenarios) } else { Err(complaints) }
}

/// Reads every scenario below a folder; what is wrong and what is worth a look, in file order.
#[must_use]
pub fn folder_checked(dir: &Path) -> (Vec<Scenario>, Vec<Complaint>) {
    let (files, mut complaints) = yaml_files(dir);
    if files.is_empty() && complaints.is_empty() {
        let shown = dir.display().to_string();
        let message = format!("no scenario (`*.yaml`) in `{shown}` or below it");
        complaints.push(Complaint::whole(&shown, message, &shown));
    }
    let mut scenarios = Vec::new();
    for file in &files {
        let checked = one_of(dir, file);
        scenarios.extend(checked.scenario);
        complaints.extend(checked.complaints);
    }
    scenarios.sort_by(|a, b| a.id.cmp(&b.id));
    (scenarios, complaints)
}

/// One file of a folder; its path there is its id.
fn one_of(dir: &Path, file: &Path) -> Checked {
    let origin = file.display().to_string();
    let refused = |complaints| Checked { scenario: None, complaints };
    let content = match std::fs::read(file) {
        Ok(content) => content,
        Err(error) => {
            let message = format!("`{origin}` cannot be read: {error}");
            return refused(vec![Complaint::whole(&origin, message, &origin)]);
        }
    };
    match yaml::utf8(&content, &origin) {
        Ok(text) => checked(text, &origin, id_of(dir, file).as_deref()),
        Err(complaints) => refused(complaints),
    }
}

/// The id that a file's place demands: its path below `dir`, without `.yaml`, parts joined by `/`.
fn id_of(dir: &Path, file: &Path) -> Option<String> {
    let relative = file.strip_prefix(dir).ok()?.with_extension("");
    let parts: Option<Vec<&str>> = relative.iter().map(|part| part.to_str()).collect();
    parts.map(|parts| parts.join("/"))
}

/// Every `*.yaml` below a folder, sorted, and what is wrong with the rest.
pub(crate) fn yaml_files(dir: &Path) -> (Vec<PathBuf>, Vec<Complaint>) {
    let mut found = Found::default();
    found.walk(dir);
    found.files.sort();
    (found.files, found.complaints)
}

/// The files of a folder, and what is wrong with the rest.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    complaints: Vec<Complaint>,
}

impl Found {
    fn walk(&mut self, dir: &Path) {
        let entries = std::fs::read_dir(dir).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.complain(dir, &format!("cannot be read: {error}")),
        };
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            if !name.to_string_lossy().starts_with('.') {
                self.entry(&entry.path(), &name.to_string_lossy());
            }
        }
    }

    fn entry(&mut self, path: &Path, name: &str) {
        // Follows links: a link to a folder would let one file have two ids, or a walk never end.
        let linked = path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        if path.is_dir() {
            if linked {
                self.complain(path, "is a link to a folder; put the scenarios here themselves");
            } else if name != "waivers" {
                self.walk(path);
            }
        } else if name.ends_with(".yaml") {
            self.files.push(path.to_path_buf());
        } else if name.to_lowercase().ends_with(".yml") || name.to_lowercase().ends_with(".yaml") {
            let wanted = Path::new(name).with_extension("yaml");
            self.complain(path, &format!("would not be read; rename it to `{}`", wanted.display()));
        }
    }

    fn complain(&mut self, path: &Path, what: &str) {
        let shown = path.display().to_string();
        self.complaints.push(Complaint::whole(&shown, format!("`{shown}` {what}"), &shown));
    }
}
