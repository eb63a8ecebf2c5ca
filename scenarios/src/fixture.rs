//! [`Fixture`]: what the arena holds before the start, one verb each.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RoomPath, step::Mode};
use sandproof_probes::SocketType;

/// One entry of `given`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Fixture {
    /// A file; missing parents are made.
    File(FileFixture),
    /// A folder.
    Dir(RoomPath),
    /// A symlink at `path` to the room path `to` (absolute target).
    Symlink(LinkFixture),
    /// A second name `path` for the file `to`.
    Hardlink(LinkFixture),
    /// A named pipe.
    Fifo(RoomPath),
    /// Mode bits of something made before.
    Mode(ModeFixture),
    /// Variables of the environment the subject is started in.
    Env(BTreeMap<String, EnvValue>),
    /// A listener of the harness that remembers who called.
    Listener(ListenerFixture),
    /// A process outside, same uid.
    Victim(VictimFixture),
    /// The subject gets a controlling terminal.
    Terminal(bool),
    /// A descriptor that the subject's launcher inherits.
    OpenFile(OpenFileFixture),
    /// One line in GROK_HOME/hooks-paths.
    HooksPath(RoomPath),
    /// A git repository made by hand (no git needed), with one commit's worth of files.
    GitRepo(RoomPath),
    /// Many files.
    Tree(TreeFixture),
}

/// See [`Fixture::File`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FileFixture {
    /// Where.
    pub path: RoomPath,
    /// What it holds.
    pub holds: Holds,
    /// Mode bits, 0644 when absent.
    #[serde(default)]
    pub mode: Option<Mode>,
}

/// Content of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// The arm's marker.
    Secret,
    /// A harmless line.
    Text,
    /// Zero bytes.
    Nothing,
    /// This text.
    Literal(String),
}

/// See [`Fixture::Symlink`] and [`Fixture::Hardlink`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LinkFixture {
    /// The new name.
    pub path: RoomPath,
    /// What it leads to.
    pub to: RoomPath,
}

/// See [`Fixture::Mode`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ModeFixture {
    /// Where.
    pub path: RoomPath,
    /// Octal text such as "0600".
    pub mode: Mode,
}

/// Value of an environment variable: text, `secret`, or `{ path: ROOM/rel }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnvValue {
    /// This text.
    Text(String),
    /// The arm's marker.
    Secret,
    /// The absolute path of this room path.
    Path(RoomPath),
}

impl<'de> Deserialize<'de> for EnvValue {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::shorthand::env_value(deserializer)
    }
}

impl JsonSchema for EnvValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EnvValue".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "oneOf": [
            { "type": "string" },
            { "type": "object", "additionalProperties": false, "required": ["path"],
              "properties": { "path": { "type": "string" } } }
        ]})
    }
}

/// See [`Fixture::Listener`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ListenerFixture {
    /// Name for steps; the default listener has none.
    #[serde(default)]
    pub name: Option<String>,
    /// Which protocol.
    pub kind: ListenerKind,
    /// For unix and abstract.
    #[serde(default, rename = "type")]
    #[schemars(schema_with = "crate::schema::socket_type")]
    pub kind_of_socket: SocketType,
    /// For tcp and udp.
    #[serde(default)]
    pub family: Family,
    /// For unix; `outside/listener.sock` when absent.
    #[serde(default)]
    pub path: Option<RoomPath>,
    /// For unix streams: whoever connects is given a fresh socket of this kind, made outside.
    /// Asking for it is no call.
    #[serde(default)]
    pub hands: Option<Handed>,
}

/// A socket that a listener gives away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Handed {
    /// TCP, not connected.
    Tcp,
    /// UDP.
    Udp,
}

/// Protocol of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ListenerKind {
    /// TCP on loopback.
    Tcp,
    /// UDP on loopback.
    Udp,
    /// A unix socket with a path.
    Unix,
    /// A unix socket in the abstract name space.
    Abstract,
}

/// IP version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// 127.0.0.1.
    #[default]
    V4,
    /// ::1.
    V6,
}

/// See [`Fixture::Victim`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct VictimFixture {
    /// Name for steps; `victim` when absent.
    #[serde(default)]
    pub name: Option<String>,
    /// `secret`: the marker is in its environment and memory.
    #[serde(default)]
    pub holds: Option<VictimHolds>,
}

/// What a victim knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VictimHolds {
    /// The arm's marker.
    Secret,
}

/// See [`Fixture::OpenFile`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OpenFileFixture {
    /// What is open.
    pub path: RoomPath,
    /// Descriptor number, 3 to 1023.
    #[schemars(range(min = 3, max = 1023))]
    pub fd: i32,
    /// How it is open.
    pub flags: InheritedFlags,
}

/// How an inherited descriptor is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InheritedFlags {
    /// Read.
    R,
    /// Write.
    W,
    /// Read and write.
    Rw,
    /// `O_PATH`.
    Path,
    /// A directory.
    Dir,
}

