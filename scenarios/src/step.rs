//! [`Step`]: one line of a route, an attempt of the probe inside or an act of the host outside.

use std::fmt;
use std::str::FromStr;

use sandproof_probes::{Abi, NodeKind, OpenFlag, SendCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{PathArg, RoomPath};

mod host;

pub use host::{HostAct, HostPair, HostWrite};

/// One line of a route: one verb with its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Step {
    /// Reads a whole file.
    Read(PathArg),
    /// Lists a folder.
    List(PathArg),
    /// Asks for metadata, links not followed.
    Stat(PathArg),
    /// Removes a file name.
    Unlink(PathArg),
    /// Removes an empty folder.
    Rmdir(PathArg),
    /// Makes a folder.
    Mkdir(PathArg),
    /// Makes an empty file that must not exist.
    Create(PathArg),
    /// Reads where a symlink leads.
    Readlink(PathArg),
    /// Creates or overwrites: `PATH` or `{path, text}`.
    Write(Written),
    /// Appends to an existing file: `PATH` or `{path, text}`.
    Append(Written),
    /// Cuts a file by path.
    Truncate(TruncateStep),
    /// Opens with flags.
    Open(OpenStep),
    /// Renames.
    Rename(RenameStep),
    /// Makes a hard link.
    Link(PairStep),
    /// Makes a symlink.
    Symlink(PairStep),
    /// Changes mode bits.
    Chmod(ChmodStep),
    /// Changes owner or group.
    Chown(ChownStep),
    /// Changes times.
    Utime(UtimeStep),
    /// Sets an extended attribute.
    Xattr(XattrStep),
    /// Makes a special file.
    Mknod(MknodStep),
    /// Runs a program without a shell.
    Exec(ExecStep),
    /// Runs a line of `/bin/sh` in `work`.
    Shell(String),
    /// Connects to a listener by name and sends the arm's token.
    Connect(String),
    /// Connects to a TCP listener by Multipath TCP and sends the arm's token.
    ConnectMptcp(String),
    /// Sends without connecting.
    Send(SendStep),
    /// Takes a socket that a listener with `hands` gives away, and sends the arm's token with it.
    Receive(ReceiveStep),
    /// Binds a socket.
    Bind(BindStep),
    /// Signals a victim.
    Signal(SignalStep),
    /// Attaches to a victim.
    Ptrace(String),
    /// Reads a victim's environment and memory.
    ProcessRead(String),
    /// Writes into the memory of a victim that holds a secret.
    ProcessWrite(String),
    /// Takes an open descriptor of a victim (pidfd_getfd) and writes to it.
    PidfdGetfd(String),
    /// Opens through an io_uring, then reads.
    RingRead(PathArg),
    /// Connects to a listener through an io_uring and sends the arm's token.
    RingConnect(String),
    /// Opens by file handle instead of by name, then reads.
    HandleRead(PathArg),
    /// Clones a mount without those on top of it (open_tree), and reads a file there.
    TreeRead(TreeReadStep),
    /// Reads an inherited descriptor, or a file below it.
    ReadAt(ReadAtStep),
    /// One raw system call.
    Syscall(SyscallStep),
    /// One ioctl on an open descriptor.
    Ioctl(IoctlStep),
    /// New namespaces: user mount pid network ipc uts cgroup time.
    Unshare(#[schemars(schema_with = "crate::schema::namespaces")] Vec<String>),
    /// A mount.
    Mount(MountStep),
    /// An unmount.
    Umount(UmountStep),
    /// Done outside, after the subject has started.
    Host(HostAct),
    /// A second start of the same subject on the same arena.
    Again(Vec<Step>),
    /// A tool of an agent (agents only).
    Tool(ToolStep),
}

impl Step {
    /// True when success shows from outside as a change of a path the step names.
    #[must_use]
    pub fn writes(&self) -> bool {
        match self {
            Step::Unlink(_)
            | Step::Rmdir(_)
            | Step::Mkdir(_)
            | Step::Create(_)
            | Step::Write(_)
            | Step::Append(_)
            | Step::Truncate(_)
            | Step::Rename(_)
            | Step::Link(_)
            | Step::Symlink(_)
            | Step::Chmod(_)
            | Step::Mknod(_) => true,
            Step::Read(_)
            | Step::List(_)
            | Step::Stat(_)
            | Step::Readlink(_)
            | Step::Open(_)
            | Step::Chown(_)
            | Step::Utime(_)
            | Step::Xattr(_)
            | Step::Exec(_)
            | Step::Shell(_)
            | Step::Connect(_)
            | Step::ConnectMptcp(_)
            | Step::Send(_)
            | Step::Receive(_)
            | Step::Bind(_)
            | Step::Signal(_)
            | Step::Ptrace(_)
            | Step::ProcessRead(_)
            | Step::ProcessWrite(_)
            | Step::PidfdGetfd(_)
            | Step::RingRead(_)
            | Step::RingConnect(_)
            | Step::HandleRead(_)
            | Step::TreeRead(_)
            | Step::ReadAt(_)
            | Step::Syscall(_)
            | Step::Ioctl(_)
            | Step::Unshare(_)
            | Step::Mount(_)
            | Step::Umount(_)
            | Step::Host(_)
            | Step::Again(_)
            | Step::Tool(_) => false,
        }
    }
}

/// Mode bits, written as octal text ("0600").
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub struct Mode(pub u32);

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        u32::from_str_radix(text.trim_start_matches("0o"), 8)
            .ok()
            .filter(|mode| *mode <= 0o7777)
            .map(Mode)
            .ok_or_else(|| format!("`{text}` is no mode; write octal digits in quotes, \"0600\""))
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for Mode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// `PATH`, or `{path, text}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Where.
    pub path: PathArg,
    /// What; a short line of ours when absent.
    pub text: Option<String>,
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::shorthand::written(deserializer)
    }
}

