//! Compares two journals: which cells changed colour, and which inputs of the run moved.

use std::collections::{BTreeMap, BTreeSet};

use crate::escape::inline;
use crate::provenance::flat;
use crate::text::{Ink, cells, paint, wrap};
use crate::{Journal, Record};

/// What differs between an old journal and a new one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Cells that became red.
    pub regressed: Vec<Change>,
    /// Cells that were red and are no more.
    pub repaired: Vec<Change>,
    /// Cells of the same colour with another verdict.
    pub changed: Vec<Change>,
    /// Cells of the new journal only.
    pub new: Vec<Change>,
    /// Cells of the old journal only.
    pub gone: Vec<Change>,
    /// Facts of the run that are not the same: name, old, new.
    pub moved_inputs: Vec<(String, String, String)>,
    /// Cells that both journals have.
    pub compared: usize,
    /// Cells that said something about their promise and no longer do, and did not become red.
    pub silenced: usize,
    /// The new run did not come to its end.
    pub cut_short: bool,
}

/// One cell that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// `[backend/profile] id/route`.
    pub cell: String,
    /// Verdict in the old journal.
    pub old: Option<String>,
    /// Verdict in the new journal.
    pub new: Option<String>,
    /// Reason of the new verdict, or of the old one where there is no new.
    pub why: Option<String>,
}

/// Facts that differ between any two runs and explain nothing.
const IDLE: [&str; 2] = ["date", "seed"];

/// Compares two runs. Verdicts of observed backends count as those of gating ones do: whoever
/// compares journals looks for what moved.
#[must_use]
pub fn compare(old: &Journal, new: &Journal) -> Diff {
    let (before, after) = (by_cell(old), by_cell(new));
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut diff = Diff {
        moved_inputs: moved(&flat(&old.header.provenance), &flat(&new.header.provenance)),
        cut_short: new.cut_short(),
        ..Diff::default()
    };
    for name in names {
        diff.put(name, before.get(name).copied(), after.get(name).copied());
    }
    diff
}

/// Records by name and platform, which sorts the differences too.
fn by_cell(journal: &Journal) -> BTreeMap<(String, &'static str), &Record> {
    let keyed = journal.records.iter().map(|r| ((r.cell(), r.platform.name()), r));
    keyed.collect()
}

fn moved(
    old: &BTreeMap<String, String>,
    new: &BTreeMap<String, String>,
) -> Vec<(String, String, String)> {
    let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let value = |facts: &BTreeMap<String, String>, name: &String| {
        facts.get(name).cloned().unwrap_or_else(|| "(none)".to_string())
    };
    let pairs = names.into_iter().map(|name| (name.clone(), value(old, name), value(new, name)));
    pairs.filter(|(name, old, new)| old != new && !IDLE.contains(&name.as_str())).collect()
}

impl Diff {
    /// Files one cell where it belongs.
    fn put(&mut self, name: &(String, &str), old: Option<&Record>, new: Option<&Record>) {
        let change = Change {
            cell: format!("{}{}", name.0, platform_note(old, new)),
            old: old.map(Record::label),
            new: new.map(Record::label),
            why: new.or(old).and_then(|r| r.reason.as_ref()).map(|reason| reason.text.clone()),
        };
        let (Some(old), Some(new)) = (old, new) else {
            let list = if old.is_some() { &mut self.gone } else { &mut self.new };
            list.push(change);
            return;
        };
        self.compared += 1;
        match (old.verdict.red(), new.verdict.red()) {
            (false, true) => self.regressed.push(change),
            (true, false) => self.repaired.push(change),
            (true, true) | (false, false) if old.label() != new.label() => {
                self.changed.push(change);
            }
            (true, true) | (false, false) => {}
        }
        if old.verdict.judged() && !new.verdict.judged() && !new.verdict.red() {
            self.silenced += 1;
        }
    }

    /// 1 when a cell regressed or is no longer judged, when nothing could be compared, or when the new run did not come to
    /// its end (what it did not reach may have regressed); else 0.
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        let silent = self.silenced > 0;
        i32::from(!self.regressed.is_empty() || silent || self.compared == 0 || self.cut_short)
    }

    /// The difference as text for a terminal; the last line counts it.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        let mut out = inputs(&self.moved_inputs, color);
        let sections = [
            ("regressed", Ink::Red, &self.regressed),
            ("repaired", Ink::Green, &self.repaired),
            ("changed", Ink::Yellow, &self.changed),
            ("new", Ink::Bold, &self.new),
            ("gone", Ink::Bold, &self.gone),
        ];
        for (title, ink, changes) in sections {
            out += &section(&paint(color, ink, title), changes);
        }
        out += &self.warnings();
        let counts = sections.map(|(title, _, changes)| format!("{} {title}", changes.len()));
        out + &format!("{}; {} compared\n", counts.join(", "), cells(self.compared))
    }

    fn warnings(&self) -> String {
        let mut out = String::new();
        if self.cut_short {
            out += "the new run was cut short: what it did not reach is not compared\n";
        }
        if self.compared == 0 {
            out += "no cell is in both journals: nothing was compared\n";
        }
        if self.silenced > 0 {
            out += &format!("judged before and not judged now: {}\n", cells(self.silenced));
        }
        out
    }
}

/// The platform where it is not the host family most journals have.
fn platform_note(old: Option<&Record>, new: Option<&Record>) -> &'static str {
    use sandproof_scenarios::Platform;
    match new.or(old).map(|record| record.platform) {
        Some(Platform::Macos) => " on macos",
        Some(Platform::Linux) | None => "",
    }
}

