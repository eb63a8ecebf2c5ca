//! Backends from manifests: how a product is detected and started, written in YAML.
//!
//! [`load_manifest`] reads a file of the user's, [`embedded_manifests`] those that come with
//! sandproof. From then on nothing knows that they were YAML.

mod detect;
mod embedded;
mod file;
mod load;
mod receipt;
mod scratch;
mod template;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use minijinja::Value;
use regex::Regex;
use sandproof_scenarios::complaint::Complaint;
use sandproof_scenarios::{Capability, Platform, Policy, Rooms, yaml};

use crate::{Backend, Gap, Launch, NotReady, Subject, Unsupported, identify};
use template::{RenderError, Templates};

pub use embedded::embedded_manifests;

/// A backend that a manifest describes.
#[derive(Clone, Debug)]
pub struct ManifestBackend {
    manifest: Manifest,
}

/// A manifest without mistakes.
#[derive(Clone, Debug)]
struct Manifest {
    name: String,
    title: String,
    platforms: Vec<Platform>,
    agent: bool,
    command: Vec<String>,
    version: Regex,
    helpers: BTreeMap<String, Vec<String>>,
    ready: Option<Vec<String>>,
    mend: String,
    can: BTreeSet<Capability>,
    nearly: BTreeMap<Capability, String>,
    gaps: Vec<Gap>,
    /// Names of templates, here and below.
    files: Vec<FileTemplate>,
    /// Template and variable.
    env: Vec<(String, String)>,
    cleanup: Vec<String>,
    templates: Templates,
}

/// The templates of one file to write.
#[derive(Clone, Debug)]
struct FileTemplate {
    path: String,
    text: String,
}

impl FileTemplate {
    /// Those of the file at this index.
    fn at(index: usize) -> Self {
        Self { path: format!("file path {index}"), text: format!("file text {index}") }
    }
}

/// Reads a manifest file.
///
/// # Errors
/// Every mistake in it, or why it cannot be read.
pub fn load_manifest(path: &Path) -> Result<ManifestBackend, Vec<Complaint>> {
    let origin = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        let message = format!("cannot read the manifest: {error}");
        vec![Complaint::whole(&origin, message, origin.as_str())]
    })?;
    parse_manifest(yaml::utf8(&bytes, &origin)?, &origin)
}

/// Reads a manifest from its text; `origin` is how the user names it.
///
/// # Errors
/// Every mistake in it.
pub fn parse_manifest(text: &str, origin: &str) -> Result<ManifestBackend, Vec<Complaint>> {
    load::manifest(text, origin).map(|manifest| ManifestBackend { manifest })
}

/// The JSON Schema of manifests.
#[must_use]
pub fn manifest_schema() -> serde_json::Value {
    file::schema()
}

impl ManifestBackend {
    /// The real file of the product's program.
    fn program(&self) -> Option<PathBuf> {
        identify::find(OsStr::new(&self.manifest.command[0]))?.canonicalize().ok()
    }

    /// Renders one template. One that is wrong was refused when it was loaded, but for branches
    /// that no sample policy takes; such a one cannot be expressed either.
    fn render(&self, name: &str, values: &Value) -> Result<String, Unsupported> {
        self.manifest.templates.render(name, values).map_err(|error| match error {
            RenderError::Cannot(unsupported) => unsupported,
            RenderError::Wrong(fault) => Unsupported {
                item: format!("template `{name}` of manifest `{}`", self.manifest.name),
                why: fault.message,
            },
        })
    }

    /// The variables for these rooms under some simple policy, for templates that do not depend on
    /// it.
    fn plain(&self, rooms: &Rooms) -> Result<Value, Unsupported> {
        let policy = &values::samples(rooms)[0];
        let program = self.program().unwrap_or_else(|| PathBuf::from(&self.manifest.command[0]));
        values::values(values::Subject { policy, rooms, program: &program, deny_now: &[] })
    }

    fn launch_as(
        &self,
        subject: values::Subject<'_>,
        command: &[OsString],
    ) -> Result<Launch, Unsupported> {
        let items = receipt::items(subject.policy, subject.rooms);
        let receipt = receipt::receipt(items, &self.manifest.can, &self.manifest.nearly)?;
        let values = values::values(subject)?;
        let argv = template::arguments(&self.render("argv", &values)?, command);
        let argv = argv.map_err(|fault| Unsupported {
            item: format!("command line of manifest `{}`", self.manifest.name),
            why: fault.message,
        })?;
        let env = self.rendered_env(&values)?;
        let files = self.rendered_files(&values)?;
        Ok(Launch { argv, env, files, receipt })
    }

    fn rendered_env(&self, values: &Value) -> Result<Vec<(OsString, OsString)>, Unsupported> {
        let one = |(template, variable): &(String, String)| {
            Ok((variable.into(), self.render(template, values)?.into()))
        };
        self.manifest.env.iter().map(one).collect()
    }

    fn rendered_files(&self, values: &Value) -> Result<Vec<(PathBuf, String)>, Unsupported> {
        let one = |file: &FileTemplate| {
            let path = self.render(&file.path, values)?;
            Ok((path.into(), self.render(&file.text, values)?))
        };
        self.manifest.files.iter().map(one).collect()
    }
}

impl Backend for ManifestBackend {
    fn name(&self) -> &str {
        &self.manifest.name
    }

    fn title(&self) -> &str {
        &self.manifest.title
    }

    fn platforms(&self) -> &[Platform] {
        &self.manifest.platforms
    }

    fn can(&self) -> &BTreeSet<Capability> {
        &self.manifest.can
    }

    fn gaps(&self) -> &[Gap] {
        &self.manifest.gaps
    }

    fn detect(&self) -> Result<Subject, NotReady> {
        detect::detect(self)
    }

    fn launch(
        &self,
        policy: &Policy,
        rooms: &Rooms,
        command: &[OsString],
    ) -> Result<Launch, Unsupported> {
        let program = self.program().ok_or_else(|| Unsupported {
            item: format!("backend `{}`", self.manifest.name),
            why: format!("`{}` is not on PATH", self.manifest.command[0]),
        })?;
        let deny_now = values::deny_now(&policy.deny_globs)?;
        let subject = values::Subject { policy, rooms, program: &program, deny_now: &deny_now };
        self.launch_as(subject, command)
    }

    fn leaves(&self, rooms: &Rooms) -> Vec<PathBuf> {
        let Ok(values) = self.plain(rooms) else { return Vec::new() };
        let cleanup = self.manifest.cleanup.iter();
        cleanup.filter_map(|name| self.render(name, &values).ok()).map(PathBuf::from).collect()
    }
}

#[cfg(test)]
mod tests;
