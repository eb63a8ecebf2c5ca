//! Text to [`Manifest`]: decoded, checked against the rules of the grammar, its templates tried
//! on sample policies. Every mistake of a file is told at once. Only this file knows that backends
//! can be YAML.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use minijinja::Value;
use regex::Regex;
use sandproof_scenarios::complaint::{Complaint, Fault, Level, Mark, nearest};
use sandproof_scenarios::yaml::{self, Seg, Tree};
use sandproof_scenarios::{Capability, Platform, Rooms};

use super::file::{CAN, Can, Drive, GapFile, ManifestFile, capability};
use super::template::{RenderError, TemplateFault, Templates, VARIABLES, arguments};
use super::values::{Subject, samples, values};
use super::{FileTemplate, Manifest};
use crate::Gap;
use crate::liars::LiarKind;

/// Names that are no product's.
const RESERVED: [&str; 6] = ["bare", "confine", "landlock", "seccomp", "mounts", "seatbelt"];

/// Reads one manifest; `origin` is how the user names the file.
///
/// # Errors
/// Every mistake in it.
pub(super) fn manifest(text: &str, origin: &str) -> Result<Manifest, Vec<Complaint>> {
    let told = |faults| yaml::complaints(origin, text, Level::Error, faults);
    let tree = yaml::parse(text).map_err(told)?;
    let decoded = yaml::decode::<ManifestFile>(&tree);
    let (dropped, faults) = (decoded.dropped, decoded.faults);
    let mut check = Check { text, tree: &tree, dropped, faults };
    let Some(file) = decoded.value else { return Err(told(check.faults)) };
    check.head(&file);
    check.lists(&file);
    let templates = check.templates(&file);
    if !check.faults.is_empty() {
        return Err(told(check.faults));
    }
    assemble(file, templates)
        .ok_or_else(|| told(vec![Fault::new(tree.root.at, "the manifest is incomplete", "")]))
}

/// Collects faults.
struct Check<'a> {
    text: &'a str,
    tree: &'a Tree,
    dropped: BTreeSet<usize>,
    faults: Vec<Fault>,
}

/// A path into the file.
fn path<const N: usize>(keys: [&str; N]) -> Vec<Seg> {
    keys.into_iter().map(Seg::from).collect()
}

