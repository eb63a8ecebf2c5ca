//! Waivers: known failures, each with a reason and an end. They are strict: a waiver whose cell no
//! longer fails is red, so that none outlives its cause.

use sandproof_scenarios::Waiver;

use crate::{Reason, Record, Verdict};

/// True when a waiver speaks of this cell, whether or not it has expired.
#[must_use]
pub fn covers(waiver: &Waiver, record: &Record) -> bool {
    waiver.id == record.id
        && waiver.route.as_ref().is_none_or(|route| *route == record.route)
        && waiver.backend == record.backend
        && waiver.platform == record.platform
}

/// Its name in records.
fn name(waiver: &Waiver) -> String {
    format!("{} ({})", waiver.subject(), waiver.date)
}

/// The record under these waivers: a failure that one covers is a known failure, a cell that holds
/// although one covers it has a stale waiver. Verdicts that say nothing about the promise stay.
#[must_use]
pub fn apply(record: Record, waivers: &[Waiver], today: &str) -> Record {
    let covering = waivers.iter().filter(|waiver| covers(waiver, &record));
    let (expired, valid): (Vec<_>, Vec<_>) = covering.partition(|waiver| waiver.expired_on(today));
    match (record.verdict, valid.first(), expired.first()) {
        (Verdict::Fail, Some(waiver), _) => known_fail(record, waiver),
        (Verdict::Fail, None, Some(waiver)) => past(record, waiver),
        (Verdict::Pass | Verdict::BestEffort, Some(waiver), _) => stale(record, waiver),
        (
            Verdict::Fail
            | Verdict::Pass
            | Verdict::BestEffort
            | Verdict::Skip
            | Verdict::Inconclusive
            | Verdict::KnownFail
            | Verdict::StaleWaiver
            | Verdict::Missing,
            _,
            _,
        ) => record,
    }
}

/// All records of a run under these waivers. A waiver that covers several cells (routes, profiles)
/// is true while one of them fails: only when none does are they stale.
#[must_use]
pub fn settle(records: Vec<Record>, waivers: &[Waiver], today: &str) -> Vec<Record> {
    let fails = |waiver: &&Waiver| {
        records.iter().any(|record| record.verdict == Verdict::Fail && covers(waiver, record))
    };
    let (_, unneeded): (Vec<_>, Vec<_>) = waivers.iter().partition(fails);
    let unneeded: Vec<Waiver> = unneeded.into_iter().cloned().collect();
    let settled = records.into_iter().map(|record| {
        let fails = record.verdict == Verdict::Fail;
        apply(record, if fails { waivers } else { &unneeded }, today)
    });
    settled.collect()
}

fn known_fail(record: Record, waiver: &Waiver) -> Record {
    let Waiver { reason, link, expires, .. } = waiver;
    let text = format!("{reason} ({link}, until {expires}); {}", seen(&record));
    Record {
        verdict: Verdict::KnownFail,
        reason: Some(Reason::new("waived", text)),
        waiver: Some(name(waiver)),
        ..record
    }
}

fn stale(record: Record, waiver: &Waiver) -> Record {
    let Waiver { date, link, .. } = waiver;
    let verdict = record.label();
    let text = format!("the waiver of {date} ({link}) says that this fails; it is {verdict}");
    let mend = "delete the waiver, or let it name the routes that still fail";
    Record {
        verdict: Verdict::StaleWaiver,
        detail: None,
        reason: Some(Reason::new("waiver-stale", text).mended_by(mend)),
        exceeds: false,
        waiver: Some(name(waiver)),
        ..record
    }
}

/// A failure whose waiver is past its day stays one, and says so.
fn past(record: Record, waiver: &Waiver) -> Record {
    let Waiver { date, expires, .. } = waiver;
    let old = record.reason.clone().unwrap_or_else(|| Reason::new("failed", record.label()));
    let text = format!("{}; the waiver of {date} expired on {expires}", old.text);
    Record { reason: Some(Reason { text, ..old }), ..record }
}

