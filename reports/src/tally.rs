//! Counts verdicts, and decides whether a run is green. A green run without a judged cell would
//! be the worst report of all, so everything that could hide one is an [`Alarm`].

use std::fmt;

use sandproof_scenarios::Capability;

use crate::{Journal, Record, SubjectId, Totals, Verdict};

/// Every verdict word, each 0.
#[must_use]
pub fn all_zero() -> Totals {
    Verdict::ALL.into_iter().map(|verdict| (verdict.word().to_string(), 0)).collect()
}

/// How many records have each verdict; every word is present.
#[must_use]
pub fn totals<'a>(records: impl IntoIterator<Item = &'a Record>) -> Totals {
    let mut totals = all_zero();
    for record in records {
        *totals.entry(record.verdict.word().to_string()).or_insert(0) += 1;
    }
    totals
}

/// `112 pass`, `0 fail` ... in the order of [`Verdict::ALL`].
#[must_use]
pub fn counts(totals: &Totals) -> Vec<String> {
    let count = |verdict: Verdict| totals.get(verdict.word()).copied().unwrap_or(0);
    let parts = Verdict::ALL.into_iter();
    parts.map(|verdict| format!("{} {}", count(verdict), verdict.word())).collect()
}

/// The [`counts`] in one line.
#[must_use]
pub fn sentence(totals: &Totals) -> String {
    counts(totals).join(", ")
}

/// All about one backend in a journal.
#[derive(Clone, Debug)]
pub struct BackendTally<'a> {
    /// Its name.
    pub backend: &'a str,
    /// It decides the exit code.
    pub gating: bool,
    /// What was started; absent when everything was skipped.
    pub subject: Option<&'a SubjectId>,
    /// Its records, in journal order.
    pub records: Vec<&'a Record>,
    /// Verdicts of those, every word present.
    pub totals: Totals,
}

impl BackendTally<'_> {
    /// True when at least one cell says something about its promise.
    #[must_use]
    pub fn judged(&self) -> bool {
        self.records.iter().any(|record| record.verdict.judged())
    }

    /// Name and version, as far as known.
    #[must_use]
    pub fn title(&self) -> String {
        match self.subject {
            Some(subject) => format!("{} {}", self.backend, subject.version),
            None => self.backend.to_string(),
        }
    }
}

/// Backends of the journal: gating ones first, each kind in order of appearance.
#[must_use]
pub fn by_backend(journal: &Journal) -> Vec<BackendTally<'_>> {
    let mut names: Vec<&str> = Vec::new();
    for record in &journal.records {
        if !names.contains(&record.backend.as_str()) {
            names.push(&record.backend);
        }
    }
    let mut all: Vec<_> = names.into_iter().map(|name| of_backend(journal, name)).collect();
    all.sort_by_key(|tally| !tally.gating);
    all
}

fn of_backend<'a>(journal: &'a Journal, backend: &'a str) -> BackendTally<'a> {
    let records: Vec<_> = journal.records.iter().filter(|r| r.backend == backend).collect();
    BackendTally {
        backend,
        gating: records.iter().any(|record| record.gating),
        subject: records.iter().find_map(|record| record.subject.as_ref()),
        totals: totals(records.iter().copied()),
        records,
    }
}

/// One cause for a red run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// Red verdicts of gating backends.
    RedVerdicts(usize),
    /// Cells skipped for want of something that was required.
    RequiredLacking {
        /// As `--require` spells it.
        word: String,
        /// How many cells.
        cells: usize,
    },
    /// A required backend that judged nothing, or was not there.
    RequiredBackend(String),
    /// A gating backend whose cells all say nothing.
    NothingJudged(String),
    /// No gating cell at all.
    NothingPlanned,
    /// Planned cells without a record.
    Unrecorded(u64),
    /// The run did not come to its end.
    CutShort,
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Alarm::RedVerdicts(1) => write!(f, "1 red verdict"),
            Alarm::RedVerdicts(count) => write!(f, "{count} red verdicts"),
            Alarm::RequiredLacking { word, cells } => {
                write!(f, "{word} is required and lacking; cells skipped for it: {cells}")
            }
            Alarm::RequiredBackend(name) => {
                write!(f, "backend {name} is required and judged nothing")
            }
            Alarm::NothingJudged(name) => write!(f, "backend {name} judged nothing"),
            Alarm::NothingPlanned => write!(f, "nothing was judged: no cell of a gating backend"),
            Alarm::Unrecorded(count) => write!(f, "planned cells without a record: {count}"),
            Alarm::CutShort => write!(f, "the run was cut short: the journal has no footer"),
        }
    }
}

