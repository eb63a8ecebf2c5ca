//! The three kinds of journal line: [`Header`], [`Record`], [`Footer`]. Their fields are a contract.

use std::collections::BTreeMap;

use sandproof_scenarios::{Platform, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Detail, Verdict};

/// Version of the journal format; another one is refused.
pub const SCHEMA: u32 = 1;

/// First line: what was run, on what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Always `header`.
    #[schemars(extend("const" = "header"))]
    pub kind: String,
    /// Version of the format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// Facts of the run: the host as measured, `user`, `uid`, `seed`, `date`, `sandproof` (version),
    /// `without`, and `subjects` (by backend: `version`, `sha256`, `helpers`).
    pub provenance: BTreeMap<String, serde_json::Value>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Always `record`.
    #[schemars(extend("const" = "record"))]
    pub kind: String,
    /// Scenario id.
    pub id: String,
    /// Route.
    pub route: String,
    /// Profile.
    pub profile: String,
    /// Backend.
    pub backend: String,
    /// Platform.
    pub platform: Platform,
    /// Decides the exit code.
    pub gating: bool,
    /// What the evidence says.
    pub verdict: Verdict,
    /// How it failed.
    pub detail: Option<Detail>,
    /// Why, for every verdict but a plain pass.
    pub reason: Option<Reason>,
    /// A best-effort promise held.
    pub exceeds: bool,
    /// What denied, where it can be shown: file-permissions mount landlock seccomp seatbelt proxy.
    pub layer: Option<String>,
    /// Title of the scenario.
    pub title: String,
    /// Severity of the scenario.
    pub severity: Severity,
    /// Claim of the scenario.
    pub claim: String,
    /// `enforced` or `best-effort`.
    pub promise: String,
    /// What was started; null for a skip without one.
    pub subject: Option<SubjectId>,
    /// User the arms ran as.
    pub user: String,
    /// `item: expressed` or `item: approximated (how)`, in policy order.
    pub receipt: Vec<String>,
    /// Waiver that matched.
    pub waiver: Option<String>,
    /// The host was changed by boot parameters or `--without` to resemble another one.
    pub simulated: Option<String>,
    /// What each arm did, in one word each.
    pub arms: Arms,
    /// What was seen, at most 4 KiB, control characters but line feeds escaped
    /// (see [`crate::escape::evidence`]).
    pub evidence: String,
    /// All that varies from run to run: milliseconds by arm, pids, ports.
    pub timing: BTreeMap<String, serde_json::Value>,
}

/// Identity of a subject in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubjectId {
    /// Product.
    pub name: String,
    /// Version.
    pub version: String,
    /// SHA-256 of its executable.
    pub sha256: String,
}

/// Why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// Stable word in kebab case (`dud-control`, `host-cannot` ...).
    pub code: String,
    /// One sentence.
    pub text: String,
    /// The command or act that mends it, when there is one.
    pub mend: Option<String>,
    /// For a skip: the capability, backend or tool that is lacking, as `--require` spells it.
    pub lacks: Option<String>,
}

/// One word per arm: `worked`, `held`, `broke`, `refused`, `started`, `not-run` ...
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arms {
    /// No sandbox.
    pub control: String,
    /// The sandbox.
    pub subject: String,
    /// The sandbox, one harmless difference.
    pub twin: Option<String>,
}

/// Last line; a journal without one was cut short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Footer {
    /// Always `footer`.
    #[schemars(extend("const" = "footer"))]
    pub kind: String,
    /// Cells planned.
    pub planned: u64,
    /// Records by verdict word.
    pub totals: Totals,
}

/// Records by verdict word, every word present.
pub type Totals = BTreeMap<String, u64>;

/// Most bytes of evidence in a record.
pub const EVIDENCE_LIMIT: usize = 4096;

impl Header {
    /// The header of a run with these facts.
    #[must_use]
    pub fn new(provenance: BTreeMap<String, serde_json::Value>) -> Header {
        Header { kind: "header".into(), schema: SCHEMA, provenance }
    }
}

impl Reason {
    /// A reason that nothing mends and that lacks nothing.
    pub fn new(code: impl Into<String>, text: impl Into<String>) -> Reason {
        Reason { code: code.into(), text: text.into(), mend: None, lacks: None }
    }

    /// The same, with what mends it.
    #[must_use]
    pub fn mended_by(self, mend: impl Into<String>) -> Reason {
        Reason { mend: Some(mend.into()), ..self }
    }

    /// The same, with what is lacking.
    #[must_use]
    pub fn lacking(self, lacks: impl Into<String>) -> Reason {
        Reason { lacks: Some(lacks.into()), ..self }
    }
}

impl Record {
    /// Name of its cell, as `--exact` takes it: `[backend/profile] id/route`.
    #[must_use]
    pub fn cell(&self) -> String {
        let Record { backend, profile, id, route, .. } = self;
        format!("[{backend}/{profile}] {id}/{route}")
    }

    /// Its verdict as reports print it: `pass`, `fail(escape)` ...
    #[must_use]
    pub fn label(&self) -> String {
        label(self.verdict, self.detail)
    }

    /// Word of its severity.
    #[must_use]
    pub fn severity_word(&self) -> &'static str {
        match self.severity {
            Severity::Critical => "critical",
            Severity::High => "high",
            Severity::Medium => "medium",
            Severity::Low => "low",
        }
    }

    /// What in it contradicts the format, if anything.
    ///
    /// # Errors
    /// A lower-case sentence about the first contradiction found.
    pub fn check(&self) -> Result<(), String> {
        let word = self.verdict.word();
        if self.kind != "record" {
            return Err(format!("kind is `{}`, not `record`", self.kind));
        }
        if self.detail.is_some() != self.verdict.has_detail() {
            return Err(match self.detail {
                None => format!("a {word} needs a detail"),
                Some(detail) => {
                    format!("a {word} has no detail, and `{}` stands there", detail.word())
                }
            });
        }
        if self.reason.is_none() && self.verdict != Verdict::Pass {
            return Err(format!("a {word} needs a reason"));
        }
        if self.exceeds && self.verdict != Verdict::Pass {
            return Err(format!("a {word} cannot exceed its promise"));
        }
        if !matches!(self.promise.as_str(), "enforced" | "best-effort") {
            return Err(format!("promise is `{}`, not enforced or best-effort", self.promise));
        }
        if self.evidence.len() > EVIDENCE_LIMIT {
            let bytes = self.evidence.len();
            return Err(format!("evidence has {bytes} bytes, more than {EVIDENCE_LIMIT}"));
        }
        if self.evidence.lines().any(|line| crate::escape::inline(line) != line) {
            return Err("evidence holds a control character that is not escaped".to_string());
        }
        Ok(())
    }
}

/// A verdict and its detail as reports print them: `pass`, `fail(escape)` ...
#[must_use]
pub fn label(verdict: Verdict, detail: Option<Detail>) -> String {
    match detail {
        Some(detail) => format!("{}({})", verdict.word(), detail.word()),
        None => verdict.word().to_string(),
    }
}
