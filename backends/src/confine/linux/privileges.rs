//! Gives up every privilege for good.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use crate::confine::mutant::{self, Mutant};
use crate::confine::refusal::Refusal;

/// Drops all capabilities, so that neither this process nor anything it runs regains one.
///
/// # Errors
/// The kernel keeps one.
pub(super) fn give_up() -> Result<(), Refusal> {
    give_up_all().map_err(|error| {
        Refusal::new(format!("privileges cannot be given up ({error})"), "report this")
    })
}

/// A crash leaves no copy of the memory, which may hold what the command was given to read. One byte
/// and not none: a limit of one is what also keeps the kernel from starting a program that takes
/// core dumps outside the sandbox.
///
/// # Errors
/// The kernel keeps the old limit.
pub(super) fn dump_no_core() -> Result<(), Refusal> {
    if mutant::on(Mutant::CoreDumped) {
        return Ok(());
    }
    let none = Rlimit { current: Some(1), maximum: Some(1) };
    setrlimit(Resource::Core, none).or_else(|_| {
        // A limit that is lower already cannot be raised, and need not.
        match getrlimit(Resource::Core).maximum {
            Some(0 | 1) => Ok(()),
            Some(_) | None => Err(Refusal::new("core dumps cannot be switched off", "report this")),
        }
    })
}

fn give_up_all() -> rustix::io::Result<()> {
    set_no_new_privs(true)?;
    clear_ambient_capability_set()?;
    let held = capabilities(None)?;
    if held.effective.contains(CapabilitySet::SETPCAP) {
        clear_bounding_set()?;
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// Up to the last capability this kernel knows. Without it a program of uid 0 would start with
/// every capability again.
fn clear_bounding_set() -> rustix::io::Result<()> {
    for number in 0..64 {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            Err(rustix::io::Errno::INVAL) => break,
            answer => answer?,
        }
    }
    Ok(())
}
