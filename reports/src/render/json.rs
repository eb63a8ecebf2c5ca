//! The json report: one object `{schema, provenance, totals, records}`, a record on each line so
//! that line tools and diffs work on it.
//!
//! A run that did not end adds `cut-short`, one with unrecorded cells adds `planned`.

use serde_json::to_string;

use super::RenderError;
use crate::Journal;
use crate::tally::totals;

/// The report.
pub(super) fn render(journal: &Journal) -> Result<String, RenderError> {
    let header = &journal.header;
    let mut out = format!("{{\"schema\":{},\n", to_string(&header.schema)?);
    out += &format!("\"provenance\":{},\n", to_string(&header.provenance)?);
    if journal.cut_short() {
        out += "\"cut-short\":true,\n";
    }
    if let Some(footer) = &journal.footer
        && journal.unrecorded() > 0
    {
        out += &format!("\"planned\":{},\n", footer.planned);
    }
    out += &format!("\"totals\":{},\n", to_string(&totals(&journal.records))?);
    let records: Vec<String> = journal.records.iter().map(to_string).collect::<Result<_, _>>()?;
    if records.is_empty() {
        out += "\"records\":[]}\n";
    } else {
        out += &format!("\"records\":[\n{}\n]}}\n", records.join(",\n"));
    }
    Ok(crate::escape::json(&out))
}
