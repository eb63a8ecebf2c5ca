//! Waivers: known failures, applied to records as they come.

use std::path::Path;

use crate::command::Failure;
use crate::consume::Amend;

/// What `--waivers` does to records.
pub(super) fn amend(dir: Option<&Path>) -> Result<Amend<'static>, Failure> {
    match dir {
        None => Ok(Box::new(|record| record)),
        Some(_) => Err(Failure::usage("--waivers is not built yet")),
    }
}
