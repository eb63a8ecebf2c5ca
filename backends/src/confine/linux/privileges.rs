//! Gives up every privilege for good.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

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
