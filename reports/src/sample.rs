//! The journal that the tests of this crate share, and ways to bend it.

use crate::{Detail, Journal, Reason, Record, Verdict, journal};

/// Its text, with every verdict but `missing`.
pub(crate) const TEXT: &str = include_str!("../tests/golden/journal.jsonl");

/// The journal.
pub(crate) fn journal() -> Journal {
    journal::parse(TEXT.as_bytes()).unwrap()
}

/// A gating record of `confine` with this verdict; different routes make different cells.
pub(crate) fn record(route: &str, verdict: Verdict) -> Record {
    let mut record = journal().records.remove(0);
    record.route = route.to_string();
    record.verdict = verdict;
    record.detail = verdict.has_detail().then_some(Detail::Escape);
    record.reason = (verdict != Verdict::Pass).then(|| Reason::new("test", "for the test"));
    record
}

/// The same, observed.
pub(crate) fn observed(route: &str, verdict: Verdict) -> Record {
    Record { gating: false, backend: "codex".into(), ..record(route, verdict) }
}

/// A gating skip for want of `lacks`.
pub(crate) fn lacking(route: &str, lacks: &str) -> Record {
    let reason = Some(Reason::new("host-cannot", "for the test").lacking(lacks));
    Record { reason, ..record(route, Verdict::Skip) }
}

/// A finished run of these records.
pub(crate) fn of(records: Vec<Record>) -> Journal {
    let planned = records.len() as u64;
    Journal::complete(journal().header, records, planned)
}