fn inputs(moved: &[(String, String, String)], color: bool) -> String {
    if moved.is_empty() {
        return "inputs: none moved\n\n".to_string();
    }
    let mut out = format!("{}\n", paint(color, Ink::Bold, "inputs that moved"));
    for (name, old, new) in moved {
        out +=
            &wrap(&format!("  {}: ", inline(name)), &format!("{} -> {}", inline(old), inline(new)));
    }
    out + "\n"
}

fn section(title: &str, changes: &[Change]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let mut out = format!("{title}: {}\n", cells(changes.len()));
    for change in changes {
        let verdicts = [&change.old, &change.new].into_iter().flatten();
        let verdicts: Vec<_> = verdicts.map(String::as_str).collect();
        out += &format!("  {}: {}\n", inline(&change.cell), verdicts.join(" -> "));
        if let Some(why) = &change.why {
            out += &wrap("      ", &inline(why));
        }
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::sample::{journal, of, record};
    use crate::{Detail, Verdict};

    fn pair(old: Verdict, new: Verdict) -> Diff {
        compare(&of(vec![record("a", old)]), &of(vec![record("a", new)]))
    }

    #[rstest]
    #[case::same(Verdict::Pass, Verdict::Pass, "", 0)]
    #[case::broke(Verdict::Pass, Verdict::Fail, "regressed", 1)]
    #[case::went_blind(Verdict::BestEffort, Verdict::Inconclusive, "regressed", 1)]
    #[case::vanished(Verdict::KnownFail, Verdict::Missing, "regressed", 1)]
    #[case::mended(Verdict::Fail, Verdict::Pass, "repaired", 0)]
    #[case::waived(Verdict::Fail, Verdict::KnownFail, "repaired", 0)]
    #[case::weaker(Verdict::Pass, Verdict::BestEffort, "changed", 0)]
    #[case::skipped(Verdict::Pass, Verdict::Skip, "changed", 1)]
    #[case::otherwise_red(Verdict::Fail, Verdict::Inconclusive, "changed", 0)]
    fn one_cell(#[case] old: Verdict, #[case] new: Verdict, #[case] list: &str, #[case] code: i32) {
        let diff = pair(old, new);
        let full = [
            ("regressed", &diff.regressed),
            ("repaired", &diff.repaired),
            ("changed", &diff.changed),
            ("new", &diff.new),
            ("gone", &diff.gone),
        ];
        for (name, changes) in full {
            assert_eq!(changes.len(), usize::from(name == list), "{name}");
        }
        assert_eq!(diff.exit_code(), code);
        assert_eq!(diff.compared, 1);
    }

    #[test]
    fn another_detail_is_a_change() {
        let mut other = record("a", Verdict::Fail);
        other.detail = Some(Detail::Residue);
        let diff = compare(&of(vec![record("a", Verdict::Fail)]), &of(vec![other]));
        assert_eq!(diff.changed.len(), 1);
    }

    #[test]
    fn cells_come_and_go() {
        let same = record("same", Verdict::Pass);
        let old = of(vec![same.clone(), record("old", Verdict::Pass)]);
        let new = of(vec![record("new", Verdict::Fail), same]);
        let diff = compare(&old, &new);
        assert_eq!(diff.gone[0].cell, "[confine/workspace] fs/deny-survives-rename/old");
        assert_eq!(diff.new[0].new.as_deref(), Some("fail(escape)"));
        assert_eq!(diff.exit_code(), 0);
    }

    #[test]
    fn nothing_compared_is_not_green() {
        let old = of(vec![record("old", Verdict::Pass)]);
        let diff = compare(&old, &of(vec![record("new", Verdict::Pass)]));
        assert_eq!((diff.compared, diff.exit_code()), (0, 1));
        assert!(diff.render(false).contains("nothing was compared"));
    }

    #[test]
    fn a_run_cut_short_is_not_green() {
        let old = of(vec![record("a", Verdict::Pass)]);
        let new = Journal { footer: None, ..old.clone() };
        assert_eq!(compare(&old, &new).exit_code(), 1);
        assert_eq!(compare(&new, &old).exit_code(), 0);
    }

    #[test]
    fn silenced_cells_are_counted() {
        assert_eq!(pair(Verdict::Pass, Verdict::Skip).silenced, 1);
        assert_eq!(pair(Verdict::Skip, Verdict::Pass).silenced, 0);
        assert_eq!(pair(Verdict::Pass, Verdict::Inconclusive).silenced, 0, "regressed already");
    }

    #[test]
    fn inputs_are_named_to_the_version() {
        let old = journal();
        let mut new = journal();
        let facts = &mut new.header.provenance;
        facts.insert("kernel".into(), json!("6.19.1"));
        facts.insert("seed".into(), json!(7));
        facts.get_mut("subjects").unwrap()["codex"]["helpers"]["rg"] = json!("15.0");
        facts.remove("lsm");
        let moved = compare(&old, &new).moved_inputs;
        let rg = format!("14.1.0 sha256:{}", "d".repeat(64));
        let moved: Vec<_> = moved.iter().map(|(a, b, c)| [a.as_str(), b, c]).collect();
        assert_eq!(
            moved,
            [
                ["kernel", "6.18.44", "6.19.1"],
                ["lsm", "landlock,apparmor", "(none)"],
                ["subjects.codex.helpers.rg", &rg, "15.0"],
            ]
        );
    }
}
