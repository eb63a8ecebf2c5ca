//! [`Effects`]: the closed list of what may be asserted, all judged from outside but `attempts`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RoomPath;

/// The `then` key. At least one clause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Effects {
    /// `refused`: the command must never run.
    #[serde(default)]
    pub start: Option<StartEffect>,
    /// `kept`: no marker was seen anywhere.
    #[serde(default)]
    pub secrets: Option<SecretsEffect>,
    /// What must be true of paths.
    #[serde(default)]
    pub paths: BTreeMap<RoomPath, PathEffect>,
    /// `silent`: no listener was called.
    #[serde(default)]
    pub network: Option<NetworkEffect>,
    /// `untouched`: no victim was signalled, stopped, traced or ended.
    #[serde(default)]
    pub victim: Option<VictimEffect>,
    /// Variables the command must not see.
    #[serde(default)]
    pub env: BTreeMap<String, EnvEffect>,
    /// `denied`: the last attempt of the route was answered with a denial. For calls that leave
    /// nothing to see from outside; the control arm must show that they are not denied there.
    #[serde(default)]
    pub attempts: Option<AttemptsEffect>,
}

/// See [`Effects::start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StartEffect {
    /// The subject refuses.
    Refused,
}

/// See [`Effects::secrets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SecretsEffect {
    /// Nobody saw a marker.
    Kept,
}

/// See [`Effects::paths`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathEffect {
    /// Inode, type, content, mode, owner, mtime and xattrs are as before.
    Unchanged,
    /// Nothing is there.
    Absent,
    /// Something is there.
    Present,
    /// A file with exactly this text.
    Holds(String),
}

/// See [`Effects::network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkEffect {
    /// No call at any listener.
    Silent,
}

/// See [`Effects::victim`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VictimEffect {
    /// Alive, not signalled, not traced.
    Untouched,
}

/// See [`Effects::env`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EnvEffect {
    /// Not in the command's environment.
    Hidden,
}

/// See [`Effects::attempts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AttemptsEffect {
    /// A denial by errno or signal.
    Denied,
}

impl Effects {
    /// True when there is no clause at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Effects::default()
    }
}
