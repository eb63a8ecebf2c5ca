//! The seccomp program of the command, built before the fork.
//!
//! One program in three parts that fall through to the next: foreign ABIs answer EPERM, calls that
//! lead out of the sandbox answer EPERM (clone3: ENOSYS, so that the C library falls back to
//! clone, whose flags can be seen), and with a blocked network so does every socket that is not
//! local. It must be one program, because the check of architecture inside the last part kills,
//! and of several programs the strictest answer counts.

mod assemble;
mod network;

use std::os::fd::OwnedFd;

use sandproof_scenarios::Network;
use seccompiler::{BpfProgram, apply_filter, sock_filter};

use super::sys;
use assemble::Jump;

use crate::confine::mutant::{self, Mutant};
use crate::confine::refusal::Refusal;

/// `AUDIT_ARCH_*` of the architecture this program is built for.
#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xC000_003E;
/// `AUDIT_ARCH_*` of the architecture this program is built for.
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xC000_00B7;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the filter of calls knows x86-64 and aarch64 only");

/// The bit that marks an x32 call; no native call of any architecture is numbered as high.
const X32: u32 = 0x4000_0000;

/// Flags of clone that make namespaces.
const NEW_NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWTIME)
    .cast_unsigned();

/// Calls that make or enter namespaces, change mounts, work around a filter of calls, or reach the
/// keys of the session.
const CLOSED: [libc::c_long; 21] = [
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_chroot,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
];

/// Newer than the constants of libc.
const OPEN_TREE_ATTR: libc::c_long = 467;

/// Terminal controls that type into another program's input.
const TYPING: [u32; 2] = [0x5412, 0x541C]; // TIOCSTI, TIOCLINUX

/// `prlimit` for another process. The kernel asks for the same user only, so without this the command
/// could end any process outside by its limits, and keep its supervisor from ending what is left.
/// Own limits are asked for as process 0, and limits of others may be read.
fn limits_of_others() -> [sock_filter; 9] {
    const PROCESS: u32 = 0;
    const NEW_LIMIT: u32 = 2;
    [
        assemble::jump_call(libc::SYS_prlimit64, 0, 8),
        assemble::load_low(PROCESS),
        assemble::jump(Jump::Equal, 0, 5, 0),
        assemble::load_low(NEW_LIMIT),
        assemble::jump(Jump::Equal, 0, 0, 2),
        assemble::load_high(NEW_LIMIT),
        assemble::jump(Jump::Equal, 0, 1, 0),
        assemble::answer(libc::EPERM),
        assemble::load_number(),
    ]
}

/// A seccomp program.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    program: BpfProgram,
    /// The same, with sockets of the network held up until a listener denies them.
    heard: Option<BpfProgram>,
}

impl Filter {
    /// Builds it.
    ///
    /// # Errors
    /// The network part does not compile, or this architecture is not known.
    pub(super) fn build(network: Network) -> Result<Self, Refusal> {
        let mut program = if mutant::on(Mutant::ForeignAbiAllowed) { Vec::new() } else { abi() };
        program.extend(lockdown());
        if network == Network::Open || mutant::on(Mutant::SocketFamiliesAllowed) {
            program.push(assemble::allow());
            return Ok(Self { program, heard: None });
        }
        let sockets = network::program()?;
        let heard = program.iter().cloned().chain(sockets.iter().cloned().map(assemble::held_up));
        let heard = Some(heard.collect());
        program.extend(sockets);
        Ok(Self { program, heard })
    }

    /// Installs it for this process and all it starts; gives the listener that hears of denied
    /// sockets, where the kernel has one left.
    ///
    /// # Errors
    /// The kernel has no filters.
    pub(super) fn install(&self) -> Result<Option<OwnedFd>, Refusal> {
        // There may be one already, of whoever started confine: then denials are heard by nobody.
        if let Some(listener) =
            self.heard.as_ref().and_then(|program| sys::filter_with_listener(program).ok())
        {
            return Ok(Some(listener));
        }
        apply_filter(&self.program).map(|()| None).map_err(|error| {
            Refusal::new(
                format!("system calls cannot be filtered ({error})"),
                "use a kernel built with CONFIG_SECCOMP_FILTER",
            )
        })
    }
}

/// A call by a foreign ABI answers EPERM.
fn abi() -> Vec<sock_filter> {
    vec![
        assemble::load_architecture(),
        assemble::jump(Jump::Equal, NATIVE, 1, 0),
        assemble::answer(libc::EPERM),
        assemble::load_number(),
        assemble::jump(Jump::AtLeast, X32, 0, 1),
        assemble::answer(libc::EPERM),
    ]
}

/// Calls that lead out answer EPERM.
fn lockdown() -> Vec<sock_filter> {
    let mut part = vec![assemble::load_number()];
    for number in CLOSED.into_iter().filter(|number| !left_open(*number)) {
        part.extend(assemble::answer_call(number, libc::EPERM));
    }
    let namespaces = if mutant::on(Mutant::NamespacesAllowed) { 0 } else { NEW_NAMESPACES };
    let typing = if mutant::on(Mutant::TypingAllowed) { [u32::MAX; 2] } else { TYPING };
    part.extend(limits_of_others());
    part.extend(assemble::answer_call(libc::SYS_clone3, libc::ENOSYS));
    part.extend([
        assemble::jump_call(libc::SYS_clone, 0, 4),
        assemble::load_low(0),
        assemble::jump(Jump::AnyBit, namespaces, 0, 1),
        assemble::answer(libc::EPERM),
        assemble::load_number(),
        assemble::jump_call(libc::SYS_ioctl, 0, 4),
        assemble::load_low(1),
        assemble::jump(Jump::Equal, typing[0], 1, 0),
        assemble::jump(Jump::Equal, typing[1], 0, 1),
        assemble::answer(libc::EPERM),
    ]);
    part
}

/// Calls that are not closed: none, but for tests of the catalogue.
fn left_open(number: libc::c_long) -> bool {
    match number {
        libc::SYS_unshare | libc::SYS_setns => mutant::on(Mutant::NamespacesAllowed),
        libc::SYS_io_uring_setup | libc::SYS_io_uring_enter | libc::SYS_io_uring_register => {
            mutant::on(Mutant::IoUringAllowed)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
