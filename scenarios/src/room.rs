//! [`RoomPath`]: a path that begins with the name of a room and never leaves it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Rooms;

/// One of the four places every scenario path begins with.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Room {
    /// The workspace.
    Work,
    /// HOME of the run.
    Home,
    /// Granted by nobody.
    Outside,
    /// `$TMPDIR`.
    Temp,
}

impl Room {
    /// All rooms.
    pub const ALL: [Room; 4] = [Room::Work, Room::Home, Room::Outside, Room::Temp];

    /// Its name in scenarios.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Room::Work => "work",
            Room::Home => "home",
            Room::Outside => "outside",
            Room::Temp => "temp",
        }
    }
}

/// `ROOM` or `ROOM/rel`, without `..`, `.` or empty segments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(with = "String", extend("pattern" = "^(work|home|outside|temp)(/[^/]+)*$"))]
pub struct RoomPath {
    /// The room.
    pub room: Room,
    /// The rest, empty for the room itself.
    pub rel: String,
}

impl RoomPath {
    /// The absolute path in this arena.
    #[must_use]
    pub fn resolve(&self, rooms: &Rooms) -> PathBuf {
        let base = rooms.path(self.room);
        if self.rel.is_empty() { base.to_path_buf() } else { base.join(&self.rel) }
    }
}

impl fmt::Display for RoomPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rel.is_empty() {
            f.write_str(self.room.name())
        } else {
            write!(f, "{}/{}", self.room.name(), self.rel)
        }
    }
}

impl FromStr for RoomPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rel) = text.split_once('/').unwrap_or((text, ""));
        let room = Room::ALL.into_iter().find(|r| r.name() == name).ok_or_else(|| {
            format!("`{text}` does not begin with a room: work, home, outside or temp")
        })?;
        if text.contains('\0') {
            return Err(format!("`{}` holds a NUL character", text.escape_debug()));
        }
        if text.contains('/') && rel.split('/').any(|s| matches!(s, "" | "." | "..")) {
            return Err(format!(
                "`{text}` has an empty, `.` or `..` segment, it could leave its room"
            ));
        }
        Ok(Self { room, rel: rel.to_owned() })
    }
}

impl<'de> Deserialize<'de> for RoomPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for RoomPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A path in a step: in a room, or absolute under `/proc /dev /sys /etc /usr`.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(
    with = "String",
    extend("pattern" = "^((work|home|outside|temp)(/[^/]+)*|/(proc|dev|sys|etc|usr)(/.*)?)$")
)]
pub enum PathArg {
    /// In a room.
    Room(RoomPath),
    /// In the system.
    System(PathBuf),
}

impl PathArg {
    /// The path, if it lies in a room.
    #[must_use]
    pub fn in_room(&self) -> Option<&RoomPath> {
        match self {
            PathArg::Room(path) => Some(path),
            PathArg::System(_) => None,
        }
    }

    /// The absolute path in this arena.
    #[must_use]
    pub fn resolve(&self, rooms: &Rooms) -> PathBuf {
        match self {
            PathArg::Room(path) => path.resolve(rooms),
            PathArg::System(path) => path.clone(),
        }
    }
}

impl FromStr for PathArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.starts_with('/') {
            return text.parse().map(PathArg::Room);
        }
        let allowed = ["/proc", "/dev", "/sys", "/etc", "/usr"];
        let path = Path::new(text);
        if !allowed.iter().any(|root| path.starts_with(root)) || text.split('/').any(|s| s == "..")
        {
            return Err(format!(
                "`{text}` is absolute; only paths under {} are",
                allowed.join(" ")
            ));
        }
        Ok(PathArg::System(path.to_path_buf()))
    }
}

impl<'de> Deserialize<'de> for PathArg {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for PathArg {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            PathArg::Room(path) => path.serialize(serializer),
            PathArg::System(path) => path.serialize(serializer),
        }
    }
}
