//! Lines over a pair of descriptors, in buffers that are wiped after use: they carry the nonce.

use std::io::{self, Write};
use std::os::fd::OwnedFd;

use rustix::io::Errno;

/// The longest line either side may send. A longer one is skipped.
pub(super) const LINE_LIMIT: usize = 1 << 20;

/// Long enough for most lines.
const FIRST_SIZE: usize = 1 << 13;

/// Where lines come from and where they go.
#[derive(Debug)]
pub(super) struct Link {
    /// Lines that come in.
    pub(super) lines: Lines,
    /// Lines that go out.
    pub(super) out: Out,
}

impl Link {
    /// A link over these two.
    pub(super) fn new(input: OwnedFd, output: OwnedFd) -> Self {
        Self { lines: Lines::new(input), out: Out::new(output) }
    }
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct Lines {
    from: OwnedFd,
    /// Never resized in place: a vector that moves leaves copies of the nonce behind.
    buffer: Vec<u8>,
    /// What is read and not yet handed on.
    start: usize,
    end: usize,
    /// Inside a line that is too long.
    skipping: bool,
}

impl Lines {
    fn new(from: OwnedFd) -> Self {
        Self { from, buffer: vec![0; FIRST_SIZE], start: 0, end: 0, skipping: false }
    }

    /// Hands the next line, without its end, to `parse`, then wipes it. `None`: nothing follows.
    pub(super) fn next<T>(&mut self, parse: impl FnOnce(&[u8]) -> T) -> io::Result<Option<T>> {
        let mut searched = self.start;
        loop {
            let fresh = &self.buffer[searched..self.end];
            if let Some(length) = fresh.iter().position(|&byte| byte == b'\n') {
                let line = self.start..searched + length;
                if !std::mem::take(&mut self.skipping) {
                    let parsed = parse(&self.buffer[line.clone()]);
                    self.consume(line.end + 1);
                    return Ok(Some(parsed));
                }
                self.consume(line.end + 1);
                searched = self.start;
                continue;
            }
            self.make_room();
            searched = self.end;
            match rustix::io::read(&self.from, &mut self.buffer[self.end..]) {
                Ok(0) => return Ok(None),
                Ok(count) => self.end += count,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Wipes everything before `start`, the new beginning.
    fn consume(&mut self, start: usize) {
        self.buffer[self.start..start].fill(0);
        self.start = start;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Makes sure that something can be read behind `end`: in a larger buffer, up to the limit.
    fn make_room(&mut self) {
        if self.end < self.buffer.len() {
            return;
        }
        let length = self.end - self.start;
        if length >= LINE_LIMIT {
            self.skipping = true;
            self.consume(self.end);
            return;
        }
        let mut larger = vec![0; (2 * length).clamp(FIRST_SIZE, LINE_LIMIT)];
        larger[..length].copy_from_slice(&self.buffer[self.start..self.end]);
        wipe(&mut self.buffer);
        self.buffer = larger;
        (self.start, self.end) = (0, length);
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        wipe(&mut self.buffer[self.start..self.end]);
    }
}

/// Writes lines, through a buffer that stays in place.
#[derive(Debug)]
pub(super) struct Out {
    to: OwnedFd,
    buffer: Vec<u8>,
    used: usize,
}

impl Out {
    fn new(to: OwnedFd) -> Self {
        Self { to, buffer: vec![0; FIRST_SIZE], used: 0 }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.used == self.buffer.len() {
            self.flush()?;
        }
        let count = bytes.len().min(self.buffer.len() - self.used);
        self.buffer[self.used..self.used + count].copy_from_slice(&bytes[..count]);
        self.used += count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut sent = 0;
        let mut result = Ok(());
        while sent < self.used && result.is_ok() {
            match rustix::io::write(&self.to, &self.buffer[sent..self.used]) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(errno) => result = Err(errno.into()),
            }
        }
        wipe(&mut self.buffer[..self.used]);
        self.used = 0;
        result
    }
}

/// Overwrites bytes, also right before they are freed.
pub(super) fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    std::hint::black_box(bytes);
}
