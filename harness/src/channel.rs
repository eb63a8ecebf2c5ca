//! The bytes below a session: bounded non-blocking inputs, and the folder of named pipes that
//! carries the protocol where a subject passes no stdin.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// A subject may say this much at a time; what came before is thrown away.
const LIMIT: usize = 1024 * 1024;

/// Output of a subject that is no protocol line is kept up to this size.
const NOISE_LIMIT: usize = 16 * 1024;

/// One stream of bytes from the subject.
#[derive(Debug)]
pub struct Input {
    file: File,
    bytes: Vec<u8>,
    noise: Vec<u8>,
    open: bool,
}

impl Input {
    /// Reads from this descriptor without ever blocking.
    ///
    /// # Errors
    /// As `fcntl(2)`.
    pub fn new(fd: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        Ok(Self { file: fd.into(), bytes: Vec::new(), noise: Vec::new(), open: true })
    }

    /// Takes what is there.
    pub fn fill(&mut self) {
        let mut buffer = [0; 16 * 1024];
        while self.open {
            match self.file.read(&mut buffer) {
                Ok(0) => self.open = false,
                Ok(length) => {
                    self.bytes.extend_from_slice(&buffer[..length]);
                    // The end is kept: an answer may follow any amount of noise.
                    if self.bytes.len() > 2 * LIMIT {
                        self.bytes.drain(..self.bytes.len() - LIMIT);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.open = false,
            }
        }
    }

    /// The next whole line, without its end.
    pub fn line(&mut self) -> Option<Vec<u8>> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n')?;
        let mut line: Vec<u8> = self.bytes.drain(..=end).collect();
        line.pop();
        Some(line)
    }

    /// All whole lines.
    pub fn lines(&mut self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.line()).collect()
    }

    /// Keeps a line that is no answer.
    pub fn noise(&mut self, line: &[u8]) {
        // The probe begins every answer on a new line, so that noise cannot swallow it.
        if !line.is_empty() && self.noise.len() + line.len() < NOISE_LIMIT {
            self.noise.extend_from_slice(line);
            self.noise.push(b'\n');
        }
    }

    /// Lines that were no answers.
    #[must_use]
    pub fn noise_so_far(&self) -> &[u8] {
        &self.noise
    }

    /// Everything not taken as a line.
    #[must_use]
    pub fn all(&self) -> &[u8] {
        &self.bytes[..self.bytes.len().min(NOISE_LIMIT)]
    }
}

/// A folder with the named pipes `ask` and `answer`. They go when it is dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    ask: File,
    /// What comes back.
    pub input: Input,
    /// Its own nonce: another one than that of stdin, since the folder can be read by anybody.
    pub nonce: String,
    /// The probe has answered here.
    pub in_use: bool,
}

impl Folder {
    /// Makes the pipes.
    ///
    /// # Errors
    /// As `mkfifo(3)`.
    pub fn create(path: &Path) -> io::Result<Self> {
        let pipe = |name: &str| -> io::Result<File> {
            let path = path.join(name);
            nix::unistd::mkfifo(&path, nix::sys::stat::Mode::from_bits_truncate(0o600))?;
            // Both ways, or opening would wait for the other side.
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path)
        };
        let (ask, answer) = (pipe("ask")?, pipe("answer")?);
        Ok(Self {
            path: path.to_path_buf(),
            ask,
            input: Input::new(answer.into())?,
            nonce: String::new(),
            in_use: false,
        })
    }

    /// Writes a request.
    ///
    /// # Errors
    /// As `write(2)`.
    pub fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.ask.write_all(line)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        for name in ["ask", "answer"] {
            let _ = std::fs::remove_file(self.path.join(name));
        }
    }
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// There is something to read, or an input ended.
    Output,
    /// The supervisor has an event.
    Event,
    /// Time is over.
    Deadline,
}

/// Waits for any of these.
///
/// # Errors
/// As `poll(2)`.
pub fn wait_any(
    inputs: [&Input; 2],
    folder: Option<&Input>,
    events: BorrowedFd<'_>,
    deadline: Instant,
) -> io::Result<Woken> {
    let mut fds = vec![PollFd::new(events, PollFlags::POLLIN)];
    let open = inputs.into_iter().chain(folder).filter(|input| input.open);
    fds.extend(open.map(|input| PollFd::new(input.file.as_fd(), PollFlags::POLLIN)));
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Woken::Deadline);
        }
        let timeout = PollTimeout::try_from(left.as_millis() + 1).unwrap_or(PollTimeout::MAX);
        match poll(&mut fds, timeout) {
            Err(Errno::EINTR) | Ok(0) => {}
            Err(errno) => return Err(errno.into()),
            Ok(_) => break,
        }
    }
    let spoke = |fd: &PollFd<'_>| fd.revents().is_some_and(|events| !events.is_empty());
    Ok(if fds.iter().skip(1).any(spoke) { Woken::Output } else { Woken::Event })
}
