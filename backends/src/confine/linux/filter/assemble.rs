//! Instructions of classic BPF, as seccomp runs them over `struct seccomp_data`.

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_ERRNO, SECCOMP_RET_USER_NOTIF,
};
use seccompiler::sock_filter;

/// What a jump tests, against the loaded word.
#[derive(Clone, Copy, Debug)]
pub(super) enum Jump {
    /// Equal.
    Equal,
    /// Not below.
    AtLeast,
    /// A bit in common.
    AnyBit,
}

/// Offset of the call number in `struct seccomp_data`.
const NUMBER: u32 = 0;
/// Offset of the architecture.
const ARCHITECTURE: u32 = 4;
/// Offset of the first argument, 8 bytes each.
const ARGUMENTS: u32 = 16;
/// Offset of the low half of an argument within it.
const LOW: u32 = if cfg!(target_endian = "little") { 0 } else { 4 };

fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    // Every code is a constant far below 2^16.
    sock_filter { code: u16::try_from(code).unwrap_or(u16::MAX), jt, jf, k }
}

pub(super) fn load_number() -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, NUMBER, 0, 0)
}

pub(super) fn load_architecture() -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, ARCHITECTURE, 0, 0)
}

/// The low half of an argument; the kernel ignores the high half of an `int`.
pub(super) fn load_low(argument: u32) -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, ARGUMENTS + 8 * argument + LOW, 0, 0)
}

/// The high half, for what is as wide as a pointer.
pub(super) fn load_high(argument: u32) -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, ARGUMENTS + 8 * argument + (4 - LOW), 0, 0)
}

/// Skips `yes` instructions when the test holds, else `no`.
pub(super) fn jump(test: Jump, value: u32, yes: u8, no: u8) -> sock_filter {
    let test = match test {
        Jump::Equal => BPF_JEQ,
        Jump::AtLeast => BPF_JGE,
        Jump::AnyBit => BPF_JSET,
    };
    instruction(BPF_JMP | test | BPF_K, value, yes, no)
}

/// A jump on the loaded call number.
pub(super) fn jump_call(number: libc::c_long, yes: u8, no: u8) -> sock_filter {
    // Call numbers are small and not negative.
    jump(Jump::Equal, u32::try_from(number).unwrap_or(u32::MAX), yes, no)
}

pub(super) fn answer(errno: i32) -> sock_filter {
    instruction(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errno.cast_unsigned(), 0, 0)
}

/// One call, whatever its arguments, answers `errno`.
pub(super) fn answer_call(number: libc::c_long, errno: i32) -> [sock_filter; 2] {
    [jump_call(number, 0, 1), answer(errno)]
}

pub(super) fn allow() -> sock_filter {
    instruction(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0)
}

/// The same instruction; an answer of EPERM becomes a question to the listener.
pub(super) fn held_up(instruction: sock_filter) -> sock_filter {
    if instruction == answer(libc::EPERM) {
        return sock_filter { k: SECCOMP_RET_USER_NOTIF, ..instruction };
    }
    instruction
}
