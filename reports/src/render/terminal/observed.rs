//! Observed backends: counts, and what did not pass in short. They never decide the exit code.

use super::super::group::{by_reason, by_scenario, ids};
use super::{Options, heading};
use crate::escape::inline;
use crate::record::label;
use crate::tally::{BackendTally, sentence};
use crate::text::{pad, wrap};
use crate::{Record, Verdict};

/// Scenarios or reasons named for one verdict of one backend.
const NAMED: usize = 8;

/// The section, when there is such a backend.
pub(super) fn render(observed: &[&BackendTally<'_>], options: &Options) -> String {
    if observed.is_empty() {
        return String::new();
    }
    let mut out = heading(options, "observed: these backends do not decide the exit code");
    for tally in observed {
        out += &backend(tally);
    }
    out
}

fn backend(tally: &BackendTally<'_>) -> String {
    let counts = format!("{} of {}", sentence(&tally.totals), tally.records.len());
    let mut out = wrap(&format!("  {}: ", inline(&tally.title())), &counts);
    let mut labels: Vec<_> = tally.records.iter().map(|r| (r.verdict, r.detail)).collect();
    labels.sort_unstable();
    labels.dedup();
    for (verdict, detail) in labels {
        let members = tally.records.iter().copied();
        let members = members.filter(|r| (r.verdict, r.detail) == (verdict, detail));
        let members: Vec<&Record> = members.collect();
        let names = match verdict {
            Verdict::Pass => continue,
            Verdict::Skip => reasons(&members),
            Verdict::Fail
            | Verdict::BestEffort
            | Verdict::Inconclusive
            | Verdict::KnownFail
            | Verdict::StaleWaiver
            | Verdict::Missing => some(&ids(&members), by_scenario(&members).len()),
        };
        out += &wrap(&pad(&format!("    {}", label(verdict, detail)), 20), &names);
    }
    out
}

/// Why cells were skipped, with counts.
fn reasons(records: &[&Record]) -> String {
    let groups = by_reason(records);
    let names: Vec<String> = groups
        .iter()
        .map(|(reason, members)| format!("{} x {}", members.len(), inline(&reason.text)))
        .collect();
    some(&names, names.len())
}

/// The first names, and how many more there are.
fn some(names: &[String], all: usize) -> String {
    let shown = names[..names.len().min(NAMED)].join(", ");
    match all.saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}
