//! What this machine is and can do. (Measured in a later commit.)
use std::path::Path;

use sandproof_scenarios::Capability;

/// Facts of this machine.
#[derive(Debug, serde::Serialize)]
pub struct Host {}

/// What is lacking, and what mends it.
#[derive(Debug)]
pub struct Lack {
    /// A lower-case fragment.
    pub what: String,
    /// The command that mends it.
    pub mend: String,
}

impl Host {
    /// Measures.
    pub fn measure(_exe: &Path) -> Host {
        Host {}
    }

    /// Whether this host can.
    ///
    /// # Errors
    /// What is lacking.
    pub fn has(&self, _capability: Capability) -> Result<(), Lack> {
        Ok(())
    }
}
