//! The mark that says "the mounts are there already". Whoever starts a sandbox can set it, so it is
//! no proof of anything: it is not believed, and a start that carries it is refused.

use std::path::Path;

use super::mutant::{self, Mutant};
use super::refusal::Refusal;
use super::surroundings::set;

/// Set by an agent for the second start of its sandbox.
const MARKER: &str = "__GROK_INSIDE_BWRAP";

/// Refuses a start under the marker.
///
/// # Errors
/// It is set.
pub fn refuse() -> Result<(), Refusal> {
    if set(MARKER).is_none() || mutant::on(Mutant::MarkerBelieved) {
        return Ok(());
    }
    let what = "the caller says that the mounts are there already, which proves nothing";
    Err(Refusal::at(what, Path::new(MARKER), "unset it").about_bypass())
}
