//! Reaching for other processes: signals, tracing, reading their environment and memory.

use super::digest::Digest;
use super::failure::{Named, Tried, unavailable};

/// The most that is asked of the memory of another process.
#[cfg(target_os = "linux")]
const MEMORY_LIMIT: u64 = 1 << 20;

/// Sends a signal to one process; 0 only asks.
pub(super) fn signal(pid: i32, signal: i32) -> Tried<()> {
    if pid < 1 {
        // Such a number means a group, or everyone: no attempt is allowed to reach the harness.
        return Err(unavailable(format!("{pid} is not the pid of one process")));
    }
    crate::sys::kill(pid, signal).named("kill")
}

/// Attaches, and stays attached until this process ends.
#[cfg(target_os = "linux")]
pub(super) fn ptrace(pid: i32) -> Tried<()> {
    use nix::sys::ptrace;
    let pid = nix::unistd::Pid::from_raw(pid);
    ptrace::seize(pid, ptrace::Options::empty()).named("ptrace")
}

/// Other systems have no `PTRACE_SEIZE`.
#[cfg(not(target_os = "linux"))]
pub(super) fn ptrace(_: i32) -> Tried<()> {
    Err(unavailable("PTRACE_SEIZE exists on Linux only"))
}

/// Reads `/proc/PID/environ`, then memory at `address` when it is not 0. It succeeded when either
/// gave bytes; else the first errno counts.
#[cfg(target_os = "linux")]
pub(super) fn read(pid: i32, address: u64, length: u64, seen: &mut Digest) -> Tried<()> {
    let environment = environment(pid, seen);
    let memory = if address == 0 { Ok(()) } else { memory(pid, address, length, seen) };
    if seen.length() > 0 {
        return Ok(());
    }
    environment.and(memory)?;
    Err(unavailable(format!("process {pid} showed nothing: ended, or no environment")))
}

/// Other systems have neither.
#[cfg(not(target_os = "linux"))]
pub(super) fn read(_: i32, _: u64, _: u64, _: &mut Digest) -> Tried<()> {
    Err(unavailable("only Linux shows environment and memory of other processes"))
}

#[cfg(target_os = "linux")]
fn environment(pid: i32, seen: &mut Digest) -> Tried<()> {
    super::file::read(std::path::Path::new(&format!("/proc/{pid}/environ")), seen)
}

#[cfg(target_os = "linux")]
fn memory(pid: i32, address: u64, length: u64, seen: &mut Digest) -> Tried<()> {
    use nix::sys::uio::{RemoteIoVec, process_vm_readv};
    let length = length.min(MEMORY_LIMIT) as usize;
    let mut bytes = vec![0; length];
    let there = RemoteIoVec { base: address as usize, len: length };
    let mut here = [std::io::IoSliceMut::new(&mut bytes)];
    let count = process_vm_readv(nix::unistd::Pid::from_raw(pid), &mut here, &[there])
        .named("process_vm_readv")?;
    // What lies before and after must not look like one run of hex digits.
    seen.take(b"\n");
    seen.take(&bytes[..count]);
    Ok(())
}

/// Writes a zero byte at `address`; 0 means that nobody knows where.
#[cfg(target_os = "linux")]
pub(super) fn write(pid: i32, address: u64) -> Tried<()> {
    use nix::sys::uio::{RemoteIoVec, process_vm_writev};
    if address == 0 {
        return Err(unavailable(format!("process {pid} holds nothing to write to")));
    }
    let there = RemoteIoVec { base: address as usize, len: 1 };
    let here = [std::io::IoSlice::new(&[0])];
    process_vm_writev(nix::unistd::Pid::from_raw(pid), &here, &[there])
        .map(drop)
        .named("process_vm_writev")
}

/// Takes a copy of the standard output of this process and writes a line to it.
#[cfg(target_os = "linux")]
pub(super) fn take_output(pid: i32) -> Tried<()> {
    use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
    let pid = Pid::from_raw(pid).ok_or_else(|| unavailable("no process has the pid 0"))?;
    let process = pidfd_open(pid, PidfdFlags::empty()).named("pidfd_open")?;
    let output = pidfd_getfd(&process, 1, PidfdGetfdFlags::empty()).named("pidfd_getfd")?;
    rustix::io::write(&output, b"taken\n").map(drop).named("write")
}

/// Other systems have no such call.
#[cfg(not(target_os = "linux"))]
pub(super) fn write(_: i32, _: u64) -> Tried<()> {
    Err(unavailable("only Linux writes into other processes by one call"))
}

/// Other systems have no such call.
#[cfg(not(target_os = "linux"))]
pub(super) fn take_output(_: i32) -> Tried<()> {
    Err(unavailable("only Linux has pidfd_getfd"))
}