impl Check<'_> {
    fn wrong(&mut self, path: &[Seg], word: &str, message: impl Into<String>) {
        let at = self.tree.locate(path, word, &self.dropped);
        self.faults.push(Fault::new(at, message, word));
    }

    /// A word that is not among `known`.
    fn unknown(&mut self, path: &[Seg], word: &str, message: String, known: &[&str]) {
        self.wrong(path, word, message);
        if let Some(fault) = self.faults.last_mut() {
            fault.near = nearest(word, known.iter().copied()).map(str::to_owned);
        }
    }

    /// Complains about each required key that is not there, unless it was complained about.
    fn head(&mut self, file: &ManifestFile) {
        for (key, there) in [
            ("schema", file.schema.is_some()),
            ("name", file.name.is_some()),
            ("title", file.title.is_some()),
            ("platforms", file.platforms.is_some()),
            ("detect", file.detect.is_some()),
            ("install", file.install.is_some()),
            ("can", file.can.is_some()),
            ("argv", file.argv.is_some()),
        ] {
            if !there && !self.tree.mistaken(key, &self.dropped) {
                self.wrong(&[], key, format!("the key `{key}` is missing"));
            }
        }
        if let Some(schema) = file.schema.filter(|schema| *schema != 1) {
            let message = format!("schema {schema} is not known, this is a reader of schema 1");
            self.wrong(&path(["schema"]), &schema.to_string(), message);
        }
        if let Some(name) = &file.name {
            self.name(name);
        }
        if let Some(detect) = &file.detect {
            self.command(&path(["detect", "command"]), &detect.command);
            self.pattern(&detect.version);
        }
    }

    fn name(&mut self, name: &str) {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let kebab = !name.split('-').any(str::is_empty) && name.chars().all(plain);
        let taken = RESERVED.contains(&name) || LiarKind::ALL.iter().any(|l| l.name() == name);
        if !kebab {
            self.wrong(&path(["name"]), name, format!("`{name}` is not in kebab case"));
        } else if taken {
            let message = format!("`{name}` is the name of a backend of sandproof itself");
            self.wrong(&path(["name"]), name, message);
        }
    }

    fn command(&mut self, path: &[Seg], command: &[String]) {
        if command.first().is_none_or(String::is_empty) {
            self.wrong(path, "", "the command is empty, its first word must be a program");
        }
    }

    fn pattern(&mut self, pattern: &str) {
        let place = path(["detect", "version"]);
        match Regex::new(pattern) {
            Ok(regex) if regex.captures_len() > 1 => {}
            Ok(_) => {
                let message = format!("`{pattern}` has no group; its first group is the version");
                self.wrong(&place, pattern, message);
            }
            Err(error) => {
                let last = error.to_string();
                let last = last.lines().last().unwrap_or_default().trim_start_matches("error: ");
                let message = format!("`{pattern}` is no regular expression: {last}");
                self.wrong(&place, pattern, message);
            }
        }
    }

    fn lists(&mut self, file: &ManifestFile) {
        if file.platforms.as_ref().is_some_and(Vec::is_empty) {
            self.wrong(&path(["platforms"]), "", "the list is empty, name linux or macos");
        }
        for (name, command) in &file.helpers {
            self.command(&path(["helpers", name]), command);
        }
        if let Some(ready) = &file.ready {
            self.command(&path(["ready"]), ready);
        }
        let can = file.can.as_deref().unwrap_or_default();
        for (index, word) in can.iter().enumerate().filter(|(i, c)| can[..*i].contains(c)) {
            let message = format!("`{}` is listed twice", word.0);
            self.wrong(&["can".into(), index.into()], word.0.word(), message);
        }
        let wrapped = file.drive.unwrap_or_default() == Drive::Wrap;
        if wrapped && can.contains(&Can(Capability::AgentTools)) {
            let message = "`agent-tools` needs `drive: agent`, a wrapped command has no tools";
            self.wrong(&path(["can"]), "agent-tools", message);
        }
        for word in file.approximates.keys() {
            let place = path(["approximates", word]);
            match capability(word) {
                None => {
                    let message = format!("`{word}` is no capability of a backend");
                    self.unknown(&place, word, message, &CAN);
                }
                Some(known) if !can.contains(&Can(known)) && file.can.is_some() => {
                    self.wrong(&place, word, format!("`{word}` is not listed under `can`"));
                }
                Some(_) => {}
            }
        }
        self.gaps(&file.gaps);
    }

    fn gaps(&mut self, gaps: &[GapFile]) {
        for (index, gap) in gaps.iter().enumerate() {
            let place = |key: &str| ["gaps".into(), index.into(), key.into()];
            if gap.id.split('/').any(str::is_empty) || gap.id.split('/').count() < 2 {
                let message = format!("`{}` is no scenario id (folder/name) nor id/route", gap.id);
                self.wrong(&place("id"), &gap.id, message);
            }
            if !gap.link.starts_with("https://") {
                let message = format!("`{}` is no https address of a vendor's document", gap.link);
                self.wrong(&place("link"), &gap.link, message);
            }
            if gaps[..index].iter().any(|other| other.id == gap.id) {
                self.wrong(&place("id"), &gap.id, format!("`{}` stands there twice", gap.id));
            }
        }
    }

    /// Parses all templates and tries them.
    fn templates(&mut self, file: &ManifestFile) -> Templates {
        let sources = sources(file);
        let places: BTreeMap<String, Vec<Seg>> =
            sources.iter().map(|(name, place, _)| (name.clone(), place.clone())).collect();
        let texts = sources.into_iter().map(|(name, _, text)| (name, text)).collect();
        let (templates, faults) = Templates::new(texts);
        let broken: BTreeSet<String> = faults.iter().map(|(name, _)| name.clone()).collect();
        for (name, fault) in faults {
            self.template(&places[&name], fault);
        }
        for (name, place) in places.iter().filter(|(name, _)| !broken.contains(*name)) {
            if let Some(fault) = try_out(&templates, name) {
                self.template(place, fault);
            }
        }
        templates
    }

    /// A fault in the template at this place: told at the offending word, or at the line.
    fn template(&mut self, place: &[Seg], template: TemplateFault) {
        let TemplateFault { message, word, line } = template;
        let start = self.tree.locate(place, "", &self.dropped);
        let near = nearest(&word, VARIABLES).map(str::to_owned);
        let below = line.map(|line| Mark { line: start.line + line - 1, ..start });
        let at = self.find(&word, start).or(below).unwrap_or(start);
        self.faults.push(Fault { near, ..Fault::new(at, message, word) });
    }

    /// The first place of a word from a line on.
    fn find(&self, word: &str, start: Mark) -> Option<Mark> {
        let mut lines = self.text.lines().zip(1..).skip(start.line - 1);
        let (text, line) = lines.find(|(text, _)| !word.is_empty() && text.contains(word))?;
        let column = text[..text.find(word)?].chars().count() + 1;
        Some(Mark { line, column })
    }
}

