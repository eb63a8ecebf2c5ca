//! [`HostAct`]: what the host does outside while the subject runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RoomPath;

/// An act of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum HostAct {
    /// Writes a file, parents made: `{path, holds}`.
    Write(HostWrite),
    /// Renames.
    Rename(HostPair),
    /// Removes.
    Unlink(RoomPath),
    /// Makes a folder with parents.
    Mkdir(RoomPath),
    /// Makes a symlink: `{path, to}`.
    Symlink(crate::fixture::LinkFixture),
}

/// See [`HostAct::Write`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostWrite {
    /// Where.
    pub path: RoomPath,
    /// What.
    pub holds: crate::fixture::Holds,
}

/// See [`HostAct::Rename`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostPair {
    /// Old name.
    pub from: RoomPath,
    /// New name.
    pub to: RoomPath,
}
