//! What is neither ok nor red, with its reasons: best-effort, known failures, skips.

use super::super::group::{by_reason, ids, with};
use super::{Options, heading};
use crate::escape::inline;
use crate::text::{cells, wrap, wrap_items};
use crate::{Reason, Record, Verdict};

/// Verdicts listed, and what they mean.
const LISTED: [(Verdict, &str); 3] = [
    (Verdict::BestEffort, "the attack got through where the promise allows it"),
    (Verdict::KnownFail, "failed, and a waiver says so"),
    (Verdict::Skip, "not judged"),
];

/// The lists that are not empty.
pub(super) fn render(records: &[&Record], options: &Options) -> String {
    let mut out = String::new();
    for (verdict, meaning) in LISTED {
        let members = with(records, verdict);
        if !members.is_empty() {
            let word = verdict.word();
            out += &heading(options, &format!("{word}: {}, {meaning}", cells(members.len())));
            let groups = by_reason(&members);
            out += &groups.iter().map(|(reason, of)| group(reason, of)).collect::<String>();
        }
    }
    out + &exceeding(records, options)
}

/// One reason, and the scenarios it speaks of.
fn group(reason: &Reason, records: &[&Record]) -> String {
    let count = format!("  {:>3} x ", records.len());
    let mut out = wrap(&count, &format!("{}: {}", inline(&reason.code), inline(&reason.text)));
    let indent = " ".repeat(count.chars().count());
    if let Some(mend) = &reason.mend {
        out += &wrap(&format!("{indent}mend: "), &inline(mend));
    }
    out + &wrap_items(&indent, &ids(records))
}

/// Best-effort promises that held: passes that may become enforced.
fn exceeding(records: &[&Record], options: &Options) -> String {
    let held: Vec<&Record> = records.iter().copied().filter(|record| record.exceeds).collect();
    if held.is_empty() {
        return String::new();
    }
    let title = format!("exceeds: {}, best-effort promises that held", cells(held.len()));
    heading(options, &title) + &wrap_items("  ", &ids(&held))
}
