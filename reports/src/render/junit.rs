//! The JUnit report: a suite for each backend, a case for each cell. What is neither ok nor red is
//! skipped with its reason, never ok; times are left out, since they differ from run to run.

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::terminal::again;
use super::{Options, RenderError};
use crate::escape::{inline, lines};
use crate::provenance::flat;
use crate::tally::{Alarm, BackendTally, alarms, by_backend, is_red};
use crate::{Journal, Record, Verdict};

/// The report.
pub(super) fn render(journal: &Journal, options: &Options) -> Result<String, RenderError> {
    let mut report = Report::new("sandproof");
    for tally in by_backend(journal) {
        report.add_test_suite(suite(journal, &tally, options));
    }
    if let Some(suite) = run_suite(journal, options) {
        report.add_test_suite(suite);
    }
    Ok(report.to_string()?)
}

fn suite(journal: &Journal, tally: &BackendTally<'_>, options: &Options) -> TestSuite {
    let mut suite = TestSuite::new(inline(tally.backend));
    suite.add_property(property("gating", if tally.gating { "yes" } else { "no" }));
    for (key, value) in flat(&journal.header.provenance) {
        suite.add_property(property(&format!("provenance.{key}"), &value));
    }
    suite.add_test_cases(tally.records.iter().map(|record| case(record, options)));
    suite
}

fn property(name: &str, value: &str) -> Property {
    Property::new(inline(name), inline(value))
}

fn case(record: &Record, options: &Options) -> TestCase {
    let name = inline(&format!("{}/{}", record.id, record.route));
    let mut case = TestCase::new(name, status(record, options));
    case.set_classname(inline(&format!("{}/{}", record.backend, record.profile)));
    case.add_property(property("id", &record.id));
    case.add_property(property("verdict", &record.label()));
    case.add_property(property("title", &record.title));
    case.add_property(property("severity", record.severity_word()));
    case.add_property(property("promise", &record.promise));
    case.add_property(property("claim", &record.claim));
    let subject = record.subject.as_ref();
    let optional = [
        ("subject", subject.map(|s| format!("{} {} {}", s.name, s.version, s.sha256))),
        ("layer", record.layer.clone()),
        ("waiver", record.waiver.clone()),
        ("simulated", record.simulated.clone()),
        ("exceeds", record.exceeds.then(|| "yes".to_string())),
    ];
    for (name, value) in optional {
        case.add_properties(value.map(|value| property(name, &value)));
    }
    case
}

fn status(record: &Record, options: &Options) -> TestCaseStatus {
    let mut status = match record.verdict {
        _ if is_red(record, &options.required) => {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        }
        Verdict::Pass => return TestCaseStatus::success(),
        // Red words reach this line for observed backends only, which must not fail a build.
        Verdict::Fail
        | Verdict::BestEffort
        | Verdict::Skip
        | Verdict::Inconclusive
        | Verdict::KnownFail
        | Verdict::StaleWaiver
        | Verdict::Missing => TestCaseStatus::skipped(),
    };
    let why = record.reason.as_ref().map_or(String::new(), |reason| format!(": {}", reason.text));
    let observed = if record.gating { "" } else { "observed: " };
    status.set_message(inline(&format!("{observed}{}{why}", record.label())));
    status.set_type(record.label());
    status.set_description(description(record));
    status
}

/// Text of an element: what mends it, what was seen, how to see it again.
fn description(record: &Record) -> String {
    let mend = record.reason.as_ref().and_then(|reason| reason.mend.as_ref());
    let mut text: Vec<String> =
        mend.map(|mend| format!("mend: {}", inline(mend))).into_iter().collect();
    if !record.evidence.is_empty() {
        text.extend(lines(&record.evidence).map(|line| format!("| {line}")));
    }
    text.push(format!("again: {}", again(record)));
    text.join("\n")
}

/// Causes for red that are no cell's: a case each, or readers of this format would see green.
fn run_suite(journal: &Journal, options: &Options) -> Option<TestSuite> {
    let alarms = alarms(journal, &options.required);
    // Cells that are red themselves are failures already.
    let apart = alarms.iter().filter(|alarm| match alarm {
        Alarm::RedVerdicts(_) | Alarm::RequiredLacking { .. } => false,
        Alarm::RequiredBackend(_)
        | Alarm::NothingJudged(_)
        | Alarm::NothingPlanned
        | Alarm::Unrecorded(_)
        | Alarm::CutShort => true,
    });
    let cases: Vec<_> = apart.map(alarm_case).collect();
    let mut suite = TestSuite::new("run");
    suite.add_test_cases(cases);
    (suite.tests > 0).then_some(suite)
}

fn alarm_case(alarm: &Alarm) -> TestCase {
    let text = inline(&alarm.to_string());
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(text.as_str());
    let mut case = TestCase::new(text, status);
    case.set_classname("run");
    case
}
