//! One gating backend, a line for each scenario; cells of a scenario that differ get a line each.

use std::collections::BTreeMap;

use super::super::group::{Label, by_scenario, short_cells};
use super::{Options, heading, ink};
use crate::Record;
use crate::escape::inline;
use crate::tally::BackendTally;
use crate::text::{pad, paint, wrap};

/// The table.
pub(super) fn render(tally: &BackendTally<'_>, options: &Options) -> String {
    let mut out = heading(options, &inline(&tally.title()));
    let scenarios = by_scenario(&tally.records);
    // A longer id pushes its own line only.
    let id = scenarios.keys().map(|id| id.chars().count()).max().unwrap_or(0).min(48) + 4;
    let label = tally.records.iter().map(|record| record.label().len()).max().unwrap_or(0) + 2;
    for (name, labels) in &scenarios {
        out += &scenario(name, labels, (id, label), options);
    }
    out
}

fn scenario(
    id: &str,
    labels: &BTreeMap<Label, Vec<&Record>>,
    columns: (usize, usize),
    options: &Options,
) -> String {
    let all: usize = labels.values().map(Vec::len).sum();
    let mut name = inline(id);
    let mut out = String::new();
    for records in labels.values() {
        let Some(record) = records.first() else { continue };
        let label = pad(&record.label(), columns.1);
        let text = match (records.len(), labels.len()) {
            (1, 1) => short_cells(records),
            (count, 1) => count.to_string(),
            // What passed is not worth a list, what did not is.
            (count, _) if record.verdict == crate::Verdict::Pass => format!("{count} of {all}"),
            (count, _) => format!("{count} of {all}: {}", short_cells(records)),
        };
        let first = format!("{}{label}", pad(&format!("  {name}"), columns.0));
        // Painted afterwards: colours have no columns.
        let line = wrap(&first, &text);
        out += &line.replacen(&label, &paint(options.color, ink(record, options), &label), 1);
        name.clear();
    }
    out
}