impl JsonSchema for Written {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Written".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "oneOf": [
            { "type": "string" },
            { "type": "object", "additionalProperties": false, "required": ["path"],
              "properties": { "path": { "type": "string" }, "text": { "type": "string" } } }
        ]})
    }
}

/// See [`Step::Truncate`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TruncateStep {
    /// Where.
    pub path: PathArg,
    /// New size in bytes.
    pub size: u64,
}

/// See [`Step::Open`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OpenStep {
    /// Where.
    pub path: PathArg,
    /// How: r w rw path dir create exclusive truncate append nofollow tmpfile.
    #[schemars(schema_with = "crate::schema::open_flags")]
    pub flags: Vec<OpenFlag>,
    /// Read through the descriptor afterwards.
    #[serde(default)]
    pub then_read: bool,
}

/// See [`Step::Rename`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameStep {
    /// Old name.
    pub from: PathArg,
    /// New name.
    pub to: PathArg,
    /// Swap both.
    #[serde(default)]
    pub exchange: bool,
}

/// See [`Step::Link`] and [`Step::Symlink`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairStep {
    /// The existing thing (for a symlink: its target).
    pub from: PathArg,
    /// The new name.
    pub to: PathArg,
}

/// See [`Step::Chmod`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChmodStep {
    /// Where.
    pub path: PathArg,
    /// Octal text.
    pub mode: Mode,
}

/// See [`Step::Chown`]; without uid and gid the file keeps both, but the call is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChownStep {
    /// Where.
    pub path: PathArg,
    /// New owner.
    #[serde(default)]
    pub uid: Option<u32>,
    /// New group.
    #[serde(default)]
    pub gid: Option<u32>,
}

/// See [`Step::Utime`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UtimeStep {
    /// Where.
    pub path: PathArg,
    /// Seconds since 1970; 1 when absent.
    #[serde(default)]
    pub seconds: Option<i64>,
}

