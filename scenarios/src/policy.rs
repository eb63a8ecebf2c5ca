//! What is to be confined, in words no product owns: [`PolicySpec`] as written, [`Policy`] resolved.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Room, RoomPath};

/// The `policy` key of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PolicySpec {
    /// One cell each; at least one.
    #[schemars(length(min = 1))]
    pub profiles: Vec<Profile>,
    /// Paths, or globs when they hold `*`, `?` or `[`.
    #[serde(default)]
    pub deny: Vec<String>,
    /// Readable, never written, parents pinned.
    #[serde(default)]
    pub protect: Vec<RoomPath>,
    /// More read roots.
    #[serde(default)]
    pub read_only: Vec<RoomPath>,
    /// More write roots.
    #[serde(default)]
    pub read_write: Vec<RoomPath>,
    /// For child processes; absent: the profile's.
    #[serde(default)]
    pub network: Option<Network>,
    /// Which variables reach the command.
    #[serde(default)]
    pub env: Option<EnvPolicy>,
    /// The command line of the subject names the profile. False: its files or its environment do,
    /// as `given` says.
    #[serde(default = "yes")]
    pub named: bool,
    /// A session that is gone on with.
    #[serde(default)]
    pub session: Option<SessionSpec>,
}

/// A named profile.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Reads everything, writes the workspace, GROK_HOME and temp.
    Workspace,
    /// Reads everything, writes GROK_HOME and temp; network blocked.
    ReadOnly,
    /// Reads system folders, workspace and GROK_HOME; network blocked.
    Strict,
    /// Reads everything, writes nearly everything.
    Devbox,
    /// The codex mode: workspace writable but for its metadata; network blocked.
    WorkspaceWrite,
    /// No profile; only what the policy itself names.
    Off,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Profile; 6] = [
        Profile::Workspace,
        Profile::ReadOnly,
        Profile::Strict,
        Profile::Devbox,
        Profile::WorkspaceWrite,
        Profile::Off,
    ];

    /// Its name in scenarios and on command lines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Profile::Workspace => "workspace",
            Profile::ReadOnly => "read-only",
            Profile::Strict => "strict",
            Profile::Devbox => "devbox",
            Profile::WorkspaceWrite => "workspace-write",
            Profile::Off => "off",
        }
    }

    /// The network of child processes, unless the policy says otherwise.
    #[must_use]
    pub fn network(self) -> Network {
        match self {
            Profile::Workspace | Profile::Devbox | Profile::Off => Network::Open,
            Profile::ReadOnly | Profile::Strict | Profile::WorkspaceWrite => Network::Blocked,
        }
    }
}

/// Network of child processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// As on the host.
    Open,
    /// Nothing but unix sockets and route netlink.
    Blocked,
}

/// Which environment variables reach the command (grok `shell_environment_policy`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EnvPolicy {
    /// Start from everything, from the core names, or from nothing.
    #[serde(default)]
    pub inherit: Inherit,
    /// False: names with KEY, SECRET or TOKEN in them are dropped as well.
    #[serde(default = "yes")]
    pub ignore_default_excludes: bool,
    /// Name patterns (`*`, `?`, case-insensitive) dropped.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// When not empty, only names that match stay.
    #[serde(default)]
    pub include_only: Vec<String>,
    /// Values set after `exclude`.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
}

impl Default for EnvPolicy {
    fn default() -> Self {
        Self {
            inherit: Inherit::All,
            ignore_default_excludes: true,
            exclude: Vec::new(),
            include_only: Vec::new(),
            set: BTreeMap::new(),
        }
    }
}

const fn yes() -> bool {
    true
}

/// How the subject is told which session it is to go on with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SessionSpec {
    /// A name or a title.
    pub resume: String,
}

/// Base of an [`EnvPolicy`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inherit {
    /// Everything.
    #[default]
    All,
    /// PATH SHELL TMPDIR TEMP TMP HOME LANG LC_ALL LC_CTYPE LOGNAME USER.
    Core,
    /// Nothing.
    None,
}

/// Absolute paths of the rooms of one arena, all canonical.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rooms {
    /// Holds the four rooms.
    pub arena: PathBuf,
    /// The workspace.
    pub work: PathBuf,
    /// HOME.
    pub home: PathBuf,
    /// Granted by nobody.
    pub outside: PathBuf,
    /// `$TMPDIR`.
    pub temp: PathBuf,
    /// A private empty folder for the backend's own configuration.
    pub config: PathBuf,
}