/// Name, place and text of every template of the file. Names are those of [`FileTemplate`].
fn sources(file: &ManifestFile) -> Vec<(String, Vec<Seg>, String)> {
    let mut sources = Vec::new();
    if let Some(argv) = &file.argv {
        sources.push(("argv".to_owned(), path(["argv"]), argv.clone()));
    }
    for (name, value) in &file.env {
        sources.push((format!("env {name}"), path(["env", name]), value.clone()));
    }
    for (index, entry) in file.files.iter().enumerate() {
        for (key, text) in [("path", &entry.path), ("text", &entry.text)] {
            let place = vec!["files".into(), index.into(), key.into()];
            sources.push((format!("file {key} {index}"), place, text.clone()));
        }
    }
    for (index, pattern) in file.cleanup.iter().enumerate() {
        let place = vec!["cleanup".into(), index.into()];
        sources.push((format!("cleanup {index}"), place, pattern.clone()));
    }
    sources
}

/// The first fault of a template under the sample policies.
fn try_out(templates: &Templates, name: &str) -> Option<TemplateFault> {
    let rooms = Rooms::below("/nonexistent/sandproof".as_ref());
    let program = Path::new("/opt/lib/node_modules/@vendor/product/bin/product");
    samples(&rooms).iter().find_map(|policy| {
        let subject = Subject { policy, rooms: &rooms, program, deny_now: &policy.deny };
        let values: Value = values(subject).ok()?;
        match templates.render(name, &values) {
            Ok(text) => misuse(name, &text),
            Err(RenderError::Wrong(fault)) => Some(fault),
            Err(RenderError::Cannot(_)) => None,
        }
    })
}

/// What is wrong with a rendered template, by where it stands.
fn misuse(name: &str, text: &str) -> Option<TemplateFault> {
    if name == "argv" {
        return arguments(text, &["true".into()]).err();
    }
    if text.contains(super::template::COMMAND) {
        return Some(TemplateFault::new("`command` may stand in `argv` only", "command"));
    }
    let absolute = text.starts_with('/') && !text.contains('\n');
    if (name.starts_with("file path") || name.starts_with("cleanup")) && !absolute {
        let message = "this must be one absolute path: begin it with `{{ config }}`, say";
        return Some(TemplateFault::new(message, ""));
    }
    None
}

/// The manifest of a file in which nothing is missing.
fn assemble(file: ManifestFile, templates: Templates) -> Option<Manifest> {
    let platforms = file.platforms?;
    let detect = file.detect?;
    let gap = |gap: GapFile| Gap {
        id: gap.id,
        platforms: gap.platforms.unwrap_or_else(|| vec![Platform::Linux, Platform::Macos]),
        link: gap.link,
        says: gap.says,
    };
    let nearly = |(word, how): (String, String)| Some((capability(&word)?, how));
    Some(Manifest {
        name: file.name?,
        title: file.title?.trim().to_owned(),
        platforms,
        agent: file.drive.unwrap_or_default() == Drive::Agent,
        version: Regex::new(&detect.version).ok()?,
        command: detect.command,
        helpers: file.helpers,
        ready: file.ready,
        mend: file.install?.mend(),
        can: file.can?.into_iter().map(|can| can.0).collect::<BTreeSet<Capability>>(),
        nearly: file.approximates.into_iter().filter_map(nearly).collect(),
        gaps: file.gaps.into_iter().map(gap).collect(),
        files: (0..file.files.len()).map(FileTemplate::at).collect(),
        env: file.env.into_keys().map(|name| (format!("env {name}"), name)).collect(),
        cleanup: (0..file.cleanup.len()).map(|index| format!("cleanup {index}")).collect(),
        templates,
    })
}