/// See [`Fixture::Tree`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TreeFixture {
    /// Its root.
    pub path: RoomPath,
    /// How many files.
    pub files: u32,
    /// How deep, 1 or more.
    pub depth: u32,
    /// Same seed, same tree.
    pub seed: u64,
}

impl Fixture {
    /// What this entry decides, as kind and name: two entries that share one contradict each
    /// other, and an entry of a twin replaces those of `given` that share one with it.
    #[must_use]
    pub fn keys(&self) -> Vec<(&'static str, String)> {
        match self {
            Fixture::File(file) => vec![("path", file.path.to_string())],
            Fixture::Dir(path) | Fixture::Fifo(path) | Fixture::GitRepo(path) => {
                vec![("path", path.to_string())]
            }
            Fixture::Symlink(link) | Fixture::Hardlink(link) => {
                vec![("path", link.path.to_string())]
            }
            Fixture::Tree(tree) => vec![("path", tree.path.to_string())],
            Fixture::Mode(mode) => vec![("mode of", mode.path.to_string())],
            Fixture::Env(env) => env.keys().map(|name| ("variable", name.clone())).collect(),
            Fixture::Listener(listener) => {
                let mut keys = vec![("listener", listener.name().to_owned())];
                keys.extend(listener.socket().map(|path| ("path", path)));
                keys
            }
            Fixture::Victim(victim) => vec![("victim", victim.name().to_owned())],
            Fixture::Terminal(_) => vec![("fixture", "terminal".to_owned())],
            Fixture::OpenFile(open) => vec![("descriptor", open.fd.to_string())],
            Fixture::HooksPath(path) => vec![("hooks-path", path.to_string())],
        }
    }

    /// All of [`Fixture::keys`] as one text.
    #[must_use]
    pub fn key(&self) -> String {
        let keys: Vec<String> =
            self.keys().iter().map(|(kind, name)| format!("{kind} {name}")).collect();
        keys.join(", ")
    }

    /// The path this entry makes, if it makes one.
    #[must_use]
    pub fn makes(&self) -> Option<&RoomPath> {
        match self {
            Fixture::File(file) => Some(&file.path),
            Fixture::Dir(path) | Fixture::Fifo(path) | Fixture::GitRepo(path) => Some(path),
            Fixture::Symlink(link) | Fixture::Hardlink(link) => Some(&link.path),
            Fixture::Tree(tree) => Some(&tree.path),
            Fixture::Mode(_)
            | Fixture::Env(_)
            | Fixture::Listener(_)
            | Fixture::Victim(_)
            | Fixture::Terminal(_)
            | Fixture::OpenFile(_)
            | Fixture::HooksPath(_) => None,
        }
    }

    /// This entry without the variables that `twin` decides; nothing when nothing is left of it.
    fn without(&self, twin: &[(&'static str, String)]) -> Option<Fixture> {
        match self {
            Fixture::Env(env) => {
                let mut left = env.clone();
                left.retain(|name, _| !twin.contains(&("variable", name.clone())));
                (!left.is_empty()).then_some(Fixture::Env(left))
            }
            Fixture::File(_)
            | Fixture::Dir(_)
            | Fixture::Symlink(_)
            | Fixture::Hardlink(_)
            | Fixture::Fifo(_)
            | Fixture::Mode(_)
            | Fixture::Listener(_)
            | Fixture::Victim(_)
            | Fixture::Terminal(_)
            | Fixture::OpenFile(_)
            | Fixture::HooksPath(_)
            | Fixture::GitRepo(_)
            | Fixture::Tree(_) => {
                let replaced = self.keys().iter().any(|key| twin.contains(key));
                (!replaced).then(|| self.clone())
            }
        }
    }
}

/// The world of a twin: `given` in its order, every replaced entry where it stood, the rest of
/// `twin` behind. Making things in this order works because `given` worked in it.
#[must_use]
pub fn replaced(given: &[Fixture], twin: &[Fixture]) -> Vec<Fixture> {
    let decided: Vec<_> = twin.iter().flat_map(Fixture::keys).collect();
    let mut rest: Vec<&Fixture> = twin.iter().collect();
    let mut world = Vec::new();
    for entry in given {
        let keys = entry.keys();
        let (here, later): (Vec<&Fixture>, Vec<&Fixture>) =
            rest.into_iter().partition(|new| new.keys().iter().any(|key| keys.contains(key)));
        rest = later;
        world.extend(entry.without(&decided));
        world.extend(here.into_iter().cloned());
    }
    world.extend(rest.into_iter().cloned());
    world
}

impl ListenerFixture {
    /// Where the socket of a unix listener lies.
    #[must_use]
    pub fn socket(&self) -> Option<String> {
        let default = || "outside/listener.sock".to_owned();
        let path = self.path.as_ref().map_or_else(default, ToString::to_string);
        (self.kind == ListenerKind::Unix).then_some(path)
    }

    /// Its name in steps.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("default")
    }
}

impl VictimFixture {
    /// Its name in steps.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("victim")
    }
}

#[cfg(test)]
mod tests;
