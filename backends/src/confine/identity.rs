//! [`Identity`]: which file a path stood for when it was planned.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Device, inode, type and link count of a file, taken without following a symlink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identity {
    device: u64,
    inode: u64,
    kind: u32,
    links: u64,
}

/// The bits of a mode that hold the file type, on every Unix.
const TYPE: u32 = 0o170_000;

impl Identity {
    /// The file that stands at this path now.
    ///
    /// # Errors
    /// There is none, or it cannot be looked at.
    pub fn of(path: &Path) -> io::Result<Self> {
        fs::symlink_metadata(path).map(|meta| Self::from(&meta))
    }

    /// True for the file of this device and inode.
    #[must_use]
    pub fn is(&self, device: u64, inode: u64) -> bool {
        self.device == device && self.inode == inode
    }
}

impl From<&Metadata> for Identity {
    fn from(meta: &Metadata) -> Self {
        let folder = meta.is_dir();
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            kind: meta.mode() & TYPE,
            // A folder gains a link with every folder made in it.
            links: if folder { 0 } else { meta.nlink() },
        }
    }
}