/// Every cause for which the run is red; none when it is green.
#[must_use]
pub fn alarms(journal: &Journal, required: &[String]) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    let red = journal.records.iter().filter(|r| r.gating && r.verdict.red()).count();
    if red > 0 {
        alarms.push(Alarm::RedVerdicts(red));
    }
    let backends = by_backend(journal);
    alarms.extend(required.iter().filter_map(|word| requirement(journal, &backends, word)));
    let gating: Vec<_> = backends.iter().filter(|tally| tally.gating).collect();
    if gating.is_empty() {
        alarms.push(Alarm::NothingPlanned);
    }
    let idle = gating.iter().filter(|tally| !tally.judged());
    alarms.extend(idle.map(|tally| Alarm::NothingJudged(tally.backend.to_string())));
    if journal.unrecorded() > 0 {
        alarms.push(Alarm::Unrecorded(journal.unrecorded()));
    }
    if journal.cut_short() {
        alarms.push(Alarm::CutShort);
    }
    alarms
}

/// 0 when the run is green, 1 when it is red.
#[must_use]
pub fn exit_code(journal: &Journal, required: &[String]) -> i32 {
    i32::from(!alarms(journal, required).is_empty())
}

/// True when this record alone makes the run red.
#[must_use]
pub fn is_red(record: &Record, required: &[String]) -> bool {
    (record.gating && record.verdict.red())
        || required.iter().any(|word| lacks_required(record, word))
}

