//! Records that say the same, said once.

use std::collections::BTreeMap;

use crate::escape::inline;
use crate::{Detail, Reason, Record, Verdict};

/// Verdict and detail, in the order reports count them.
pub(super) type Label = (Verdict, Option<Detail>);

/// Records of each scenario, by id, and in it by verdict.
pub(super) fn by_scenario<'a>(
    records: &[&'a Record],
) -> BTreeMap<&'a str, BTreeMap<Label, Vec<&'a Record>>> {
    let mut scenarios: BTreeMap<&str, BTreeMap<Label, Vec<&Record>>> = BTreeMap::new();
    for record in records {
        let labels = scenarios.entry(&record.id).or_default();
        labels.entry((record.verdict, record.detail)).or_default().push(record);
    }
    scenarios
}

/// Records with the same reason, the most frequent first.
pub(super) fn by_reason<'a>(records: &[&'a Record]) -> Vec<(&'a Reason, Vec<&'a Record>)> {
    let mut groups: Vec<(&Reason, Vec<&Record>)> = Vec::new();
    for record in records {
        let Some(reason) = &record.reason else { continue };
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, members)) => members.push(record),
            None => groups.push((reason, vec![record])),
        }
    }
    groups.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    groups
}

/// Cells of one scenario in short: `workspace/syscall, workspace/shell`.
pub(super) fn short_cells(records: &[&Record]) -> String {
    let names = records.iter().map(|r| format!("{}/{}", inline(&r.profile), inline(&r.route)));
    names.collect::<Vec<_>>().join(", ")
}

/// Scenario ids of these records, each once, with a count when several cells have it.
pub(super) fn ids(records: &[&Record]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for record in records {
        *counts.entry(&record.id).or_default() += 1;
    }
    let name = |(id, count): (&str, usize)| match count {
        1 => inline(id),
        _ => format!("{} ({count})", inline(id)),
    };
    counts.into_iter().map(name).collect()
}

/// Records with this verdict.
pub(super) fn with<'a>(records: &[&'a Record], verdict: Verdict) -> Vec<&'a Record> {
    records.iter().copied().filter(|record| record.verdict == verdict).collect()
}
