//! Opens planned paths exactly: no symlink is followed any more.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

/// A handle on the file at a canonical path, without opening its content. Fails when a symlink
/// has taken the place of one of its folders, or of the file unless `link` is meant.
pub(super) fn exactly(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A planned path may end in a symlink (a denied link); NO_SYMLINKS would refuse that, but
    // lets it pass together with O_PATH and O_NOFOLLOW.
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, path, flags, Mode::empty(), resolve) {
        Err(Errno::NOSYS) => Ok(openat(CWD, path, flags, Mode::empty())?),
        answer => Ok(answer?),
    }
}
