//! [`Stubs`]: stand-ins for denied and protected paths that do not exist.
//!
//! A mount needs something to lie on, so a missing path gets an empty file (or folder) on the host
//! for as long as the command runs. A stub is known by its emptiness and an odd time stamp, so one
//! left by a killed start is taken over by the next. Several starts may stand on one stub: each
//! holds a shared lock on the folder, and only the last one out removes it. Folders keep their
//! modification time. A host program may still fill the stub: then it is a real file and stays.

use std::fs::{self, File, FileTimes, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};

use crate::confine::refusal::Refusal;

/// Modification time of every stub: a moment no clock is likely to have stamped.
const STAMP: Duration = Duration::new(981_173_106, 125_801_403);

/// What a stub is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// An empty file.
    File,
    /// An empty folder.
    Folder,
}

/// Stubs this start stands on. Dropped, it removes those nobody else needs.
#[derive(Debug, Default)]
pub(super) struct Stubs {
    made: Vec<Stub>,
    /// Shared locks on their folders, in the same order.
    locks: Vec<(PathBuf, File)>,
}

#[derive(Debug)]
struct Stub {
    path: PathBuf,
    shape: Shape,
}

impl Stubs {
    /// Sees to it that something stands at `path`: what is there already, or a stub.
    ///
    /// # Errors
    /// No stub can be made there.
    pub(super) fn hold(&mut self, path: &Path, shape: Shape) -> Result<(), Refusal> {
        match fs::symlink_metadata(path) {
            Ok(meta) if !is_stub(&meta) => Ok(()),
            Ok(_) | Err(_) => self.stand_on(path, shape).map_err(|error| unheld(path, &error)),
        }
    }

    fn stand_on(&mut self, path: &Path, shape: Shape) -> io::Result<()> {
        let parent = path.parent().unwrap_or(Path::new("/"));
        self.make_parents(parent)?;
        self.lock(parent)?;
        // Under the lock nobody removes it any more.
        let shape = match fs::symlink_metadata(path) {
            // That of another user is his to remove, and under our lock he does not.
            Ok(meta) if !is_stub(&meta) || !ours(&meta) => return Ok(()),
            Ok(meta) if meta.is_dir() => Shape::Folder,
            Ok(_) => Shape::File,
            Err(_) => {
                keeping_time(parent, || make(path, shape))?;
                shape
            }
        };
        self.made.push(Stub { path: path.to_path_buf(), shape });
        Ok(())
    }

    /// Makes the folders that are missing on the way, as stubs themselves.
    fn make_parents(&mut self, folder: &Path) -> io::Result<()> {
        match fs::symlink_metadata(folder) {
            Ok(meta) if !is_stub(&meta) => Ok(()),
            Ok(_) | Err(_) => self.stand_on(folder, Shape::Folder),
        }
    }

    fn lock(&mut self, folder: &Path) -> io::Result<()> {
        if self.locks.iter().any(|(locked, _)| locked == folder) {
            return Ok(());
        }
        let file = File::open(folder)?;
        flock(&file, FlockOperation::LockShared)?;
        self.locks.push((folder.to_path_buf(), file));
        Ok(())
    }
}

impl Drop for Stubs {
    fn drop(&mut self) {
        // The last made lies deepest.
        for stub in self.made.iter().rev() {
            let Some(parent) = stub.path.parent() else { continue };
            let alone =
                self.locks.iter().find(|(folder, _)| folder == parent).is_some_and(|(_, lock)| {
                    flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok()
                });
            if alone {
                // What cannot be removed is a harmless empty file, and the next start tries again.
                let _ = keeping_time(parent, || remove(stub));
            }
        }
    }
}

fn make(path: &Path, shape: Shape) -> io::Result<()> {
    let file = match shape {
        Shape::File => OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?,
        Shape::Folder => {
            fs::DirBuilder::new().mode(0o755).create(path)?;
            File::open(path)?
        }
    };
    stamp(&file)
}

/// Removes a stub that is still one.
fn remove(stub: &Stub) -> io::Result<()> {
    let meta = fs::symlink_metadata(&stub.path)?;
    match stub.shape {
        Shape::File if is_stub(&meta) && ours(&meta) => fs::remove_file(&stub.path),
        // Fails, as it should, when something has been put into it.
        Shape::Folder if meta.is_dir() => fs::remove_dir(&stub.path),
        Shape::File | Shape::Folder => Ok(()),
    }
}

/// A stub by its looks. A folder may hold other stubs; `rmdir` sees to it that it is empty.
fn is_stub(meta: &Metadata) -> bool {
    let stamped = meta.modified().is_ok_and(|time| time == SystemTime::UNIX_EPOCH + STAMP);
    let empty = meta.is_dir() || (meta.is_file() && meta.len() == 0 && meta.nlink() == 1);
    stamped && empty
}

fn ours(meta: &Metadata) -> bool {
    meta.uid() == rustix::process::geteuid().as_raw()
}

fn stamp(file: &File) -> io::Result<()> {
    let time = SystemTime::UNIX_EPOCH + STAMP;
    file.set_times(FileTimes::new().set_modified(time).set_accessed(time))
}

/// Does something in a folder and gives the folder its modification time back.
fn keeping_time(folder: &Path, act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let before = fs::metadata(folder)?.modified()?;
    act()?;
    // Somebody else's folder keeps its new time; that only its owner may change.
    let _ =
        File::open(folder).and_then(|file| file.set_times(FileTimes::new().set_modified(before)));
    Ok(())
}

fn unheld(path: &Path, error: &io::Error) -> Refusal {
    let what = format!("a path that does not exist cannot be held in place ({error})");
    Refusal::at(what, path, "make it, or leave it out")
}

#[cfg(test)]
mod tests;
