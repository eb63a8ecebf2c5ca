//! [`Photo`]: everything the rooms hold at one moment, seen from outside.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use sandproof_scenarios::{Room, Rooms};
use sha2::{Digest as _, Sha256};

/// Name of the folder in room `temp` that carries the protocol where stdin does not; left out.
pub const CHANNEL: &str = ".sandproof";

/// Larger files are photographed without content.
const CONTENT_LIMIT: u64 = 64 * 1024 * 1024;

/// All entries by their room path (`work/a/b`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Photo {
    /// Entries, the rooms themselves included.
    pub entries: BTreeMap<PathBuf, Entry>,
}

/// One file, folder, link or special file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// Inode number.
    pub inode: u64,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub owner: (u32, u32),
    /// Modification time in nanoseconds since 1970.
    pub modified: i128,
    /// Number of hard links.
    pub links: u64,
    /// Extended attributes.
    pub attributes: BTreeMap<Vec<u8>, Vec<u8>>,
    /// SHA-256 of a file's content, the target of a link, the sorted names in a folder.
    pub content: Vec<u8>,
    /// The same for files with the words of the arm and the path of its arena taken out, to be
    /// compared between arms.
    pub likeness: Vec<u8>,
    /// Numbers of the markers found in a file's content.
    pub markers: Vec<usize>,
}

/// What a photograph looks for in files.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Secrets.
    pub markers: &'a [&'a [u8]],
    /// Words that differ from arm to arm.
    pub varying: &'a [&'a [u8]],
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symlink.
    Link,
    /// Pipe, socket or device.
    Special,
}

impl Photo {
    /// Photographs the four rooms, and looks for markers in every file.
    ///
    /// # Errors
    /// A room that cannot be walked. What vanishes meanwhile is left out.
    pub fn take(rooms: &Rooms, look: &Look<'_>) -> io::Result<Self> {
        let mut photo = Photo::default();
        for room in Room::ALL {
            photo.add(rooms.path(room), PathBuf::from(room.name()), look)?;
        }
        Ok(photo)
    }

    /// The entry at this room path.
    #[must_use]
    pub fn at(&self, path: impl AsRef<Path>) -> Option<&Entry> {
        self.entries.get(path.as_ref())
    }

    fn add(&mut self, real: &Path, name: PathBuf, look: &Look<'_>) -> io::Result<()> {
        let meta = match fs::symlink_metadata(real) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut entry = Entry::of(&meta, real);
        match entry.kind {
            Kind::Folder => entry.content = self.add_children(real, &name, look),
            Kind::File => entry.read_content(real, &meta, look),
            Kind::Link => {
                entry.content = fs::read_link(real)
                    .map(|p| p.as_os_str().as_bytes().to_vec())
                    .unwrap_or_default();
            }
            Kind::Special => {}
        }
        self.entries.insert(name, entry);
        Ok(())
    }

    /// Adds what a folder holds; answers its sorted names. An unreadable folder has none.
    fn add_children(&mut self, real: &Path, name: &Path, look: &Look<'_>) -> Vec<u8> {
        let Ok(list) = fs::read_dir(real) else { return b"unreadable".to_vec() };
        let mut names: Vec<_> = list.flatten().map(|item| item.file_name()).collect();
        names.sort();
        if name == Path::new("temp") {
            names.retain(|child| child != CHANNEL);
        }
        let mut listing = Vec::new();
        for child in &names {
            listing.extend_from_slice(child.as_bytes());
            listing.push(0);
            // A child that cannot be looked at is known by its name in the listing.
            let _ = self.add(&real.join(child), name.join(child), look);
        }
        listing
    }
}

