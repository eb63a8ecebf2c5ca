//! Systems other than Linux have none of these mechanisms.

/// No i386 table.
#[must_use]
pub fn ia32() -> bool {
    false
}

/// No x32 table.
#[must_use]
pub fn x32() -> bool {
    false
}

/// No `io_uring`.
#[must_use]
pub fn io_uring() -> bool {
    false
}

/// No Multipath TCP by socket.
#[must_use]
pub fn mptcp() -> bool {
    false
}

/// No namespaces.
pub fn userns() -> Result<(), i32> {
    Err(libc::ENOSYS)
}

/// No seccomp.
#[must_use]
pub fn seccomp() -> bool {
    false
}

/// No Landlock.
#[must_use]
pub fn landlock_abi() -> Option<u32> {
    None
}

/// No Landlock.
#[must_use]
pub fn landlock_errata() -> u32 {
    0
}

/// Scenarios about terminals run on Linux only.
#[must_use]
pub fn tty() -> bool {
    false
}
