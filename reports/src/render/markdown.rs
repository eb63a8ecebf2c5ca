//! The markdown report, for the summary of a CI step and for a README: counts, red cells, a table
//! by scenario, reasons. Text of others is escaped, or stands in a fence that it cannot close.

use super::Options;
use super::group::{by_reason, by_scenario, ids, short_cells, with};
use super::terminal::again;
use crate::escape::{inline, lines};
use crate::provenance::facts;
use crate::record::label;
use crate::tally::{BackendTally, alarms, by_backend, is_red};
use crate::{Journal, Record, Verdict};

/// The report.
pub(super) fn render(journal: &Journal, options: &Options) -> String {
    let backends = by_backend(journal);
    let mut out = summary(journal, options);
    out += &counts(&backends);
    out += &red(journal, options);
    for tally in backends.iter().filter(|tally| tally.gating) {
        out += &scenarios(tally, options);
    }
    out + &reasons(journal)
}

/// Heading, what makes the run red, and on what it ran.
fn summary(journal: &Journal, options: &Options) -> String {
    let alarms = alarms(journal, &options.required);
    let color = if alarms.is_empty() { "green" } else { "red" };
    let mut out = format!("## sandproof: {color}\n\n");
    for alarm in &alarms {
        out += &format!("- {}\n", text(&alarm.to_string()));
    }
    if !alarms.is_empty() {
        out.push('\n');
    }
    let keys = [
        ("sandproof", "sandproof"),
        ("os_version", "on"),
        ("kernel", "kernel"),
        ("landlock_abi", "Landlock ABI"),
        ("user", "user"),
        ("date", "date"),
    ];
    out + &format!("Run: {}\n", text(&facts(journal, &keys)))
}

/// A row for each backend, with its version.
fn counts(backends: &[BackendTally<'_>]) -> String {
    let words = Verdict::ALL.map(Verdict::word);
    let mut out = format!("\n| backend | version | role | {} | of |\n", words.join(" | "));
    out += &format!("|---|---|---|{}--:|\n", "--:|".repeat(words.len()));
    for tally in backends {
        let version = text(tally.subject.map_or("", |subject| &subject.version));
        let role = if tally.gating { "gating" } else { "observed" };
        let numbers = words.map(|word| tally.totals.get(word).copied().unwrap_or(0).to_string());
        let cells = format!("{} | {}", numbers.join(" | "), tally.records.len());
        out += &format!("| {} | {version} | {role} | {cells} |\n", text(tally.backend));
    }
    out
}

/// Every red cell with evidence and the command that runs it again.
fn red(journal: &Journal, options: &Options) -> String {
    let red = journal.records.iter().filter(|record| is_red(record, &options.required));
    let cells: String = red.map(red_cell).collect();
    if cells.is_empty() { cells } else { format!("\n### Red cells\n\n{cells}") }
}

fn red_cell(record: &Record) -> String {
    let mut out =
        format!("- **{}** {}: {}\n", record.label(), text(&record.cell()), text(&record.title));
    if let Some(reason) = &record.reason {
        out += &format!("  <br>why: {}: {}\n", text(&reason.code), text(&reason.text));
    }
    let again = format!("again: {}", again(record));
    // Marked, so that no line of it closes the fence or passes for one of ours.
    let seen = lines(&record.evidence).filter(|line| !line.is_empty());
    let block: Vec<String> = seen.map(|line| format!("| {line}")).chain([again]).collect();
    out += "  ```text\n";
    for line in &block {
        out += &format!("  {line}\n");
    }
    out + "  ```\n"
}

/// A row for each scenario.
fn scenarios(tally: &BackendTally<'_>, options: &Options) -> String {
    let mut out = format!("\n### {}\n\n| scenario | verdicts |\n|---|---|\n", text(&tally.title()));
    for (id, labels) in by_scenario(&tally.records) {
        let verdicts = labels.values().map(|records| verdict(records, options));
        let verdicts: Vec<String> = verdicts.collect();
        out += &format!("| {} | {} |\n", text(id), verdicts.join(", "));
    }
    out
}

/// `3 pass`, or what did not pass and where.
fn verdict(records: &[&Record], options: &Options) -> String {
    let Some(first) = records.first() else { return String::new() };
    let count = format!("{} {}", records.len(), first.label());
    if first.verdict == Verdict::Pass {
        return count;
    }
    let red = records.iter().any(|record| is_red(record, &options.required));
    let count = if red { format!("**{count}**") } else { count };
    format!("{count} ({})", text(&short_cells(records)))
}

/// Why cells of gating backends are neither ok nor red.
fn reasons(journal: &Journal) -> String {
    let records: Vec<&Record> = journal.records.iter().filter(|record| record.gating).collect();
    let mut rows = String::new();
    for verdict in [Verdict::BestEffort, Verdict::KnownFail, Verdict::Skip] {
        for (reason, members) in by_reason(&with(&records, verdict)) {
            let mend = text(reason.mend.as_deref().unwrap_or_default());
            let count = format!("{} {}", members.len(), label(verdict, None));
            let ids = text(&ids(&members).join(", "));
            rows += &format!("| {count} | {} | {mend} | {ids} |\n", text(&reason.text));
        }
    }
    if rows.is_empty() {
        return rows;
    }
    let head = "| cells | reason | mend | scenarios |\n|---|---|---|---|\n";
    format!("\n### Neither ok nor red\n\n{head}{rows}")
}

/// Text in which nothing is markup.
fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in inline(raw).chars() {
        if "\\`*_{}[]<>#~|&!$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