/// What is wrong with one required word: a capability must never have been lacking, a backend
/// must have judged something.
fn requirement(journal: &Journal, backends: &[BackendTally<'_>], word: &str) -> Option<Alarm> {
    let cells = journal.records.iter().filter(|record| lacks_required(record, word)).count();
    if cells > 0 {
        return Some(Alarm::RequiredLacking { word: word.to_string(), cells });
    }
    let served = word.parse::<Capability>().is_ok()
        || backends.iter().any(|tally| tally.backend == word && tally.judged());
    (!served).then(|| Alarm::RequiredBackend(word.to_string()))
}

/// True for a skip for want of `word`. What a host lacks counts on every backend; what a backend
/// cannot do counts on gating ones, since observed ones are not ours to mend.
fn lacks_required(record: &Record, word: &str) -> bool {
    if record.verdict != Verdict::Skip {
        return false;
    }
    let Some(lacks) = record.reason.as_ref().and_then(|reason| reason.lacks.as_deref()) else {
        return false;
    };
    match (word.parse::<Capability>(), lacks.parse::<Capability>()) {
        // A host that lacks a lower ABI lacks the required one too; not the other way round.
        (Ok(Capability::Landlock(needed)), Ok(Capability::Landlock(lacking))) => lacking <= needed,
        (Ok(needed), Ok(lacking)) => needed == lacking && (needed.of_host() || record.gating),
        (Err(_), Err(_)) => word == lacks,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::sample::{lacking, observed, of, record};

    #[rstest]
    #[case::pass(Verdict::Pass, 0)]
    #[case::fail(Verdict::Fail, 1)]
    #[case::best_effort(Verdict::BestEffort, 0)]
    #[case::skip(Verdict::Skip, 0)]
    #[case::inconclusive(Verdict::Inconclusive, 1)]
    #[case::known_fail(Verdict::KnownFail, 0)]
    #[case::stale_waiver(Verdict::StaleWaiver, 1)]
    #[case::missing(Verdict::Missing, 1)]
    fn one_verdict_beside_a_pass(#[case] verdict: Verdict, #[case] code: i32) {
        let gating = of(vec![record("a", Verdict::Pass), record("b", verdict)]);
        assert_eq!(exit_code(&gating, &[]), code);
        let apart = of(vec![record("a", Verdict::Pass), observed("b", verdict)]);
        assert_eq!(exit_code(&apart, &[]), 0, "observed backends do not decide");
    }

    #[rstest]
    #[case::nothing(vec![], Alarm::NothingPlanned)]
    #[case::only_skips(vec![lacking("a", "x32")], Alarm::NothingJudged("confine".into()))]
    #[case::only_observed(vec![observed("a", Verdict::Pass)], Alarm::NothingPlanned)]
    fn a_run_that_judged_nothing_is_red(#[case] records: Vec<Record>, #[case] alarm: Alarm) {
        let journal = of(records);
        assert_eq!(alarms(&journal, &[]), [alarm]);
        assert_eq!(exit_code(&journal, &[]), 1);
    }

    #[test]
    fn each_gating_backend_must_judge_something() {
        let idle = Record { backend: "landlock".into(), ..lacking("a", "x32") };
        let journal = of(vec![record("a", Verdict::Pass), idle]);
        assert_eq!(alarms(&journal, &[]), [Alarm::NothingJudged("landlock".into())]);
    }

    #[rstest]
    #[case::the_same("x32", "x32", true, 1)]
    #[case::another("ia32", "x32", true, 0)]
    #[case::host_of_observed("x32", "x32", false, 1)]
    #[case::backend("deny-glob", "deny-glob", true, 1)]
    #[case::backend_of_observed("deny-glob", "deny-glob", false, 0)]
    #[case::lower_abi("landlock>=6", "landlock>=4", true, 1)]
    #[case::any_abi("landlock>=6", "landlock", true, 1)]
    #[case::higher_abi("landlock", "landlock>=6", true, 0)]
    #[case::tool("userns", "curl", true, 0)]
    fn required(#[case] word: &str, #[case] lacks: &str, #[case] gating: bool, #[case] code: i32) {
        let skip = Record { gating, ..lacking("b", lacks) };
        let backend = if gating { "confine" } else { "codex" };
        let skip = Record { backend: backend.into(), ..skip };
        assert_eq!(is_red(&skip, &[word.into()]), code == 1);
        let journal = of(vec![record("a", Verdict::Pass), skip]);
        assert_eq!(exit_code(&journal, &[word.into()]), code);
    }

    #[rstest]
    #[case::judged(vec![observed("b", Verdict::Fail)], 0)]
    #[case::skipped(vec![observed("b", Verdict::Skip)], 1)]
    #[case::absent(vec![], 1)]
    fn a_required_backend_judges_something(#[case] more: Vec<Record>, #[case] code: i32) {
        let journal = of([vec![record("a", Verdict::Pass)], more].concat());
        assert_eq!(exit_code(&journal, &["codex".into()]), code);
    }

    #[test]
    fn cells_without_a_record_are_red() {
        let mut journal = of(vec![record("a", Verdict::Pass)]);
        assert_eq!(alarms(&journal, &[]), []);
        journal.footer.as_mut().unwrap().planned = 3;
        assert_eq!(alarms(&journal, &[]), [Alarm::Unrecorded(2)]);
        journal.footer = None;
        assert_eq!(alarms(&journal, &[]), [Alarm::CutShort]);
    }

    #[test]
    fn every_word_is_counted() {
        let all = totals(&[record("a", Verdict::Skip), record("b", Verdict::Skip)]);
        assert_eq!(all.len(), Verdict::ALL.len());
        assert_eq!(
            sentence(&all),
            "0 pass, 0 fail, 0 best-effort, 2 skip, 0 inconclusive, 0 known-fail, 0 stale-waiver, \
             0 missing"
        );
    }

    #[test]
    fn gating_backends_come_first() {
        let journal = of(vec![observed("a", Verdict::Pass), record("a", Verdict::Pass)]);
        let names: Vec<_> = by_backend(&journal).iter().map(|tally| tally.backend).collect();
        assert_eq!(names, ["confine", "codex"]);
    }
}
