//! The supervisor's side: one loop over its socket and its children.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::SigSet;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use sandproof_probes::sys;

use super::tree::{Children, kill_tree, names};
use super::{Event, Order, receive, send};

/// A subject's helpers may take this long to follow it; what is still there then is residue. Waited
/// for in full only where something is left; long beside what `linger.sh` of
/// `process/nothing-outlives-the-command` takes, so that its control arm works on a busy host.
const GRACE: Duration = Duration::from_secs(3);

/// Descriptors of the supervisor itself are not below this number.
pub(super) const HIGH: i32 = 800;

/// Why supervising one launch came to an end.
enum Why {
    /// The subject ended.
    Ended(WaitStatus),
    /// It was to be killed.
    Killed,
    /// Sandproof is gone.
    Orphaned,
}

/// Body of the hidden command: serves orders from stdin until it ends.
pub fn main() -> i32 {
    match serve() {
        Ok(()) => 0,
        Err(error) => {
            // Nobody may be left to read it; the socket's end tells sandproof as well.
            let _ = io::Write::write_fmt(
                &mut io::stderr(),
                format_args!("sandproof: supervisor: {error}\n"),
            );
            3
        }
    }
}

fn serve() -> io::Result<()> {
    let children = Children::watch()?;
    let served = serve_orders(&children);
    kill_tree(&children)?;
    served
}

fn serve_orders(children: &Children) -> io::Result<()> {
    // High numbers: a scenario may want any low one for a descriptor that is inherited.
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), HIGH)?;
    // Elsewhere there is none, and a subject's group is all that can be killed.
    #[cfg(target_os = "linux")]
    sys::set_child_subreaper(true)?;
    loop {
        let (order, fds) = receive::<Order>(socket.as_fd())?;
        match order {
            None => return Ok(()),
            Some(Order::Kill) => {}
            Some(Order::Start { argv, env, cwd, inherited, terminal }) => {
                let mut command = Command::new(argv.first().map_or("", String::as_str));
                command.args(argv.iter().skip(1)).env_clear().envs(&env).current_dir(cwd);
                let started = start(command, fds, &inherited, terminal);
                if !run(&socket, children, started)? {
                    return Ok(());
                }
            }
        }
    }
}

/// Supervises one launch to its end; false when sandproof is gone.
fn run(socket: &OwnedFd, children: &Children, started: io::Result<Pid>) -> io::Result<bool> {
    let pid = match started {
        Ok(pid) => pid,
        Err(error) => {
            send(socket.as_fd(), &Event::Unstartable(error.to_string()), &[])?;
            return Ok(true);
        }
    };
    send(socket.as_fd(), &Event::Started, &[])?;
    let why = watch(socket, children, pid)?;
    let mut leftovers = Vec::new();
    if matches!(why, Why::Ended(_)) && !all_follow(children)? {
        leftovers = names();
    }
    kill_tree(children)?;
    let (code, signal) = match why {
        Why::Ended(WaitStatus::Exited(_, code)) => (Some(code), None),
        Why::Ended(WaitStatus::Signaled(_, signal, _)) => (None, Some(signal as i32)),
        Why::Ended(_) | Why::Killed => (None, None),
        Why::Orphaned => return Ok(false),
    };
    send(socket.as_fd(), &Event::Ended { code, signal, leftovers }, &[])?;
    Ok(true)
}

/// Starts the subject with exactly the descriptors it is to have.
fn start(
    mut command: Command,
    fds: Vec<OwnedFd>,
    inherited: &[i32],
    terminal: bool,
) -> io::Result<Pid> {
    let mut fds = fds.into_iter();
    let mut next = || fds.next().ok_or_else(|| io::Error::other("a descriptor is missing"));
    command.stdin(Stdio::from(next()?)).stdout(Stdio::from(next()?)).stderr(Stdio::from(next()?));
    // Moved out of the way first: a number wanted later may be taken by one that came along.
    let mut high = || Ok::<_, io::Error>(rustix::io::fcntl_dupfd_cloexec(next()?, HIGH)?);
    let moved = inherited.iter().map(|_| high()).collect::<io::Result<Vec<OwnedFd>>>()?;
    let tty = if terminal { Some(high()?) } else { None };
    if tty.is_none() {
        // With a terminal it becomes a session leader, which a group leader cannot.
        command.process_group(0);
    }
    sys::before_exec(&mut command, move || {
        // SIGCHLD is blocked here, and a mask is inherited: a shell would wait for ever.
        SigSet::empty().thread_set_mask()?;
        if let Some(tty) = &tty {
            sys::controlling_terminal(tty)?;
        }
        #[cfg(target_os = "linux")]
        sys::set_pdeathsig(Some(nix::sys::signal::Signal::SIGKILL))?;
        Ok(())
    });
    // Placed here and not in the child, where a number may belong to the pipe that tells of a
    // failed exec.
    let placed = inherited.iter().zip(&moved);
    placed.clone().try_for_each(|(number, fd)| sys::place(fd.as_fd(), *number))?;
    let child = command.spawn();
    placed.for_each(|(number, _)| {
        let _ = nix::unistd::close(*number);
    });
    Ok(Pid::from_raw(i32::try_from(child?.id()).map_err(io::Error::other)?))
}

/// Waits until the subject ends, is to be killed, or sandproof is gone.
fn watch(socket: &OwnedFd, children: &Children, subject: Pid) -> io::Result<Why> {
    loop {
        if let Some(status) = reap(subject)? {
            return Ok(Why::Ended(status));
        }
        if children.wait(Some(socket.as_fd()), None)? {
            return Ok(match receive::<Order>(socket.as_fd())?.0 {
                None => Why::Orphaned,
                Some(Order::Kill | Order::Start { .. }) => Why::Killed,
            });
        }
    }
}

/// Reaps what has ended; answers the status of the subject when it is among that.
fn reap(subject: Pid) -> io::Result<Option<WaitStatus>> {
    let mut ended = None;
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return Ok(ended),
            Ok(status) if status.pid() == Some(subject) => ended = Some(status),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// True when every other process of the subject ends by itself within [`GRACE`].
fn all_follow(children: &Children) -> io::Result<bool> {
    let deadline = Instant::now() + GRACE;
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::ECHILD) => return Ok(true),
            Ok(WaitStatus::StillAlive) => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Ok(false);
                }
                children.wait(None, Some(left))?;
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}
