//! [`Store`]: the records in GROK_HOME, read without following anything and written at once.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use super::Record;
use crate::confine::mutant::{self, Mutant};
use crate::confine::refusal::Refusal;

/// The file in the folder of a session.
const FILE: &str = "summary.json";

/// No record is longer.
const LONGEST: u64 = 1 << 20;

/// Longest name of a folder on every file system, with room to spare.
const LONGEST_ID: usize = 200;

/// How often the folders are made again when one of them goes.
const TRIES: u32 = 10;

/// Bits of a mode that let others write.
const OTHERS_WRITE: u32 = 0o022;

/// All sessions of one GROK_HOME.
#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    /// The folder of a session, when this process has made it.
    made: Option<PathBuf>,
}

/// Why a record was not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// There is none.
    Missing,
    /// There is something else, or somebody else's.
    Unfit(String),
    /// The system does not let it be read.
    Failed(io::Error),
}

/// A name is one ordinary segment of a path.
///
/// # Errors
/// It is not.
pub(super) fn check_id(id: &str) -> Result<(), Refusal> {
    if is_id(id) {
        return Ok(());
    }
    let what = format!("`{}` is no name of a session", id.escape_debug());
    Err(Refusal::new(what, "use letters, digits, `-`, `_` and `.`, with a letter or digit first"))
}

pub(super) fn is_id(id: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    mutant::on(Mutant::SessionAnyId)
        || (id.starts_with(|c: char| c.is_ascii_alphanumeric())
            && id.len() <= LONGEST_ID
            && id.chars().all(fine))
}

impl Store {
    pub(super) fn of(grok_home: &Path) -> Self {
        Self { folder: grok_home.join("sessions"), made: None }
    }

    /// Whether anything has this name.
    pub(super) fn has(&self, id: &str) -> bool {
        fs::symlink_metadata(self.folder.join(id)).is_ok()
    }

    /// The record of a session.
    pub(super) fn load(&self, id: &str) -> Result<Record, Unread> {
        let sessions = own_folder(&self.folder, None)?;
        let folder = own_folder(Path::new(id), Some(&sessions))?;
        let flags = follow(OFlags::RDONLY | OFlags::NONBLOCK);
        let file = File::from(openat(&folder, FILE, flags, Mode::empty()).map_err(unread)?);
        let meta = file.metadata().map_err(Unread::Failed)?;
        if !meta.is_file() {
            return Err(Unread::Unfit("it is no regular file".to_owned()));
        }
        own(&meta)?;
        if meta.nlink() > 1 {
            return Err(Unread::Unfit("it has a second hard link".to_owned()));
        }
        let mut text = Vec::new();
        file.take(LONGEST).read_to_end(&mut text).map_err(Unread::Failed)?;
        Record::parse(&text, id).map_err(Unread::Unfit)
    }

    /// The names of all sessions, in order.
    pub(super) fn ids(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut ids = Vec::new();
        for entry in entries {
            ids.extend(entry?.file_name().into_string().ok().filter(|id| is_id(id)));
        }
        ids.sort();
        Ok(ids)
    }

    /// Writes a record: whoever reads it sees the old one or the new one.
    pub(super) fn write(&mut self, record: &Record) -> Result<(), Refusal> {
        let folder = self.folder.join(&record.id);
        let written = self.make(&folder).and_then(|()| replace(&folder, record));
        written.map_err(|error| {
            self.undo();
            let what = format!("the record of a session cannot be written ({error})");
            Refusal::at(what, &folder, "make it a folder that you alone can write")
        })
    }

    /// Makes the folder of a session and those above it.
    fn make(&mut self, folder: &Path) -> io::Result<()> {
        let mut tries = TRIES;
        while let Err(error) = self.make_missing(folder) {
            // Another start ended just now, and removed what held the place of a missing folder.
            if error.kind() != ErrorKind::NotFound || tries == 0 {
                return Err(error);
            }
            tries -= 1;
        }
        let name = Path::new(folder.file_name().unwrap_or_default());
        let sessions = own_folder(&self.folder, None)?;
        own_folder(name, Some(&sessions))?;
        Ok(())
    }

    fn make_missing(&mut self, folder: &Path) -> io::Result<()> {
        let missing: Vec<&Path> =
            folder.ancestors().take_while(|path| fs::symlink_metadata(path).is_err()).collect();
        for path in missing.into_iter().rev() {
            match DirBuilder::new().mode(0o700).create(path) {
                Ok(()) if path == folder => self.made = Some(folder.to_path_buf()),
                Ok(()) => {}
                // Another session began just now.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes the session if it began here. The folder of all sessions stays: another start may
    /// have it covered by now, and without a folder below it the cover would be gone.
    pub(super) fn undo(&mut self) {
        if let Some(folder) = self.made.take() {
            let _ = fs::remove_file(folder.join(FILE));
            let _ = fs::remove_dir(folder);
        }
    }
}

fn replace(folder: &Path, record: &Record) -> io::Result<()> {
    let new = folder.join(format!(".{FILE}.{}", std::process::id()));
    // One left by a process of this number that was killed.
    let _ = fs::remove_file(&new);
    let mut text = serde_json::to_vec_pretty(record)?;
    text.push(b'\n');
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    let written = file
        .write_all(&text)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&new, folder.join(FILE)));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// No symlink is followed.
fn follow(flags: OFlags) -> OFlags {
    let links = mutant::on(Mutant::SessionLinksFollowed);
    flags | OFlags::CLOEXEC | if links { OFlags::empty() } else { OFlags::NOFOLLOW }
}

/// Opens a folder that is this user's own.
fn own_folder(path: &Path, holder: Option<&File>) -> Result<File, Unread> {
    let flags = follow(OFlags::RDONLY | OFlags::DIRECTORY);
    let opened = match holder {
        Some(holder) => openat(holder, path, flags, Mode::empty()),
        None => openat(CWD, path, flags, Mode::empty()),
    };
    let folder = File::from(opened.map_err(unread)?);
    own(&folder.metadata().map_err(Unread::Failed)?)?;
    Ok(folder)
}

fn own(meta: &fs::Metadata) -> Result<(), Unread> {
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(Unread::Unfit("it belongs to another user".to_owned()));
    }
    if meta.mode() & OTHERS_WRITE != 0 && !mutant::on(Mutant::SessionOthersWrite) {
        return Err(Unread::Unfit("others may write it".to_owned()));
    }
    Ok(())
}

fn unread(errno: Errno) -> Unread {
    match errno {
        Errno::NOENT => Unread::Missing,
        Errno::LOOP | Errno::NOTDIR => {
            Unread::Unfit("a symlink or a file is in its way".to_owned())
        }
        other => Unread::Failed(other.into()),
    }
}

impl From<Unread> for io::Error {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Missing => ErrorKind::NotFound.into(),
            Unread::Unfit(why) => Self::other(why),
            Unread::Failed(error) => error,
        }
    }
}
