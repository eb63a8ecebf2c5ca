//! [`asks`]: what the kernel of macOS asks the profile when an attempt is made.
//!
//! Paths are followed here as the kernel follows them: rules see where a path leads, and each
//! symlink on the way may be looked at. A hard link asks about the file it is made of.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use sandproof_probes::{Attempt, Endpoint, NodeKind, OpenFlag};

use super::operation::Operation;
use super::{About, Answer, Profile};

/// One question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Which operation.
    pub operation: &'static str,
    /// About what.
    pub thing: Thing,
    /// Whether the kernel is known to ask it. A denial must not rest on one that it may leave out,
    /// while what must work must not stumble over one that it may ask.
    pub certain: bool,
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A path, followed to its end.
    Path(PathBuf),
    /// A unix socket.
    Socket(PathBuf),
    /// An address.
    Internet,
    /// A socket of this domain.
    Domain(&'static str),
}

impl Ask {
    /// What the profile answers.
    #[must_use]
    pub fn of(&self, profile: &Profile) -> Option<Answer> {
        let about = match &self.thing {
            Thing::Path(path) => About::Path(path),
            Thing::Socket(path) => About::Socket(path),
            Thing::Internet => About::Internet,
            Thing::Domain(domain) => About::Domain(domain),
        };
        Operation::named(self.operation).map(|operation| profile.ask(operation, about))
    }
}

/// Everything that is asked on the way through this attempt.
///
/// # Errors
/// Why it cannot be said, a fragment.
pub fn asks(attempt: &Attempt) -> Result<Vec<Ask>, &'static str> {
    let mut list = List::default();
    match attempt {
        Attempt::Read { path } | Attempt::List { path } => list.at("file-read-data", path),
        Attempt::Stat { path } => list.entry("file-read-metadata", path),
        Attempt::Readlink { path } => list.entry("file-read-data", path),
        Attempt::Unlink { path } | Attempt::Rmdir { path } => {
            list.entry("file-write-unlink", path);
        }
        Attempt::Mkdir { path } | Attempt::Create { path } => {
            list.entry("file-write-create", path);
        }
        Attempt::Write { path, .. } => list.write(path),
        Attempt::Append { path, .. } | Attempt::Truncate { path, .. } => {
            list.at("file-write-data", path);
        }
        Attempt::Open { path, flags, then_read } => list.open(path, flags, *then_read)?,
        Attempt::Rename { from, to, exchange } => list.rename(from, to, *exchange),
        Attempt::Link { from, to } => {
            list.entry("file-link", from);
            list.entry("file-write-create", to);
        }
        Attempt::Symlink { to, .. } => list.entry("file-write-create", to),
        Attempt::Chmod { path, .. } => list.at("file-write-mode", path),
        Attempt::Chown { path, .. } => list.at("file-write-owner", path),
        Attempt::Utime { path, .. } => list.at("file-write-times", path),
        Attempt::Xattr { path, .. } => list.at("file-write-xattr", path),
        Attempt::Mknod { path, kind: NodeKind::Fifo } => list.entry("file-write-create", path),
        Attempt::Connect { to, .. } | Attempt::Send { to, .. } => {
            list.network("network-outbound", to)?;
        }
        Attempt::Bind { at } => list.bind(at)?,
        Attempt::Mknod { .. } => return Err("special files but pipes need root on macOS"),
        Attempt::Exec { .. } | Attempt::Shell { .. } => {
            return Err("what a program does cannot be foreseen");
        }
        Attempt::Receive { .. } | Attempt::ReadAt { .. } => {
            return Err("a descriptor that is open already asks nothing");
        }
        Attempt::Signal { .. } | Attempt::Ptrace { .. } | Attempt::ProcessRead { .. } => {
            return Err("it is about processes, not about files");
        }
        Attempt::ConnectMptcp { .. }
        | Attempt::ProcessWrite { .. }
        | Attempt::PidfdGetfd { .. }
        | Attempt::RingRead { .. }
        | Attempt::RingConnect { .. }
        | Attempt::HandleRead { .. }
        | Attempt::TreeRead { .. }
        | Attempt::Syscall { .. }
        | Attempt::Ioctl { .. }
        | Attempt::Unshare { .. }
        | Attempt::Mount { .. }
        | Attempt::Umount { .. } => return Err("macOS has other system calls"),
    }
    Ok(list.asks)
}

