//! The terminal report: what ran on what, a table for each gating backend, every red cell in full,
//! then all that is neither ok nor red with its reason; observed backends apart; the count last.

use crate::escape::inline;
use crate::tally::{BackendTally, alarms, by_backend, sentence, totals};
use crate::{Journal, Record, Verdict};

use super::Options;
use crate::text::{Ink, WIDTH, paint, wrap};

mod cell;
mod head;
mod lists;
mod observed;
mod table;

pub(super) use cell::again;

/// The report.
pub(super) fn render(journal: &Journal, options: &Options) -> String {
    let backends = by_backend(journal);
    let (gating, observed): (Vec<_>, Vec<_>) = backends.iter().partition(|tally| tally.gating);
    let mut out = head::render(journal);
    for tally in &gating {
        out += &table::render(tally, options);
    }
    out += &cell::red(journal, options);
    let records: Vec<&Record> = journal.records.iter().filter(|r| r.gating).collect();
    out += &lists::render(&records, options);
    out += &observed::render(&observed, options);
    out += &closing(journal, &gating, options);
    out
}

/// Why it is red, and how often each verdict was given: the last line counts them all.
fn closing(journal: &Journal, gating: &[&BackendTally<'_>], options: &Options) -> String {
    let alarms = alarms(journal, &options.required);
    let mut out = String::from("\n");
    for alarm in &alarms {
        let line = wrap("red: ", &inline(&alarm.to_string()));
        out += &line.replacen("red:", &paint(options.color, Ink::Red, "red:"), 1);
    }
    if alarms.is_empty() {
        out += &format!("{}\n", paint(options.color, Ink::Green, "green"));
    }
    for tally in gating {
        let name = inline(tally.backend);
        out += &format!("{name}: {} of {}\n", sentence(&tally.totals), tally.records.len());
    }
    if gating.len() != 1 {
        let all = journal.records.iter().filter(|record| record.gating);
        let count = all.clone().count();
        out += &format!("all gating: {} of {count}\n", sentence(&totals(all)));
    }
    out
}

/// A heading with a rule, after an empty line.
fn heading(options: &Options, text: &str) -> String {
    let rule = "-".repeat(WIDTH.saturating_sub(text.chars().count() + 1));
    format!("\n{} {rule}\n", paint(options.color, Ink::Bold, text))
}

/// Colour of a verdict.
fn ink(record: &Record, options: &Options) -> Ink {
    match record.verdict {
        _ if crate::tally::is_red(record, &options.required) => Ink::Red,
        Verdict::Pass => Ink::Green,
        Verdict::Fail
        | Verdict::BestEffort
        | Verdict::Skip
        | Verdict::Inconclusive
        | Verdict::KnownFail
        | Verdict::StaleWaiver
        | Verdict::Missing => Ink::Yellow,
    }
}
