//! Opening, reading and writing.
//!
//! Everything is opened with `O_NONBLOCK`, so that no FIFO or device holds an attempt up.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::READ_LIMIT;
use super::digest::Digest;
use super::failure::{Named, Tried, failed};
use crate::OpenFlag;

/// How long one attempt waits, in all, for data from a FIFO, a terminal or a device.
const PATIENCE: Duration = Duration::from_millis(500);

/// What every opening adds to the flags that are asked for.
const ALWAYS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// Opens read-only and reads all of it.
pub(super) fn read(path: &Path, seen: &mut Digest) -> Tried<()> {
    drain(&open_at(path, OFlags::RDONLY)?, seen)
}

/// Prints the sorted names in a directory, one a line.
pub(super) fn list(path: &Path, seen: &mut Digest) -> Tried<()> {
    names(open_at(path, OFlags::RDONLY | OFlags::DIRECTORY)?, seen)
}

/// Opens with these flags. Then reading goes through the descriptor: by `/proc/self/fd` when it is
/// an `O_PATH` one, names when it is a directory, content otherwise.
pub(super) fn open(
    path: &Path,
    flags: &[OpenFlag],
    then_read: bool,
    seen: &mut Digest,
) -> Tried<()> {
    let mut opened = open_at(path, open_flags(flags)?)?;
    if !then_read {
        return Ok(());
    }
    if flags.contains(&OpenFlag::Path) {
        let again = format!("/proc/self/fd/{}", opened.as_raw_fd());
        opened = open_at(Path::new(&again), OFlags::RDONLY)?;
    }
    let kind = rustix::fs::fstat(&opened).named("fstat")?.st_mode;
    if FileType::from_raw_mode(kind) == FileType::Directory {
        return names(opened, seen);
    }
    drain(&opened, seen)
}

/// Creates an empty file that did not exist.
pub(super) fn create(path: &Path) -> Tried<()> {
    open_at(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL).map(drop)
}

/// Replaces the content, or creates the file.
pub(super) fn write(path: &Path, text: &str) -> Tried<()> {
    put(&open_at(path, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)?, text)
}

/// Adds to the end of an existing file.
pub(super) fn append(path: &Path, text: &str) -> Tried<()> {
    put(&open_at(path, OFlags::WRONLY | OFlags::APPEND)?, text)
}

/// Cuts or extends by path.
pub(super) fn truncate(path: &Path, size: u64) -> Tried<()> {
    let size = i64::try_from(size).map_err(|_| failed("truncate", libc::EFBIG))?;
    nix::unistd::truncate(path, size).named("truncate")
}

/// Reads a descriptor to its end, or to [`READ_LIMIT`].
pub(super) fn drain(from: &impl AsFd, seen: &mut Digest) -> Tried<()> {
    let mut buffer = vec![0; 1 << 16];
    let mut patience = PATIENCE;
    while seen.length() < READ_LIMIT {
        let room = buffer.len().min((READ_LIMIT - seen.length()) as usize);
        match rustix::io::read(from, &mut buffer[..room]) {
            Ok(0) => return Ok(()),
            Ok(count) => seen.take(&buffer[..count]),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if wait(from, libc::POLLIN, &mut patience)? => {}
            // Silence after some data is an end; silence from the start is what was seen.
            Err(Errno::AGAIN) if seen.length() > 0 => return Ok(()),
            Err(errno) => return Err(errno).named("read"),
        }
    }
    Ok(())
}

fn put(to: &OwnedFd, text: &str) -> Tried<()> {
    let mut rest = text.as_bytes();
    let mut patience = PATIENCE;
    while !rest.is_empty() {
        match rustix::io::write(to, rest) {
            Ok(count) => rest = &rest[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if wait(to, libc::POLLOUT, &mut patience)? => {}
            Err(errno) => return Err(errno).named("write"),
        }
    }
    Ok(())
}

/// Waits until the descriptor is ready, for what is left of `patience`. False: it is used up.
fn wait(fd: &impl AsFd, events: i16, patience: &mut Duration) -> Tried<bool> {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    let start = Instant::now();
    let timeout = PollTimeout::try_from(*patience).unwrap_or(PollTimeout::ZERO);
    let mut fds = [PollFd::new(fd.as_fd(), PollFlags::from_bits_truncate(events))];
    let ready = match poll(&mut fds, timeout) {
        Ok(count) => count > 0,
        Err(nix::errno::Errno::EINTR) => true,
        Err(errno) => return Err(errno).named("poll"),
    };
    // A device that claims to be ready and never gives anything must use patience up as well.
    let used = start.elapsed().max(Duration::from_micros(100));
    *patience = patience.saturating_sub(used);
    Ok(ready && !patience.is_zero())
}

fn names(directory: OwnedFd, seen: &mut Digest) -> Tried<()> {
    let mut names = Vec::new();
    for entry in Dir::new(directory).named("getdents64")? {
        let entry = entry.named("getdents64")?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    for name in names {
        seen.take(&name);
        seen.take(b"\n");
    }
    Ok(())
}

fn open_at(path: &Path, flags: OFlags) -> Tried<OwnedFd> {
    rustix::fs::openat(CWD, path, flags | ALWAYS, Mode::from_raw_mode(0o644)).named("openat")
}

/// The flags of `open(2)`; without `r`, `w` or `rw` it is for reading.
fn open_flags(flags: &[OpenFlag]) -> Tried<OFlags> {
    let has = |flag| flags.contains(&flag);
    let mode = match (has(OpenFlag::R), has(OpenFlag::W), has(OpenFlag::Rw)) {
        (_, _, true) | (true, true, false) => OFlags::RDWR,
        (false, true, false) => OFlags::WRONLY,
        (_, false, false) => OFlags::RDONLY,
    };
    flags.iter().try_fold(mode, |all, flag| Ok(all | extra_flag(*flag)?))
}

fn extra_flag(flag: OpenFlag) -> Tried<OFlags> {
    Ok(match flag {
        OpenFlag::R | OpenFlag::W | OpenFlag::Rw => OFlags::empty(),
        OpenFlag::Dir => OFlags::DIRECTORY,
        OpenFlag::Create => OFlags::CREATE,
        OpenFlag::Exclusive => OFlags::EXCL,
        OpenFlag::Truncate => OFlags::TRUNC,
        OpenFlag::Append => OFlags::APPEND,
        OpenFlag::Nofollow => OFlags::NOFOLLOW,
        #[cfg(target_os = "linux")]
        OpenFlag::Path => OFlags::PATH,
        #[cfg(target_os = "linux")]
        OpenFlag::Tmpfile => OFlags::TMPFILE,
        #[cfg(not(target_os = "linux"))]
        OpenFlag::Path | OpenFlag::Tmpfile => {
            return Err(super::failure::unavailable("only Linux opens with path or tmpfile"));
        }
    })
}