impl Rooms {
    /// The rooms below this arena folder.
    #[must_use]
    pub fn below(arena: &Path) -> Self {
        Self {
            arena: arena.to_path_buf(),
            work: arena.join("work"),
            home: arena.join("home"),
            outside: arena.join("outside"),
            temp: arena.join("temp"),
            config: arena.join("config"),
        }
    }

    /// The folder of one room.
    #[must_use]
    pub fn path(&self, room: Room) -> &Path {
        match room {
            Room::Work => &self.work,
            Room::Home => &self.home,
            Room::Outside => &self.outside,
            Room::Temp => &self.temp,
        }
    }
}

/// A policy resolved for one arena and one profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The profile.
    pub profile: Profile,
    /// Everything may be read (profile grants `/`).
    pub read_all: bool,
    /// Read roots beyond what the profile's system folders give: rooms it reads, the spec's
    /// `read-only`, and the folder of the probe.
    pub read: Vec<PathBuf>,
    /// Write roots: rooms the profile writes and the spec's `read-write`.
    pub write: Vec<PathBuf>,
    /// The spec's own `read-only` (with the probe's folder) and `read-write`, for backends that
    /// know the profile by name.
    pub extra_read: Vec<PathBuf>,
    /// See `extra_read`.
    pub extra_write: Vec<PathBuf>,
    /// Exact paths neither read nor written.
    pub deny: Vec<PathBuf>,
    /// Absolute globs neither read nor written.
    pub deny_globs: Vec<String>,
    /// Readable, never written, parents pinned.
    pub protect: Vec<PathBuf>,
    /// Network of child processes.
    pub network: Network,
    /// Environment of the command.
    pub env: EnvPolicy,
    /// The scenario asked for an environment policy.
    pub env_asked: bool,
    /// The command line names the profile.
    pub named: bool,
    /// A session that is gone on with.
    pub session: Option<SessionSpec>,
    /// GROK_HOME of this arena.
    pub grok_home: PathBuf,
}

/// True when a deny entry is a glob: it holds `*`, `?` or `[`.
#[must_use]
pub fn is_glob(entry: &str) -> bool {
    entry.contains(['*', '?', '['])
}

impl PolicySpec {
    /// This policy under `profile`, in these rooms; `probe` is the folder that holds the probe.
    #[must_use]
    pub fn resolve(&self, profile: Profile, rooms: &Rooms, probe: &Path) -> Policy {
        let absolute = |list: &[RoomPath]| -> Vec<PathBuf> {
            list.iter().map(|path| path.resolve(rooms)).collect()
        };
        let grok_home = rooms.home.join(".grok");
        let mut extra_read = absolute(&self.read_only);
        extra_read.push(probe.to_path_buf());
        let extra_write = absolute(&self.read_write);
        let (read_all, mut read, mut write) = granted(profile, rooms, &grok_home);
        read.extend(extra_read.iter().cloned());
        write.extend(extra_write.iter().cloned());
        let (globs, exact): (Vec<&String>, Vec<&String>) =
            self.deny.iter().partition(|entry| is_glob(entry));
        Policy {
            profile,
            read_all,
            read,
            write,
            extra_read,
            extra_write,
            deny: exact.into_iter().map(|entry| rooms.arena.join(entry)).collect(),
            deny_globs: globs
                .into_iter()
                .map(|entry| format!("{}/{entry}", rooms.arena.display()))
                .collect(),
            protect: absolute(&self.protect),
            network: self.network.unwrap_or(profile.network()),
            env: self.env.clone().unwrap_or_default(),
            env_asked: self.env.is_some(),
            named: self.named,
            session: self.session.clone(),
            grok_home,
        }
    }
}

/// Whether the profile reads everything, and its read and write roots among the rooms.
fn granted(profile: Profile, rooms: &Rooms, grok: &Path) -> (bool, Vec<PathBuf>, Vec<PathBuf>) {
    let (work, temp, grok) = (rooms.work.clone(), rooms.temp.clone(), grok.to_path_buf());
    match profile {
        Profile::Workspace => (true, vec![], vec![work, grok, temp]),
        Profile::ReadOnly => (true, vec![], vec![grok, temp]),
        Profile::Strict => {
            (false, vec![work.clone(), grok.clone(), temp.clone()], vec![work, grok, temp])
        }
        Profile::Devbox => (true, vec![], vec![rooms.arena.clone()]),
        Profile::WorkspaceWrite => (true, vec![], vec![work, temp]),
        Profile::Off => (true, vec![], vec![PathBuf::from("/")]),
    }
}
