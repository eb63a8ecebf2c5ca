//! [`Stubs`]: stand-ins for denied and protected paths that do not exist.
//!
//! A mount needs something to lie on, so a missing path gets an empty file (or folder) on the host
//! for as long as the command runs. A stub is known by its emptiness and an odd time stamp, so one
//! that was left by a crash of the host is taken over by the next start that denies it. Several
//! starts may stand on one stub: each holds a shared lock on it, and only the last one out removes
//! it. Making and removing is one start at a time, by a short lock on the folder that holds them.
//! Folders keep their modification time. A host program may still fill the stub: then it is a real
//! file and stays.

use std::fs::{self, File, FileTimes, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::thread::{Timespec, nanosleep};

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
}

#[derive(Debug)]
struct Stub {
    path: PathBuf,
    shape: Shape,
    /// Open with a shared lock. A folder that only holds other stubs needs none.
    held: Option<File>,
}

impl Stubs {
    /// Sees to it that something stands at `path`: what is there already, or a stub.
    ///
    /// # Errors
    /// No stub can be made there.
    pub(super) fn hold(&mut self, path: &Path, shape: Shape) -> Result<(), Refusal> {
        match fs::symlink_metadata(path) {
            Ok(meta) if !is_stub(&meta) && !is_new(&meta) => Ok(()),
            Ok(_) | Err(_) => self.stand_on(path, shape).map_err(|error| unheld(path, &error)),
        }
    }

    /// Removes none of them; another process does.
    pub(super) fn leave(mut self) {
        self.made.clear();
    }

    /// Those that no other start stands on; nobody else can, from then on.
    pub(super) fn paths_of_ours(&self) -> Vec<PathBuf> {
        let ours = self.made.iter().filter(|stub| stub.held.is_some() && stub.is_free());
        ours.map(|stub| stub.path.clone()).collect()
    }

    /// True when this start stands on none.
    pub(super) fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    fn stand_on(&mut self, path: &Path, shape: Shape) -> io::Result<()> {
        let _alone = alone_at(path);
        self.make_parents(path)?;
        let (file, shape) = match open_stub(path)? {
            Some(found) => found,
            None if fs::symlink_metadata(path).is_ok() => return Ok(()),
            None => (keeping_time(path, || make(path, shape))?, shape),
        };
        // Nobody holds more than a shared lock on it while we are alone here.
        lock(&file, FlockOperation::NonBlockingLockShared)?;
        self.made.push(Stub { path: path.to_path_buf(), shape, held: Some(file) });
        Ok(())
    }

    /// Makes the folders that are missing on the way, as stubs themselves.
    fn make_parents(&mut self, path: &Path) -> io::Result<()> {
        for folder in stubs_above(path).into_iter().rev() {
            if fs::symlink_metadata(folder).is_err() {
                keeping_time(folder, || make(folder, Shape::Folder).map(drop))?;
            }
            let path = folder.to_path_buf();
            self.made.push(Stub { path, shape: Shape::Folder, held: None });
        }
        Ok(())
    }
}

impl Drop for Stubs {
    fn drop(&mut self) {
        // The last made lies deepest.
        for stub in self.made.iter().rev() {
            let _alone = alone_at(&stub.path);
            if stub.is_free() {
                // What cannot be removed is a harmless empty file, and the next start tries again.
                let _ = keeping_time(&stub.path, || remove(stub));
                // One of another user stays, and must not be locked any longer than we are alone.
                if let Some(file) = &stub.held {
                    let _ = flock(file, FlockOperation::NonBlockingUnlock);
                }
            }
        }
    }
}

impl Stub {
    /// True when no other start stands on it.
    fn is_free(&self) -> bool {
        let free = |file: &File| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
        match &self.held {
            Some(file) => free(file),
            // Another start may stand on this folder itself.
            None => File::open(&self.path).is_ok_and(|file| free(&file)),
        }
    }
}

/// Missing folders and stubs above a path, the nearest first.
fn stubs_above(path: &Path) -> Vec<&Path> {
    let above = path.ancestors().skip(1);
    above.take_while(|folder| fs::symlink_metadata(folder).map_or(true, |m| is_stub(&m))).collect()
}

/// How long a start may take from making a stub to its stamp, on a host that is very busy.
const NEW: Duration = Duration::from_secs(10);

/// The only start that makes or removes stubs in the first real folder above `path`, for as long
/// as the answer lives. Starts hold this lock for less than a millisecond: who has it for a second
/// is none, and then we go on without.
fn alone_at(path: &Path) -> Option<File> {
    let ground = path.ancestors().nth(1 + stubs_above(path).len())?;
    let file = File::open(ground).ok()?;
    lock(&file, FlockOperation::NonBlockingLockExclusive).ok().map(|()| file)
}

/// How often a lock is tried again, and how long until then.
const TRIES: u32 = 200;
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// A lock, within a second: the kernel knows none with a time limit.
fn lock(file: &File, operation: FlockOperation) -> rustix::io::Result<()> {
    for _ in 0..TRIES {
        match flock(file, operation) {
            Err(Errno::WOULDBLOCK) => drop(nanosleep(&PAUSE)),
            answer => return answer,
        }
    }
    Err(Errno::WOULDBLOCK)
}

/// The stub at a path, if there is one.
fn open_stub(path: &Path) -> io::Result<Option<(File, Shape)>> {
    let stub = |meta: &Metadata| is_stub(meta).then_some(());
    if fs::symlink_metadata(path).ok().as_ref().and_then(stub).is_none() {
        return Ok(None);
    }
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let folder = file.metadata()?.is_dir();
    Ok(Some((file, if folder { Shape::Folder } else { Shape::File })))
}

fn make(path: &Path, shape: Shape) -> io::Result<File> {
    let file = match shape {
        // Readable for all, so that the start of another user can lock it.
        Shape::File => OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?,
        Shape::Folder => {
            fs::DirBuilder::new().mode(0o755).create(path)?;
            File::open(path)?
        }
    };
    stamp(&file)?;
    Ok(file)
}

/// Removes a stub that is still one.
fn remove(stub: &Stub) -> io::Result<()> {
    let meta = fs::symlink_metadata(&stub.path)?;
    match stub.shape {
        Shape::File if is_stub(&meta) => fs::remove_file(&stub.path),
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

/// Whether another start may be about to make a stub of it: it is made first and stamped then. Who
/// is alone there sees it stamped.
fn is_new(meta: &Metadata) -> bool {
    let young = meta.modified().is_ok_and(|time| time.elapsed().is_ok_and(|age| age < NEW));
    young && (meta.is_dir() || (meta.is_file() && meta.len() == 0))
}

fn stamp(file: &File) -> io::Result<()> {
    let time = SystemTime::UNIX_EPOCH + STAMP;
    file.set_times(FileTimes::new().set_modified(time).set_accessed(time))
}

/// Makes or removes a path and gives its folder the modification time back.
fn keeping_time<T>(path: &Path, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let before = fs::metadata(folder)?.modified()?;
    let done = act()?;
    // Somebody else's folder keeps its new time; that only its owner may change.
    let _ =
        File::open(folder).and_then(|file| file.set_times(FileTimes::new().set_modified(before)));
    Ok(done)
}

fn unheld(path: &Path, error: &io::Error) -> Refusal {
    let what = format!("a path that does not exist cannot be held in place ({error})");
    Refusal::at(what, path, "make it, or leave it out")
}

#[cfg(test)]
mod tests;