#[derive(Default)]
struct List {
    asks: Vec<Ask>,
}

impl List {
    fn push(&mut self, operation: &'static str, path: PathBuf) {
        self.asks.push(Ask { operation, thing: Thing::Path(path), certain: true });
    }

    fn perhaps(&mut self, operation: &'static str, path: PathBuf) {
        self.asks.push(Ask { operation, thing: Thing::Path(path), certain: false });
    }

    /// About where the path leads.
    fn at(&mut self, operation: &'static str, path: &Path) {
        let path = self.follow(path, true);
        self.push(operation, path);
    }

    /// About the entry itself.
    fn entry(&mut self, operation: &'static str, path: &Path) {
        let path = self.follow(path, false);
        self.push(operation, path);
    }

    fn write(&mut self, path: &Path) {
        let path = self.follow(path, true);
        if !path.exists() {
            self.push("file-write-create", path.clone());
        }
        self.push("file-write-data", path);
    }

    fn open(&mut self, path: &Path, flags: &[OpenFlag], read: bool) -> Result<(), &'static str> {
        let has = |flag| flags.contains(&flag);
        if [OpenFlag::Path, OpenFlag::Tmpfile].into_iter().any(has) {
            return Err("macOS has no such flag of open");
        }
        let path = self.follow(path, !has(OpenFlag::Nofollow));
        if has(OpenFlag::Create) && !path.exists() {
            self.push("file-write-create", path.clone());
        }
        let (writes, both) = (has(OpenFlag::W), has(OpenFlag::Rw));
        if both || !writes || read {
            self.push("file-read-data", path.clone());
        }
        if both || writes || has(OpenFlag::Append) || has(OpenFlag::Truncate) {
            self.push("file-write-data", path);
        }
        Ok(())
    }

    /// A name goes, a name comes, and what had that name before goes too. A file of several names
    /// is asked about as if it got another one.
    fn rename(&mut self, from: &Path, to: &Path, exchange: bool) {
        if from.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.nlink() > 1) {
            let from = self.follow(from, false);
            self.perhaps("file-link", from);
        }
        self.entry("file-write-unlink", from);
        self.entry("file-write-create", to);
        if exchange {
            self.entry("file-write-create", from);
        }
        if to.symlink_metadata().is_ok() {
            self.entry("file-write-unlink", to);
        }
    }

    /// A socket with a name makes it.
    fn bind(&mut self, at: &Endpoint) -> Result<(), &'static str> {
        self.network("network-bind", at)?;
        if let Endpoint::Unix { path, .. } = at {
            let path = self.follow(path, false);
            self.perhaps("file-write-create", path);
        }
        Ok(())
    }

    fn network(&mut self, operation: &'static str, to: &Endpoint) -> Result<(), &'static str> {
        let (domain, thing) = match to {
            Endpoint::Tcp { .. } | Endpoint::Udp { .. } => ("AF_INET", Thing::Internet),
            Endpoint::Unix { path, .. } => ("AF_UNIX", Thing::Socket(self.follow(path, true))),
            Endpoint::Abstract { .. } => return Err("macOS has no abstract sockets"),
        };
        let made = Thing::Domain(domain);
        self.asks.push(Ask { operation: "system-socket", thing: made, certain: false });
        self.asks.push(Ask { operation, thing, certain: true });
        Ok(())
    }

    /// Where a path leads; names that do not exist stay as they are. Every symlink on the way may
    /// be asked about. A loop ends where it began to turn.
    fn follow(&mut self, path: &Path, last_too: bool) -> PathBuf {
        let mut real = PathBuf::from("/");
        let mut rest = reversed(path);
        let mut left = 32;
        while let Some(name) = rest.pop() {
            if name == ".." {
                real.pop();
                continue;
            }
            let next = real.join(&name);
            match next.read_link() {
                Ok(target) if left > 0 && (last_too || !rest.is_empty()) => {
                    left -= 1;
                    self.perhaps("file-read-metadata", next);
                    if target.is_absolute() {
                        real = PathBuf::from("/");
                    }
                    rest.extend(reversed(&target));
                }
                Ok(_) | Err(_) => real = next,
            }
        }
        real
    }
}

/// The names of a path, the first at the end.
fn reversed(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut names: Vec<OsString> = names.collect();
    names.reverse();
    names
}
