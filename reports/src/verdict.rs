//! [`Verdict`]: what the evidence says about a promise, and which verdicts are red.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the evidence says about the promise of one cell.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It held, and the control arm shows that the attack works.
    Pass,
    /// It broke; the [`Detail`] says how.
    Fail,
    /// The attack got through where promise or gap says so.
    BestEffort,
    /// Cannot be expressed or run here.
    Skip,
    /// It ran and proves nothing.
    Inconclusive,
    /// A failure with a waiver.
    KnownFail,
    /// A waiver that is no longer true.
    StaleWaiver,
    /// Planned, no record.
    Missing,
}

/// How a promise broke.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// An enforced promise broke.
    Escape,
    /// Something that must work was denied.
    Overblock,
    /// Start had to be refused and was not.
    Started,
    /// The host was left changed.
    Residue,
}

impl Verdict {
    /// All verdicts, in the order reports count them.
    pub const ALL: [Verdict; 8] = [
        Verdict::Pass,
        Verdict::Fail,
        Verdict::BestEffort,
        Verdict::Skip,
        Verdict::Inconclusive,
        Verdict::KnownFail,
        Verdict::StaleWaiver,
        Verdict::Missing,
    ];

    /// True when a gating cell with this verdict makes the run red. A skip is red only when what
    /// it lacks was required, which the run decides.
    #[must_use]
    pub fn red(self) -> bool {
        match self {
            Verdict::Fail | Verdict::Inconclusive | Verdict::StaleWaiver | Verdict::Missing => true,
            Verdict::Pass | Verdict::BestEffort | Verdict::Skip | Verdict::KnownFail => false,
        }
    }

    /// True when the cell ran and says something about the promise.
    #[must_use]
    pub fn judged(self) -> bool {
        match self {
            Verdict::Pass
            | Verdict::Fail
            | Verdict::BestEffort
            | Verdict::KnownFail
            | Verdict::StaleWaiver => true,
            Verdict::Skip | Verdict::Inconclusive | Verdict::Missing => false,
        }
    }

    /// True when a [`Detail`] says how it failed.
    #[must_use]
    pub fn has_detail(self) -> bool {
        match self {
            Verdict::Fail | Verdict::KnownFail => true,
            Verdict::Pass
            | Verdict::BestEffort
            | Verdict::Skip
            | Verdict::Inconclusive
            | Verdict::StaleWaiver
            | Verdict::Missing => false,
        }
    }

    /// Its word in journals and reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::BestEffort => "best-effort",
            Verdict::Skip => "skip",
            Verdict::Inconclusive => "inconclusive",
            Verdict::KnownFail => "known-fail",
            Verdict::StaleWaiver => "stale-waiver",
            Verdict::Missing => "missing",
        }
    }
}

impl Detail {
    /// Its word in journals and reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Detail::Escape => "escape",
            Detail::Overblock => "overblock",
            Detail::Started => "started",
            Detail::Residue => "residue",
        }
    }
}