/// See [`Step::Xattr`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct XattrStep {
    /// Where.
    pub path: PathArg,
    /// Name, `user.sandproof` when absent.
    #[serde(default)]
    pub name: Option<String>,
    /// Value.
    #[serde(default)]
    pub value: Option<String>,
}

/// See [`Step::Mknod`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MknodStep {
    /// Where.
    pub path: PathArg,
    /// fifo socket char block whiteout.
    #[schemars(schema_with = "crate::schema::node_kind")]
    pub kind: NodeKind,
}

/// See [`Step::Exec`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecStep {
    /// Program and arguments; an argument that begins with a room name and `/` becomes its path.
    pub argv: Vec<String>,
}

/// See [`Step::Send`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendStep {
    /// Listener name (`default` for the one without).
    pub to: String,
    /// What; the arm's token when absent.
    #[serde(default)]
    pub text: Option<String>,
    /// sendto sendmsg sendmmsg.
    #[serde(default)]
    #[schemars(schema_with = "crate::schema::send_call")]
    pub by: SendCall,
}

/// See [`Step::Receive`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReceiveStep {
    /// The listener that hands a socket over.
    pub from: String,
    /// The listener that is called with it.
    pub to: String,
}

/// See [`Step::TreeRead`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeReadStep {
    /// The folder whose mount is cloned.
    pub tree: PathArg,
    /// What is read, below that folder.
    pub file: String,
}

/// See [`Step::ReadAt`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadAtStep {
    /// A descriptor of `open-file`.
    pub fd: i32,
    /// A file below it, when it is a folder.
    #[serde(default)]
    pub path: Option<String>,
}

/// See [`Step::Bind`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BindStep {
    /// Protocol.
    pub kind: crate::fixture::ListenerKind,
    /// IP version of tcp and udp.
    #[serde(default)]
    pub family: crate::fixture::Family,
    /// Path of unix sockets.
    #[serde(default)]
    pub path: Option<RoomPath>,
    /// stream or datagram.
    #[serde(default, rename = "type")]
    #[schemars(schema_with = "crate::schema::socket_type")]
    pub kind_of_socket: sandproof_probes::SocketType,
}

/// See [`Step::Signal`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalStep {
    /// Victim name.
    pub to: String,
    /// `0`, or a name such as `TERM`.
    pub signal: String,
}

/// See [`Step::Syscall`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SyscallStep {
    /// native x32 i386.
    #[schemars(schema_with = "crate::schema::abi")]
    pub abi: Abi,
    /// By number ...
    #[serde(default)]
    pub number: Option<i64>,
    /// ... or by name.
    #[serde(default)]
    pub name: Option<String>,
    /// At most six integers.
    #[serde(default)]
    #[schemars(length(max = 6))]
    pub args: Vec<i64>,
}

/// See [`Step::Ioctl`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IoctlStep {
    /// Descriptor, 0 to 2, or one of `open-file`; with `terminal: true`, -1 is the terminal.
    pub fd: i32,
    /// A number or a known name (TIOCSTI).
    pub request: String,
    /// An integer, or a text whose first byte is passed by pointer.
    #[serde(default)]
    pub arg: Option<String>,
}

/// See [`Step::Mount`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MountStep {
    /// Room path or text (tmpfs).
    #[serde(default)]
    pub source: Option<String>,
    /// Where.
    pub target: PathArg,
    /// File system type.
    #[serde(default)]
    pub fstype: Option<String>,
    /// Names of flags: bind rec remount move ro private slave ...
    #[serde(default)]
    #[schemars(schema_with = "crate::schema::mount_flags")]
    pub flags: Vec<String>,
    /// Options.
    #[serde(default)]
    pub data: Option<String>,
}

/// See [`Step::Umount`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UmountStep {
    /// Where.
    pub target: PathArg,
    /// Lazily.
    #[serde(default)]
    pub detach: bool,
}

/// See [`Step::Tool`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolStep {
    /// Name of the agent's tool.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub args: std::collections::BTreeMap<String, String>,
}
