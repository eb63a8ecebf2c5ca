//! Descriptors that the caller hands to the command.
//!
//! One that was opened outside leads below the covers: all that lies in a folder is reached from
//! it, and a file that may only be read is opened for writing by its name in `/proc/self/fd`. So
//! what was not opened for writing is opened again by its path, which leads to the top.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    CWD, FileType, Mode, OFlags, SeekFrom, Stat, fcntl_getfl, fcntl_setfl, fstat, openat, seek,
};

use super::sys;
use crate::confine::cover::{Cover, Kind};
use crate::confine::refusal::Refusal;

/// Opens the descriptor of this number again, if it is one of a file or a folder.
///
/// # Errors
/// A folder, or a file that is denied or protected, is not found at its path any more.
pub(super) fn open_again(number: i32, covers: &[Cover]) -> Result<(), Refusal> {
    let Some(old) = Handed::look(number) else { return Ok(()) };
    match old.again() {
        Ok(new) => sandproof_probes::sys::place(new.as_fd(), number)
            .map_err(|error| refused(number, &old.path, &error)),
        Err(error) if old.is_folder() || is_covered(&old.path, covers) => {
            Err(refused(number, &old.path, &error))
        }
        // One without a name, or out of the reach of this user: no cover is meant for it.
        Err(_) => Ok(()),
    }
}

/// An open file or folder that is not written.
struct Handed {
    file: OwnedFd,
    stat: Stat,
    flags: OFlags,
    path: PathBuf,
}

impl Handed {
    /// None for what is closed, a pipe or a device, or was opened for writing.
    fn look(number: i32) -> Option<Self> {
        let file = sys::take_descriptor(number).ok()?;
        let stat = fstat(&file).ok()?;
        let flags = fcntl_getfl(&file).ok()?;
        let written = flags.intersects(OFlags::WRONLY | OFlags::RDWR);
        let path = fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if written => None,
            FileType::RegularFile | FileType::Directory => Some(Self { file, stat, flags, path }),
            FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => None,
        }
    }

    fn is_folder(&self) -> bool {
        FileType::from_raw_mode(self.stat.st_mode) == FileType::Directory
    }

    /// The same file at its path, read from the same place on.
    fn again(&self) -> io::Result<OwnedFd> {
        // Another file may have its name by now, and a named pipe would wait for a writer.
        let kind = self.flags & (OFlags::PATH | OFlags::DIRECTORY);
        let flags = kind | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let new = openat(CWD, &self.path, flags, Mode::empty())?;
        let stat = fstat(&new)?;
        if (stat.st_dev, stat.st_ino) != (self.stat.st_dev, self.stat.st_ino) {
            return Err(io::Error::other("something else stands at its path"));
        }
        if !self.flags.contains(OFlags::PATH) {
            fcntl_setfl(&new, self.flags)?;
            seek(&new, SeekFrom::Start(seek(&self.file, SeekFrom::Current(0))?))?;
        }
        Ok(new)
    }
}

fn is_covered(path: &Path, covers: &[Cover]) -> bool {
    let closed = |cover: &&Cover| matches!(cover.kind, Kind::Mask | Kind::Freeze);
    covers.iter().filter(closed).any(|cover| path.starts_with(&cover.path))
}

fn refused(number: i32, path: &Path, error: &io::Error) -> Refusal {
    let what = format!("descriptor {number} leads around what is denied or protected ({error})");
    Refusal::at(what, path, "start without it")
}
