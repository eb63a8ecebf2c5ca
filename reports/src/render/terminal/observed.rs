//! Observed backends: counts, and what did not pass in short. They never decide the exit code.

use super::super::group::{by_reason, ids};
use super::{Options, heading};
use crate::escape::inline;
use crate::record::label;
use crate::tally::{BackendTally, counts};
use crate::text::{pad, wrap, wrap_items};
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
    let mut counts = counts(&tally.totals);
    if let Some(last) = counts.last_mut() {
        *last += &format!(" of {}", tally.records.len());
    }
    let mut out = wrap_items(&format!("  {}: ", inline(&tally.title())), &counts);
    let mut labels: Vec<_> = tally.records.iter().map(|r| (r.verdict, r.detail)).collect();
    labels.sort_unstable();
    labels.dedup();
    for (verdict, detail) in labels {
        let members = tally.records.iter().copied();
        let members = members.filter(|r| (r.verdict, r.detail) == (verdict, detail));
        let members: Vec<&Record> = members.collect();
        let first = pad(&format!("    {}", label(verdict, detail)), 20);
        out += &match verdict {
            Verdict::Pass => String::new(),
            Verdict::Skip => reasons(&first, &members),
            Verdict::Fail
            | Verdict::BestEffort
            | Verdict::Inconclusive
            | Verdict::KnownFail
            | Verdict::StaleWaiver
            | Verdict::Missing => wrap_items(&first, &some(ids(&members))),
        };
    }
    out
}

/// Why cells were skipped, a line for each reason, with counts.
fn reasons(first: &str, records: &[&Record]) -> String {
    let groups = by_reason(records).into_iter();
    let lines = groups.map(|(reason, of)| format!("{} x {}", of.len(), inline(&reason.text)));
    let mut margin = first.to_string();
    let mut out = String::new();
    for line in some(lines.collect()) {
        out += &wrap(&margin, &line);
        margin = " ".repeat(first.chars().count());
    }
    out
}

/// The first names, and how many more there are.
fn some(mut names: Vec<String>) -> Vec<String> {
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut_and_counted() {
        let names = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();
        assert_eq!(some(names(NAMED)), names(NAMED));
        assert_eq!(some(names(NAMED + 3)).last().unwrap(), "and 3 more");
    }
}
