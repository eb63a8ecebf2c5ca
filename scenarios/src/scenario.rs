//! [`Scenario`]: one promise and the routes to break it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Effects, Fixture, PolicySpec, Promise, Step};

/// One promise and the routes to break it: one YAML file, finished when loaded and linted.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Path without `.yaml`, relative to the scenario folder.
    pub id: String,
    /// One line, what is true when it passes.
    pub title: String,
    /// Why it matters to a user.
    pub why: String,
    /// The vendor or kernel document that promises it, or `ours`.
    pub claim: String,
    /// How much a broken promise hurts.
    pub severity: Severity,
    /// Free words for `--tag`; `slow` is known to the harness.
    pub tags: Vec<String>,
    /// What backend or host must be able to do, beyond what the policy already implies.
    pub needs: Vec<String>,
    /// What is confined.
    pub policy: PolicySpec,
    /// How strongly it is promised, per platform.
    pub promise: Promise,
    /// The world before the start.
    pub given: Vec<Fixture>,
    /// Ways to the prize, in file order; each runs alone.
    pub routes: Vec<(String, Route)>,
    /// What must hold afterwards.
    pub expect: Expectation,
    /// Attempts that must succeed inside.
    pub still_works: Vec<Step>,
    /// Replacements for `given` with which a refused start must succeed.
    pub twin: Option<Vec<Fixture>>,
}

/// One way to the prize.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Programs that must exist on the host (looked up on PATH).
    pub tools: Vec<String>,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// Effects of this route alone, already merged with the common ones.
    pub effects: Effects,
}

/// `then` or `works`.
#[derive(Clone, Debug, PartialEq)]
pub enum Expectation {
    /// Something must not happen; the effects are in each [`Route`].
    Then,
    /// Everything must go on working, with the same visible result.
    Works,
}

/// How much a broken promise hurts.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Secrets or the host are lost in an ordinary set-up.
    Critical,
    /// Lost with one more condition.
    High,
    /// Weakens another layer, or breaks daily work.
    Medium,
    /// Hardening.
    Low,
}

/// Order-preserving view of effects by path, used by reports.
pub type ByPath<T> = BTreeMap<String, T>;
