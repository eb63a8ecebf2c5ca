//! Programs: `exec` and `shell`, waited for, with what they print.
//!
//! A program reads from a pipe that is always at its end, and writes both its outputs into one
//! pipe; nothing of the protocol reaches it.

use std::collections::BTreeMap;
use std::io::{self, PipeReader, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::digest::Digest;
use super::failure::{Named, Tried, unavailable};
use crate::Outcome;

/// A pipe never holds more than this, unless someone privileged enlarged it. So much is read after
/// the program has ended, and no more: a background process may print for ever.
const PIPE_SIZE: usize = 1 << 20;

/// How often a program is asked whether it has ended, where the kernel cannot tell by itself.
const ASK_EVERY_MS: u8 = 5;

/// Runs a program without a shell.
pub(super) fn exec(argv: &[String], seen: &mut Digest) -> Tried<()> {
    let (program, rest) = argv.split_first().ok_or_else(|| unavailable("argv is empty"))?;
    let mut command = Command::new(program);
    command.args(rest);
    run(command, seen).named("execve").and_then(succeeded)
}

/// Runs `/bin/sh -c SCRIPT` in `cwd`.
pub(super) fn shell(
    script: &str,
    cwd: &Path,
    env: &BTreeMap<String, String>,
    seen: &mut Digest,
) -> Tried<()> {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script).current_dir(cwd).envs(env);
    let ended = run(command, seen);
    // One error stands for chdir and execve: only a directory that cannot be entered is the first.
    let entered = nix::unistd::access(cwd, nix::unistd::AccessFlags::X_OK).is_ok();
    ended.named(if entered { "execve" } else { "chdir" }).and_then(succeeded)
}

fn succeeded(status: ExitStatus) -> Tried<()> {
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(()),
        (Some(code), _) => Err(Outcome::Exit { code }),
        (None, Some(number)) => Err(Outcome::Signal { number }),
        (None, None) => Err(unavailable(format!("the program ended as {status}"))),
    }
}

/// Starts, reads until the program has ended and its output is drained, and waits.
fn run(mut command: Command, seen: &mut Digest) -> io::Result<ExitStatus> {
    let (stdin, end) = io::pipe()?;
    drop(end);
    let (mut output, stdout) = io::pipe()?;
    let stderr = stdout.try_clone()?;
    let mut child = command.stdin(stdin).stdout(stdout).stderr(stderr).spawn()?;
    drop(command); // it keeps its ends of the pipes, and so the output would have no end
    follow(&mut child, &mut output, seen)?;
    child.wait()
}

/// Reads the output until its end, or until the program has ended and nothing is left in the pipe:
/// a background process may hold it open.
fn follow(child: &mut Child, output: &mut PipeReader, seen: &mut Digest) -> io::Result<()> {
    let handle = handle(child);
    let mut buffer = [0; 1 << 14];
    loop {
        match first(output.as_fd(), handle.as_ref(), child)? {
            Ready::Output => match output.read(&mut buffer)? {
                0 => return Ok(()),
                count => seen.take(&buffer[..count]),
            },
            Ready::Ended => return rest(output, seen),
        }
    }
}

enum Ready {
    Output,
    Ended,
}

/// Waits for whichever comes first. Output that is there goes before the end.
fn first(output: BorrowedFd<'_>, handle: Option<&OwnedFd>, child: &mut Child) -> io::Result<Ready> {
    loop {
        let wanted = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let timeout = match handle {
            Some(_) => PollTimeout::NONE,
            None => PollTimeout::from(ASK_EVERY_MS),
        };
        let mut fds = match handle {
            Some(handle) => vec![wanted(output), wanted(handle.as_fd())],
            None => vec![wanted(output)],
        };
        match poll(&mut fds, timeout) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut ready = fds.iter().map(|fd| fd.any().unwrap_or(false));
        if ready.next() == Some(true) {
            return Ok(Ready::Output);
        }
        if ready.next() == Some(true) || (handle.is_none() && child.try_wait()?.is_some()) {
            return Ok(Ready::Ended);
        }
    }
}

/// Takes what is in the pipe, without waiting for more.
fn rest(output: &mut PipeReader, seen: &mut Digest) -> io::Result<()> {
    rustix::io::ioctl_fionbio(&*output, true)?;
    let mut buffer = [0; 1 << 14];
    let mut taken = 0;
    while taken < PIPE_SIZE {
        match output.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                seen.take(&buffer[..count]);
                taken += count;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A descriptor that becomes ready when the program ends; none on old kernels and under filters.
#[cfg(target_os = "linux")]
fn handle(child: &Child) -> Option<OwnedFd> {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn handle(_: &Child) -> Option<OwnedFd> {
    None
}
