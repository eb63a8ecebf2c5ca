//! [`Attempt`]: every verb a probe can try, one variant each, with absolute paths and addresses.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One thing the probe tries. Names are the verbs of the scenario grammar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum Attempt {
    /// Opens a file read-only and reads all of it.
    Read { path: PathBuf },
    /// Reads the names in a directory.
    List { path: PathBuf },
    /// Asks for metadata without following a last symlink.
    Stat { path: PathBuf },
    /// Removes a name that is no directory.
    Unlink { path: PathBuf },
    /// Removes an empty directory.
    Rmdir { path: PathBuf },
    /// Makes a directory, mode 0755.
    Mkdir { path: PathBuf },
    /// Creates an empty file exclusively, mode 0644.
    Create { path: PathBuf },
    /// Reads the target of a symlink.
    Readlink { path: PathBuf },
    /// Opens with create and truncate, then writes `text`.
    Write { path: PathBuf, text: String },
    /// Opens an existing file for appending, then writes `text`.
    Append { path: PathBuf, text: String },
    /// Cuts or extends by path (`truncate(2)`).
    Truncate { path: PathBuf, size: u64 },
    /// Opens with these flags, and reads through the descriptor when `then_read`.
    Open { path: PathBuf, flags: Vec<OpenFlag>, then_read: bool },
    /// Renames; `exchange` swaps both names.
    Rename { from: PathBuf, to: PathBuf, exchange: bool },
    /// Makes a hard link `to` for the file `from`.
    Link { from: PathBuf, to: PathBuf },
    /// Makes a symlink at `to` whose target text is `from`.
    Symlink { from: PathBuf, to: PathBuf },
    /// Changes the mode bits.
    Chmod { path: PathBuf, mode: u32 },
    /// Changes owner and group; absent ones stay.
    Chown { path: PathBuf, uid: Option<u32>, gid: Option<u32> },
    /// Sets access and modification time, in seconds since 1970.
    Utime { path: PathBuf, seconds: i64 },
    /// Sets an extended attribute (`user.*` for ordinary users).
    Xattr { path: PathBuf, name: String, value: String },
    /// Makes a special file.
    Mknod { path: PathBuf, kind: NodeKind },
    /// Runs a program without a shell and waits for it.
    Exec { argv: Vec<String> },
    /// Runs `/bin/sh -c SCRIPT` in `cwd` and waits for it; `env` is added to the probe's own.
    Shell { script: String, cwd: PathBuf, env: BTreeMap<String, String> },
    /// Connects a socket and sends `text` over it.
    Connect { to: Endpoint, text: String },
    /// Connects by Multipath TCP and sends `text` over it.
    ConnectMptcp { to: Endpoint, text: String },
    /// Sends `text` in one datagram, or as TCP Fast Open data on a stream, without connecting.
    Send { to: Endpoint, text: String, by: SendCall },
    /// Takes the socket that whoever listens at `from` hands over, and sends `text` with it to
    /// `to`; a stream is connected first.
    Receive { from: Endpoint, to: Endpoint, text: String },
    /// Binds a socket (and listens on streams).
    Bind { at: Endpoint },
    /// Sends a signal; number 0 only asks whether it could.
    Signal { pid: i32, signal: i32 },
    /// Attaches with `PTRACE_SEIZE` and stays attached until the steps are over, so that it can be
    /// seen from outside; the end of the tracer lets the process go.
    Ptrace { pid: i32 },
    /// Reads another process: its environment, then memory at `address` when one is known.
    ProcessRead { pid: i32, address: u64, length: u64 },
    /// Writes a zero byte into another process at `address` (`process_vm_writev`).
    ProcessWrite { pid: i32, address: u64 },
    /// Takes the standard output of another process (`pidfd_getfd`) and writes a line to it.
    PidfdGetfd { pid: i32 },
    /// Opens a file through an io_uring, and reads all of it.
    RingRead { path: PathBuf },
    /// Makes a socket, connects it and sends `text`, all through an io_uring.
    RingConnect { to: Endpoint, text: String },
    /// Opens a file by its handle (`open_by_handle_at`), and reads all of it. The handle names the
    /// file that the folder lists, even where something is mounted over it.
    HandleRead { path: PathBuf },
    /// Clones the one mount that `tree` is in (`open_tree`), without those on top of it, and reads
    /// `file` there.
    TreeRead { tree: PathBuf, file: PathBuf },
    /// Reads an inherited descriptor, or the file `path` below it (`openat`).
    ReadAt { fd: i32, path: Option<PathBuf> },
    /// One raw system call by number; pointers are not followed by the probe.
    Syscall { abi: Abi, number: i64, args: Vec<i64> },
    /// One `ioctl` with an integer, or the first byte of `text` by pointer.
    Ioctl { fd: i32, request: u64, arg: i64, text: Option<String> },
    /// `unshare(2)` of these namespaces: user mount pid network ipc uts cgroup time.
    Unshare { namespaces: Vec<String> },
    /// `mount(2)`; flags are names such as bind, rec, remount, ro.
    Mount { source: String, target: PathBuf, fstype: String, flags: Vec<String>, data: String },
    /// `umount2(2)`, lazily when `detach`.
    Umount { target: PathBuf, detach: bool },
}

/// Flags of [`Attempt::Open`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpenFlag {
    /// Read.
    R,
    /// Write.
    W,
    /// Read and write.
    Rw,
    /// `O_PATH`.
    Path,
    /// `O_DIRECTORY`.
    Dir,
    /// `O_CREAT`.
    Create,
    /// `O_EXCL`.
    Exclusive,
    /// `O_TRUNC`.
    Truncate,
    /// `O_APPEND`.
    Append,
    /// `O_NOFOLLOW`.
    Nofollow,
    /// `O_TMPFILE`.
    Tmpfile,
}

/// Kinds of special file for [`Attempt::Mknod`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// A named pipe.
    Fifo,
    /// A unix socket node.
    Socket,
    /// Character device 1:3 (null).
    Char,
    /// Block device 7:0 (loop0).
    Block,
    /// Character device 0:0, an overlay whiteout.
    Whiteout,
}

/// Which system call table an [`Attempt::Syscall`] enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Abi {
    /// The table of the probe's own architecture.
    Native,
    /// x86-64 numbers with bit 0x40000000.
    X32,
    /// `int 0x80` on x86-64.
    I386,
}

/// Which call sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SendCall {
    /// `sendto`.
    #[default]
    Sendto,
    /// `sendmsg`.
    Sendmsg,
    /// `sendmmsg`, which takes several messages at once.
    Sendmmsg,
}

/// Stream or datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SocketType {
    /// `SOCK_STREAM`.
    #[default]
    Stream,
    /// `SOCK_DGRAM`.
    Datagram,
}

/// Where a socket leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum Endpoint {
    /// TCP over IPv4 or IPv6.
    Tcp { address: SocketAddr },
    /// UDP over IPv4 or IPv6.
    Udp { address: SocketAddr },
    /// A unix socket with a name in the file system.
    Unix { path: PathBuf, kind: SocketType },
    /// A Linux unix socket in the abstract name space (name without the leading NUL).
    Abstract { name: String, kind: SocketType },
}
