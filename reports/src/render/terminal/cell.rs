//! Red cells in full: enough to understand one, and the command that runs it again.

use super::{Options, heading};
use crate::escape::{inline, lines};
use crate::tally::is_red;
use crate::text::{Ink, cells, chop, paint, shell_quote, wrap};
use crate::{Journal, Record};

/// Every red cell.
pub(super) fn red(journal: &Journal, options: &Options) -> String {
    let red = journal.records.iter().filter(|record| is_red(record, &options.required));
    let red: Vec<&Record> = red.collect();
    if red.is_empty() {
        return String::new();
    }
    let mut out = heading(options, &format!("red: {}", cells(red.len())));
    for (index, record) in red.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out += &full(record, options);
    }
    out
}

/// One cell.
fn full(record: &Record, options: &Options) -> String {
    let label = paint(options.color, Ink::Red, &record.label());
    let mut out = format!("{}  {label}  {}\n", inline(&record.cell()), record.severity_word());
    out += &wrap("    ", &inline(&record.title));
    if let Some(reason) = &record.reason {
        out += &wrap("    why: ", &format!("{}: {}", inline(&reason.code), inline(&reason.text)));
        if let Some(mend) = &reason.mend {
            out += &wrap("    mend: ", &inline(mend));
        }
    }
    out += &wrap("    promise: ", &promise(record));
    out += &wrap("    arms: ", &arms(record));
    if !record.evidence.is_empty() {
        out += "    evidence:\n";
        out += &lines(&record.evidence).map(|line| chop("    | ", &line)).collect::<String>();
    }
    out += &format!("    again: {}\n", again(record));
    out
}

fn promise(record: &Record) -> String {
    format!("{}; claim: {}", inline(&record.promise), inline(&record.claim))
}

fn arms(record: &Record) -> String {
    let arms = &record.arms;
    let mut text = format!("control {}, subject {}", inline(&arms.control), inline(&arms.subject));
    if let Some(twin) = &arms.twin {
        text += &format!(", twin {}", inline(twin));
    }
    if let Some(layer) = &record.layer {
        text += &format!("; denied by {}", inline(layer));
    }
    if let Some(simulated) = &record.simulated {
        text += &format!("; simulated: {}", inline(simulated));
    }
    text
}

/// The command that runs this cell alone.
pub(in crate::render) fn again(record: &Record) -> String {
    let cell = shell_quote(&inline(&record.cell()));
    // `confine` is the backend that runs unasked.
    let backend = match record.backend.as_str() {
        "confine" => String::new(),
        name => format!("--backend {} ", shell_quote(&inline(name))),
    };
    format!("sandproof run {backend}--exact {cell}")
}
