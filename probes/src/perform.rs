//! Performs one [`Attempt`] by direct system calls and says what it saw.
//!
//! Runs in the forked child of the probe: an attempt may leave the process changed, or dead.

mod detour;
mod digest;
mod failure;
mod file;
mod fs;
mod kernel;
mod net;
mod process;
mod program;
mod ring;

use crate::{Attempt, Observation, Outcome};
use digest::Digest;
use failure::Tried;

/// The most that is taken from one file or device. What lies behind it is not seen; the length of
/// the observation then equals this limit.
pub const READ_LIMIT: u64 = 16 << 20;

/// At most this many different words travel with an observation. Output with more of them is
/// answered as [`Outcome::Unavailable`], for a marker might be among those left out.
pub const WORD_LIMIT: usize = 4096;

/// Performs one attempt in this very process.
#[must_use]
pub fn perform(attempt: &Attempt) -> Observation {
    let mut seen = Digest::default();
    let outcome = match attempt_once(attempt, &mut seen) {
        Ok(()) => Outcome::Done,
        Err(outcome) => outcome,
    };
    seen.observation(outcome)
}

fn attempt_once(attempt: &Attempt, seen: &mut Digest) -> Tried<()> {
    match attempt {
        Attempt::Read { path } => file::read(path, seen),
        Attempt::List { path } => file::list(path, seen),
        Attempt::Open { path, flags, then_read } => file::open(path, flags, *then_read, seen),
        Attempt::Create { path } => file::create(path),
        Attempt::Write { path, text } => file::write(path, text),
        Attempt::Append { path, text } => file::append(path, text),
        Attempt::Truncate { path, size } => file::truncate(path, *size),
        Attempt::Stat { path } => fs::stat(path, seen),
        Attempt::Unlink { path } => fs::unlink(path),
        Attempt::Rmdir { path } => fs::rmdir(path),
        Attempt::Mkdir { path } => fs::mkdir(path),
        Attempt::Readlink { path } => fs::readlink(path, seen),
        Attempt::Rename { from, to, exchange } => fs::rename(from, to, *exchange),
        Attempt::Link { from, to } => fs::link(from, to),
        Attempt::Symlink { from, to } => fs::symlink(from, to),
        Attempt::Chmod { path, mode } => fs::chmod(path, *mode),
        Attempt::Chown { path, uid, gid } => fs::chown(path, *uid, *gid),
        Attempt::Utime { path, seconds } => fs::utime(path, *seconds),
        Attempt::Xattr { path, name, value } => fs::xattr(path, name, value),
        Attempt::Mknod { path, kind } => fs::mknod(path, *kind),
        Attempt::Exec { argv } => program::exec(argv, seen),
        Attempt::Shell { script, cwd, env } => program::shell(script, cwd, env, seen),
        Attempt::Connect { to, text } => net::connect(to, text, seen),
        Attempt::ConnectMptcp { to, text } => net::connect_mptcp(to, text, seen),
        Attempt::Send { to, text, by } => net::send(to, text, *by, seen),
        Attempt::Receive { from, to, text } => net::receive(from, to, text, seen),
        Attempt::Bind { at } => net::bind(at),
        Attempt::Signal { pid, signal } => process::signal(*pid, *signal),
        Attempt::Ptrace { pid } => process::ptrace(*pid),
        Attempt::ProcessRead { pid, address, length } => {
            process::read(*pid, *address, *length, seen)
        }
        Attempt::ProcessWrite { pid, address } => process::write(*pid, *address),
        Attempt::PidfdGetfd { pid } => process::take_output(*pid),
        Attempt::RingRead { path } => ring::read(path, seen),
        Attempt::RingConnect { to, text } => ring::connect(to, text),
        Attempt::HandleRead { path } => detour::handle(path, seen),
        Attempt::TreeRead { tree, file } => detour::tree(tree, file, seen),
        Attempt::ReadAt { fd, path } => detour::below(*fd, path.as_deref(), seen),
        Attempt::Syscall { abi, number, args } => kernel::syscall(*abi, *number, args, seen),
        Attempt::Ioctl { fd, request, arg, text } => {
            kernel::ioctl(*fd, *request, *arg, text.as_deref())
        }
        Attempt::Unshare { namespaces } => kernel::unshare(namespaces),
        Attempt::Mount { source, target, fstype, flags, data } => {
            kernel::mount(source, target, fstype, flags, data)
        }
        Attempt::Umount { target, detach } => kernel::umount(target, *detach),
    }
}
