//! How strongly a promise is made, per platform.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// OS family.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Platform {
    /// Linux.
    Linux,
    /// macOS.
    Macos,
}

impl Platform {
    /// Its name in scenarios and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Platform::Linux => "linux",
            Platform::Macos => "macos",
        }
    }
}

/// `enforced`, or `{ best-effort: reason }`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Strength {
    /// A broken promise is a failure.
    #[default]
    Enforced,
    /// The document that makes the promise says it may not hold, for this reason.
    BestEffort(String),
}

/// The `promise` key; absent platforms are enforced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Promise {
    /// On Linux.
    #[serde(default)]
    pub linux: Strength,
    /// On macOS.
    #[serde(default)]
    pub macos: Strength,
}

impl Promise {
    /// How strongly it is made on this platform.
    #[must_use]
    pub fn on(&self, platform: Platform) -> &Strength {
        match platform {
            Platform::Linux => &self.linux,
            Platform::Macos => &self.macos,
        }
    }
}
