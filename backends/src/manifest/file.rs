//! [`ManifestFile`]: the keys of a manifest as they are written. Decoding and the JSON Schema both
//! come from this type, so that they cannot drift.

use std::borrow::Cow;
use std::collections::BTreeMap;

use sandproof_scenarios::{Capability, Platform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

/// How one sandbox product is detected and started.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "sandproof manifest")]
pub(super) struct ManifestFile {
    /// Version of this grammar: 1.
    #[schemars(required, range(min = 1, max = 1))]
    pub(super) schema: Option<u32>,
    /// Name in reports and on the command line, kebab case.
    #[schemars(required, regex(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$"))]
    pub(super) name: Option<String>,
    /// One line for users.
    #[schemars(required)]
    pub(super) title: Option<String>,
    /// Where it exists at all.
    #[schemars(required, length(min = 1))]
    pub(super) platforms: Option<Vec<Platform>>,
    /// How it is driven; absent: `wrap`.
    pub(super) drive: Option<Drive>,
    /// How its presence and version are found.
    #[schemars(required)]
    pub(super) detect: Option<Detect>,
    /// Programs that it calls, by name, with the command that prints their version.
    #[serde(default)]
    pub(super) helpers: BTreeMap<String, Vec<String>>,
    /// A command that exits 0 when it can be started here, run with `files` and `env`.
    pub(super) ready: Option<Vec<String>>,
    /// How to install it.
    #[schemars(required)]
    pub(super) install: Option<Install>,
    /// What it can express.
    #[schemars(required)]
    pub(super) can: Option<Vec<Can>>,
    /// Of these, what it only nearly expresses, and how; shown beside the verdict.
    #[serde(default)]
    pub(super) approximates: BTreeMap<String, String>,
    /// Shortfalls that the vendor documents.
    #[serde(default)]
    pub(super) gaps: Vec<GapFile>,
    /// Files to write before it starts; path and text are templates.
    #[serde(default)]
    pub(super) files: Vec<FileFile>,
    /// Variables of its environment; the values are templates.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Template of the command line: every non-empty line is one argument.
    #[schemars(required)]
    pub(super) argv: Option<String>,
    /// Templates of glob patterns: what it is known to leave behind.
    #[serde(default)]
    pub(super) cleanup: Vec<String>,
}

/// How a product is driven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Drive {
    /// It runs a command.
    #[default]
    Wrap,
    /// A coding agent whose shell tool runs the command.
    Agent,
}

/// How presence and version are found.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Detect {
    /// Prints the version; its first word is the product's program.
    #[schemars(length(min = 1))]
    pub(super) command: Vec<String>,
    /// Regular expression whose first group is the version.
    pub(super) version: String,
}

/// How to install it: exactly one of these.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Install {
    /// Package of the distribution.
    Apt(String),
    /// Package of the npm registry, with `@version` if one is meant.
    Npm(String),
    /// Crate.
    Cargo(String),
    /// Anything else, in words.
    Text(String),
}

impl Install {
    /// The command, or the words.
    pub(super) fn mend(&self) -> String {
        match self {
            Install::Apt(package) => format!("apt-get install {package}"),
            Install::Npm(package) => format!("npm install -g {package}"),
            Install::Cargo(package) => format!("cargo install {package}"),
            Install::Text(text) => text.clone(),
        }
    }
}

/// One entry of `gaps`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct GapFile {
    /// Scenario id, or id/route.
    pub(super) id: String,
    /// Where it applies; absent: everywhere.
    pub(super) platforms: Option<Vec<Platform>>,
    /// The vendor's document, an address.
    #[schemars(regex(pattern = "^https://"))]
    pub(super) link: String,
    /// The vendor's words, paraphrased.
    pub(super) says: String,
}

/// One entry of `files`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct FileFile {
    /// Template of an absolute path.
    pub(super) path: String,
    /// Template of the content.
    pub(super) text: String,
}

/// One entry of `can`: a capability of backends, not of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "String")]
pub(super) struct Can(pub(super) Capability);

/// The words that `can` knows.
pub(super) const CAN: [&str; 16] = [
    "write-scope",
    "read-scope",
    "deny-list",
    "deny-glob",
    "protect",
    "grok-home",
    "network-block",
    "env-policy",
    "fd-scope",
    "process-scope",
    "syscall-filter",
    "kills-tree",
    "metadata",
    "grok-config",
    "sessions",
    "agent-tools",
];

/// The capability of a backend with this name.
pub(super) fn capability(word: &str) -> Option<Capability> {
    word.parse().ok().filter(|capability: &Capability| !capability.of_host())
}

impl From<Can> for String {
    fn from(can: Can) -> Self {
        can.0.to_string()
    }
}

impl<'de> Deserialize<'de> for Can {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        capability(&word).map(Can).ok_or_else(|| D::Error::unknown_variant(&word, &CAN))
    }
}

impl JsonSchema for Can {
    fn schema_name() -> Cow<'static, str> {
        "Can".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": CAN })
    }
}

/// The JSON Schema of manifests.
pub(super) fn schema() -> serde_json::Value {
    schemars::schema_for!(ManifestFile).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_backend_capability_is_known() {
        let words: Vec<&str> =
            Capability::ALL.into_iter().filter(|c| !c.of_host()).map(Capability::word).collect();
        assert_eq!(words, CAN);
        assert_eq!(capability("landlock"), None);
    }
}
