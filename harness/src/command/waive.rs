//! Waivers: known failures, applied when all records are there.

use std::path::Path;

use sandproof_reports::waive;
use sandproof_scenarios::waiver::load_waivers;

use crate::command::Failure;
use crate::command::source::refused;
use crate::consume::Settle;

/// What `--waivers` does to records.
pub(super) fn settle(dir: Option<&Path>) -> Result<Option<Settle>, Failure> {
    let Some(dir) = dir else { return Ok(None) };
    let waivers = load_waivers(dir).map_err(refused)?;
    let today = crate::provenance::today();
    Ok(Some(Box::new(move |records| waive::settle(records, &waivers, &today))))
}