/// What the record said before a waiver spoke.
fn seen(record: &Record) -> String {
    match &record.reason {
        Some(reason) => format!("seen: {}: {}", record.label(), reason.text),
        None => format!("seen: {}", record.label()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use sandproof_scenarios::Platform;

    use super::*;
    use crate::sample;

    const TODAY: &str = "2026-03-02";

    fn record(verdict: Verdict) -> Record {
        sample::record("shell", verdict)
    }

    fn waiver() -> Waiver {
        Waiver {
            id: "fs/deny-survives-rename".into(),
            route: Some("shell".into()),
            backend: "confine".into(),
            platform: Platform::Linux,
            reason: "a kernel bug".into(),
            link: "https://example.org/1".into(),
            date: "2026-01-01".into(),
            expires: TODAY.into(),
        }
    }

    #[rstest]
    #[case(Verdict::Fail, Verdict::KnownFail)]
    #[case(Verdict::Pass, Verdict::StaleWaiver)]
    #[case(Verdict::BestEffort, Verdict::StaleWaiver)]
    #[case(Verdict::Skip, Verdict::Skip)]
    #[case(Verdict::Inconclusive, Verdict::Inconclusive)]
    #[case(Verdict::Missing, Verdict::Missing)]
    #[case(Verdict::KnownFail, Verdict::KnownFail)]
    #[case(Verdict::StaleWaiver, Verdict::StaleWaiver)]
    fn a_matching_waiver(#[case] before: Verdict, #[case] after: Verdict) {
        let waived = apply(record(before), &[waiver()], TODAY);
        assert_eq!(waived.verdict, after);
        assert_eq!(waived.check(), Ok(()));
        let changed = before != after;
        assert_eq!(waived == record(before), !changed, "what stays, stays whole");
        let name = "fs/deny-survives-rename/shell on confine, linux (2026-01-01)";
        assert_eq!(waived.waiver.as_deref() == Some(name), changed);
    }

    #[rstest]
    #[case::id(Waiver { id: "fs/other".into(), ..waiver() })]
    #[case::route(Waiver { route: Some("syscall".into()), ..waiver() })]
    #[case::backend(Waiver { backend: "bwrap".into(), ..waiver() })]
    #[case::platform(Waiver { platform: Platform::Macos, ..waiver() })]
    fn another_waiver_changes_nothing(#[case] other: Waiver) {
        for verdict in Verdict::ALL {
            assert_eq!(
                apply(record(verdict), std::slice::from_ref(&other), TODAY),
                record(verdict)
            );
        }
    }

    #[test]
    fn what_was_seen_stays_in_the_reason() {
        let waived = apply(record(Verdict::Fail), &[waiver()], TODAY);
        assert_eq!(waived.detail, record(Verdict::Fail).detail);
        assert_eq!(
            waived.reason.unwrap().text,
            "a kernel bug (https://example.org/1, until 2026-03-02); seen: fail(escape): for the \
             test"
        );
    }

    #[test]
    fn an_expired_waiver_is_named_and_counts_no_more() {
        let failed = apply(record(Verdict::Fail), &[waiver()], "2026-03-03");
        assert_eq!(failed.verdict, Verdict::Fail);
        let text = failed.reason.unwrap().text;
        assert_eq!(text, "for the test; the waiver of 2026-01-01 expired on 2026-03-02");
        let passed = apply(record(Verdict::Pass), &[waiver()], "2026-03-03");
        assert_eq!(passed, record(Verdict::Pass));
    }

    #[test]
    fn a_valid_waiver_outweighs_an_expired_one() {
        let expired = Waiver { expires: "2026-02-01".into(), ..waiver() };
        let waived = apply(record(Verdict::Fail), &[expired, waiver()], TODAY);
        assert_eq!(waived.verdict, Verdict::KnownFail);
    }

    #[test]
    fn a_waiver_of_all_routes_is_true_while_one_fails() {
        let whole = [Waiver { route: None, ..waiver() }];
        let verdicts = |records: Vec<Record>| {
            settle(records, &whole, TODAY).iter().map(|r| r.verdict).collect::<Vec<_>>()
        };
        let other = sample::record("syscall", Verdict::Pass);
        let some = verdicts(vec![other.clone(), record(Verdict::Fail)]);
        assert_eq!(some, [Verdict::Pass, Verdict::KnownFail]);
        let none = verdicts(vec![other, record(Verdict::Pass)]);
        assert_eq!(none, [Verdict::StaleWaiver, Verdict::StaleWaiver]);
    }
}