impl Entry {
    fn of(meta: &fs::Metadata, real: &Path) -> Self {
        let kind = meta.file_type();
        let kind = if kind.is_file() {
            Kind::File
        } else if kind.is_dir() {
            Kind::Folder
        } else if kind.is_symlink() {
            Kind::Link
        } else {
            debug_assert!(
                kind.is_fifo()
                    || kind.is_socket()
                    || kind.is_char_device()
                    || kind.is_block_device()
            );
            Kind::Special
        };
        Entry {
            kind,
            inode: meta.ino(),
            mode: meta.mode() & 0o7777,
            owner: (meta.uid(), meta.gid()),
            modified: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
            links: meta.nlink(),
            attributes: attributes(real),
            content: Vec::new(),
            likeness: Vec::new(),
            markers: Vec::new(),
        }
    }

    fn read_content(&mut self, real: &Path, meta: &fs::Metadata, look: &Look<'_>) {
        if meta.len() > CONTENT_LIMIT {
            self.content = meta.len().to_le_bytes().to_vec();
            return;
        }
        let mut bytes = Vec::new();
        match fs::File::open(real).and_then(|file| file.take(CONTENT_LIMIT).read_to_end(&mut bytes))
        {
            Ok(_) => {
                self.content = Sha256::digest(&bytes).to_vec();
                self.markers = found(&bytes, look.markers);
                self.likeness = Sha256::digest(without(&bytes, look.varying)).to_vec();
            }
            Err(error) => self.content = error.to_string().into_bytes(),
        }
    }

    /// What this entry has otherwise than the same entry of another arm; content only on demand.
    #[must_use]
    pub fn unlike(&self, other: &Entry, content: bool) -> Option<&'static str> {
        if self.kind != other.kind {
            Some("type")
        } else if self.mode != other.mode {
            Some("mode")
        } else if self.owner != other.owner {
            Some("owner")
        } else if content && self.kind == Kind::File && self.likeness != other.likeness {
            Some("content")
        } else {
            None
        }
    }

    /// What makes an entry `unchanged`; a folder's own listing belongs to it.
    #[must_use]
    pub fn difference(&self, other: &Entry) -> Option<&'static str> {
        self.difference_but_time(other)
            .or_else(|| (self.modified != other.modified).then_some("modification time"))
    }

    /// As [`Entry::difference`], for residue: making and removing a name changes the time of its
    /// folder, and that alone is no residue.
    #[must_use]
    pub fn difference_but_time(&self, other: &Entry) -> Option<&'static str> {
        if self.kind != other.kind {
            Some("type")
        } else if self.inode != other.inode {
            Some("inode")
        } else if self.content != other.content {
            Some("content")
        } else if self.kind == Kind::File && self.links != other.links {
            Some("number of names")
        } else if self.mode != other.mode {
            Some("mode")
        } else if self.owner != other.owner {
            Some("owner")
        } else if self.attributes != other.attributes {
            Some("extended attributes")
        } else {
            None
        }
    }
}

/// Numbers of the markers that stand in `bytes`.
#[must_use]
pub fn found(bytes: &[u8], markers: &[&[u8]]) -> Vec<usize> {
    markers
        .iter()
        .enumerate()
        .filter(|(_, marker)| bytes.windows(marker.len()).any(|window| window == **marker))
        .map(|(number, _)| number)
        .collect()
}

/// The bytes without these words.
fn without(bytes: &[u8], words: &[&[u8]]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        match words.iter().find(|word| !word.is_empty() && rest.starts_with(word)) {
            Some(word) => rest = &rest[word.len()..],
            None => {
                kept.push(*first);
                rest = &rest[1..];
            }
        }
    }
    kept
}

/// Extended attributes of the entry itself; a file system without them has none.
fn attributes(path: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut names = vec![0_u8; 4096];
    let Ok(length) = rustix::fs::llistxattr(path, &mut names) else { return BTreeMap::new() };
    names[..length]
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| {
            let mut value = vec![0_u8; 4096];
            let length = rustix::fs::lgetxattr(path, name, &mut value).unwrap_or(0);
            value.truncate(length);
            (name.to_vec(), value)
        })
        .collect()
}
