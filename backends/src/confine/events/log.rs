//! [`Log`]: a file that only grows, written by many at once.
//!
//! Each line is one `write` at the end, under a lock on the file. A full log is copied to `.1` and
//! emptied: both keep their inodes, since the covers of running commands lie on them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::confine::refusal::Refusal;
use crate::confine::sources::no_symlink;
use crate::confine::state::OLD_LOG;

/// A log does not grow beyond this.
const CAP: u64 = 10 * 1024 * 1024;

/// The log of one GROK_HOME.
#[derive(Clone, Debug)]
pub(super) struct Log {
    path: PathBuf,
    cap: u64,
}

impl Log {
    pub(super) fn at(path: &Path) -> Self {
        Self { path: path.to_path_buf(), cap: CAP }
    }

    /// The same with another limit.
    #[cfg(test)]
    pub(super) fn capped(self, cap: u64) -> Self {
        Self { cap, ..self }
    }

    /// Makes the folder of the log.
    pub(super) fn make_folder(&self) -> io::Result<()> {
        self.path.parent().map_or(Ok(()), std::fs::create_dir_all)
    }

    /// Adds one line, or only looks whether it could.
    pub(super) fn append(&self, line: &[u8]) -> io::Result<()> {
        let mut file = open(&self.path)?;
        flock(&file, FlockOperation::LockExclusive)?;
        let length = file.metadata()?.len();
        if length > 0 && length + line.len() as u64 > self.cap {
            self.rotate(&mut file)?;
        }
        // One call: whoever reads meanwhile sees whole lines.
        match file.write(line)? {
            written if written == line.len() => Ok(()),
            _ => Err(io::Error::other("a line was cut short")),
        }
    }

    /// Moves what is there to the old log.
    fn rotate(&self, file: &mut File) -> io::Result<()> {
        let mut old = open(&self.path.with_file_name(OLD_LOG))?;
        old.set_len(0)?;
        io::copy(file, &mut old)?;
        file.set_len(0)
    }

    /// Whether the folder of the log exists, and no symlink leads to it.
    pub(super) fn has_safe_folder(&self) -> bool {
        self.path.parent().is_some_and(|folder| folder.is_dir() && no_symlink(folder).is_ok())
    }

    pub(super) fn unwritable(&self, error: &io::Error) -> Refusal {
        let what = format!("the log of events cannot be written ({error})");
        Refusal::at(what, &self.path, "move it away, or start with --fail-open")
    }
}

/// Opens a log for reading and appending; makes it when it is missing.
fn open(path: &Path) -> io::Result<File> {
    // A named pipe would wait for a reader.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if meta.nlink() != 1 {
        return Err(io::Error::other("it has a second hard link"));
    }
    Ok(file)
}
