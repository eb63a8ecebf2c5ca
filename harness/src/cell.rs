//! Runs the cells of one route: its control arm once, then each subject, and judges them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sandproof_backends::bare::Bare;
use sandproof_backends::host::PLATFORM;
use sandproof_backends::{Backend, Express};
use sandproof_reports::{Arms, Detail, Reason, Record, Verdict};
use sandproof_scenarios::effect::StartEffect;
use sandproof_scenarios::{Expectation, Network, Profile, Route, Scenario, Step};

use crate::arm::{self, ArmError, Bench, Outcome, Plan};
use crate::evidence::{Arm, Attemptance, Attempted, End, Evidence, Start};
use crate::judge::{Expected, Judgement, Standing, judge};
use crate::plan::{Cell, Ready, blank};

/// Longest evidence of a record, in bytes.
const EVIDENCE_LIMIT: usize = 4096;

/// Runs the control arm of a route, and the attack once more by itself: what only `still-works`
/// breaks is no attack.
///
/// # Errors
/// The harness itself failed.
pub fn control(
    bench: &Bench<'_>,
    scenario: &Scenario,
    route: (&str, &Route),
) -> Result<Outcome, ArmError> {
    let backend = Bare::default();
    let profile = Profile::Off;
    let (given, still_works) = (&scenario.given, scenario.still_works.as_slice());
    let name = "control";
    let plan = Plan { scenario, route, given, backend: &backend, profile, name, still_works };
    let mut control = arm::run(bench, &plan)?;
    if !still_works.is_empty() && !control.arm.clauses.is_empty() {
        let attack = arm::run(bench, &Plan { name: "attack", still_works: &[], ..plan })?;
        control.arm.disturbed = control.arm.disturbed.or(attack.arm.disturbed);
        control.arm.clauses = attack.arm.clauses;
    }
    Ok(control)
}

/// Runs the sandboxed arms of one cell and judges them.
#[must_use]
pub fn run(
    bench: &Bench<'_>,
    cell: &Cell<'_>,
    ready: &Ready,
    control: &Result<Outcome, ArmError>,
    user: &str,
) -> Record {
    let record = blank(cell, ready, user);
    if let Some(reason) = &cell.skip {
        if cell.must_refuse {
            return refuses(bench, cell, ready, record, reason);
        }
        return Record { verdict: Verdict::Skip, reason: Some(reason.clone()), ..record };
    }
    match sandboxed(bench, cell, ready, control) {
        Ok(arms) => judged(record, cell, ready, arms),
        Err(ArmError::Unsupported(what)) => {
            let reason = Reason::new("backend-cannot", format!("{}: {what}", ready.backend.name()));
            Record { verdict: Verdict::Skip, reason: Some(reason), ..record }
        }
        Err(ArmError::Harness(why)) => {
            let reason = Some(Reason::new("harness", why));
            Record { verdict: Verdict::Inconclusive, reason, ..record }
        }
    }
}

/// Starts the subject although the host lacks what it needs. A skip when it refuses.
fn refuses(
    bench: &Bench<'_>,
    cell: &Cell<'_>,
    ready: &Ready,
    record: Record,
    lack: &Reason,
) -> Record {
    let (scenario, route, profile) = (cell.scenario, cell.route, cell.profile);
    let (given, backend) = (&scenario.given, ready.backend.as_ref());
    let still_works = scenario.still_works.as_slice();
    let plan = Plan { scenario, route, given, backend, profile, name: "subject", still_works };
    let start = match arm::run(bench, &plan) {
        Ok(outcome) => outcome.arm.start,
        Err(error) => {
            let reason = Some(Reason::new("harness", error.to_string()));
            return Record { verdict: Verdict::Inconclusive, reason, ..record };
        }
    };
    let (verdict, detail, reason) = match start {
        Start::Never { end: End::Exited(code), message } if code != 0 && !message.is_empty() => {
            let text = format!("{}; it refuses to start without, as it must", lack.text);
            (Verdict::Skip, None, Reason { text, ..lack.clone() })
        }
        Start::Ran => {
            let text = format!("{}, and it started all the same", lack.text);
            (Verdict::Fail, Some(Detail::Started), Reason::new("started", text))
        }
        Start::Never { .. } | Start::Hung | Start::Unstartable(_) => {
            let text = format!("{}, and it neither started nor refused properly", lack.text);
            (Verdict::Inconclusive, None, Reason::new("not-a-refusal", text))
        }
    };
    Record { verdict, detail, reason: Some(reason), ..record }
}

/// All arms of one cell.
struct AllArms<'a> {
    control: &'a Outcome,
    subject: Outcome,
    twin: Option<Outcome>,
}

fn sandboxed<'a>(
    bench: &Bench<'_>,
    cell: &Cell<'_>,
    ready: &Ready,
    control: &'a Result<Outcome, ArmError>,
) -> Result<AllArms<'a>, ArmError> {
    let control = match control {
        Ok(control) => control,
        Err(error) => return Err(ArmError::Harness(format!("control arm: {error}"))),
    };
    let backend = ready.backend.as_ref();
    let (scenario, route, profile) = (cell.scenario, cell.route, cell.profile);
    let given = &scenario.given;
    let still_works = scenario.still_works.as_slice();
    let plan = Plan { scenario, route, given, backend, profile, name: "subject", still_works };
    let subject = arm::run(bench, &plan)?;
    let twin = match &scenario.twin {
        None => None,
        Some(twin) => {
            let given = &sandproof_scenarios::fixture::replaced(given, twin);
            Some(arm::run(bench, &Plan { given, name: "twin", ..plan })?)
        }
    };
    Ok(AllArms { control, subject, twin })
}

fn judged(record: Record, cell: &Cell<'_>, ready: &Ready, arms: AllArms<'_>) -> Record {
    let gap = gap(ready.backend.as_ref(), cell);
    let standing = Standing::of(cell.scenario.promise.on(PLATFORM), gap.as_deref());
    let mut subject = arms.subject.arm.clone();
    subject.residue = residue(cell, &arms.subject, arms.control);
    subject.unseen = unseen(cell, &arms.subject, arms.control);
    subject.unconfined = confines(cell) && unconfined(&arms.subject, arms.control);
    let evidence = Evidence {
        control: arms.control.arm.clone(),
        subject,
        twin: arms.twin.as_ref().map(|twin| twin.arm.clone()),
    };
    let judgement = judge(expected(cell), &standing, &evidence);
    let Judgement { verdict, detail, reason, exceeds } = judgement;
    let mut record = Record {
        verdict,
        detail,
        reason: reason.map(|(code, text)| Reason::new(code, text)),
        exceeds,
        layer: arms.subject.layer.map(str::to_owned),
        receipt: arms.subject.receipt.iter().map(receipt).collect(),
        arms: Arms {
            control: word(&evidence.control).into(),
            subject: word(&evidence.subject).into(),
            twin: evidence.twin.as_ref().map(|twin| word(twin).into()),
        },
        evidence: sandproof_reports::escape::evidence(story(&evidence, &arms).as_bytes()),
        ..record
    };
    let milliseconds = |outcome: &Outcome| (outcome.time.as_micros() as f64 / 1000.0).into();
    record.timing.insert("control-ms".into(), milliseconds(arms.control));
    record.timing.insert("subject-ms".into(), milliseconds(&arms.subject));
    if let Some(twin) = &arms.twin {
        record.timing.insert("twin-ms".into(), milliseconds(twin));
    }
    if let Some(kept) = &arms.subject.kept {
        record.timing.insert("arena".into(), kept.display().to_string().into());
    }
    record
}

fn expected(cell: &Cell<'_>) -> Expected {
    match (&cell.scenario.expect, cell.route.1.effects.start) {
        (Expectation::Works, _) => Expected::Works,
        (Expectation::Then, Some(StartEffect::Refused)) => Expected::Refusal,
        (Expectation::Then, None) => Expected::Effects,
    }
}

/// The words of the vendor's documented gap that covers this cell.
fn gap(backend: &dyn Backend, cell: &Cell<'_>) -> Option<String> {
    let route = format!("{}/{}", cell.scenario.id, cell.route.0);
    let covers = |id: &str| id == cell.scenario.id || id == route;
    let gap = backend.gaps().iter().find(|g| g.platforms.contains(&PLATFORM) && covers(&g.id))?;
    Some(format!("{} ({})", gap.says, gap.link))
}

/// What changed under the subject, not in the control arm, and is named by no step or effect.
fn residue(cell: &Cell<'_>, subject: &Outcome, control: &Outcome) -> Vec<String> {
    let named = written(cell);
    let unexplained = |path: &PathBuf, how: &str| {
        let same = control.changes.get(path).is_some_and(|change| change.how == how);
        let updated = how.starts_with("changed") && is_record(cell, path);
        !same && !updated && !named.contains(path)
    };
    let changed = subject.changes.iter().filter(|(path, change)| unexplained(path, &change.how));
    let changed = changed.map(|(path, change)| format!("{} {}", path.display(), change.how));
    changed.chain(subject.left.iter().map(|what| format!("{what} left behind"))).collect()
}

/// The record of the session that the policy goes on with: the subject notes that it ran again.
fn is_record(cell: &Cell<'_>, path: &Path) -> bool {
    let records = Path::new("home/.grok/sessions");
    cell.scenario.policy.session.is_some()
        && path.starts_with(records)
        && path.ends_with("summary.json")
}

/// True when the policy asks for more than its launcher can do before the command starts, as an
/// environment or closed descriptors are.
fn confines(cell: &Cell<'_>) -> bool {
    let policy = &cell.scenario.policy;
    cell.profile != Profile::Off
        || !policy.deny.is_empty()
        || !policy.protect.is_empty()
        || policy.network == Some(Network::Blocked)
}

/// True when the command has no filter, no new privileges to lose, and the namespaces and
/// capabilities of the control arm: whatever was claimed, no sandbox is there. Where the probe can
/// measure none of this, nothing is said.
fn unconfined(subject: &Outcome, control: &Outcome) -> bool {
    let (Some(here), Some(there)) = (&subject.hello, &control.hello) else { return false };
    !here.namespaces.is_empty()
        && here.namespaces == there.namespaces
        && here.capabilities == there.capabilities
        && here.no_new_privs == there.no_new_privs
        && here.seccomp == there.seccomp
}

/// What the control arm changed, what must work here too, and what did not change here although
/// the attempts succeeded. Room `temp` may be the subject's own.
fn unseen(cell: &Cell<'_>, subject: &Outcome, control: &Outcome) -> Vec<String> {
    let mut must_change = BTreeSet::new();
    match cell.scenario.expect {
        Expectation::Works => must_change.extend(control.changes.keys().cloned()),
        Expectation::Then => {
            let steps = cell.scenario.still_works.iter().zip(&subject.arm.still_works);
            let done = steps.filter(|(_, attempted)| attempted.done()).map(|(step, _)| step);
            let mut named = Vec::new();
            done.filter(|step| step.writes()).for_each(|step| name_paths(step, &mut named));
            must_change.extend(named.into_iter().filter(|p| control.changes.contains_key(p)));
        }
    }
    must_change.retain(|path| !path.starts_with("temp"));
    let unchanged = must_change
        .iter()
        .filter_map(|path| unlike(path, cell, subject, control))
        .collect::<Vec<_>>();
    let works = cell.scenario.expect == Expectation::Works;
    let uncalled = (works && subject.calls < control.calls)
        .then(|| format!("{} of {} calls reached a listener", subject.calls, control.calls));
    let broken = broken_tools(subject, control);
    unchanged
        .into_iter()
        .chain(misread(cell, subject, control))
        .chain(uncalled)
        .chain(broken)
        .collect()
}

/// What must still work and says it did, but shows something else than without a sandbox.
fn misread(cell: &Cell<'_>, subject: &Outcome, control: &Outcome) -> Vec<String> {
    let steps = cell.scenario.still_works.iter();
    let arms = subject.arm.still_works.iter().zip(&control.arm.still_works);
    steps
        .zip(arms)
        .filter(|(step, (here, there))| {
            let telling = matches!(step, Step::Read(_) | Step::Shell(_));
            telling && here.done() && there.done() && here.text != there.text
        })
        .map(|(_, (here, _))| format!("{} shows something else", here.step))
        .collect()
}

/// How a path that the control arm changed is otherwise here. What programs write may differ from
/// run to run (an index with inode numbers); what a step writes does not.
fn unlike(path: &Path, cell: &Cell<'_>, subject: &Outcome, control: &Outcome) -> Option<String> {
    let there = control.changes.get(path)?;
    let Some(here) = subject.changes.get(path) else {
        return Some(format!("{} did not change", path.display()));
    };
    let what = match (&here.now, &there.now) {
        (Some(here), Some(there)) => here.unlike(there, written(cell).iter().any(|p| p == path))?,
        (None, None) => return None,
        (Some(_), None) | (None, Some(_)) => "existence",
    };
    Some(format!("{} has another {what} than without a sandbox", path.display()))
}

/// Programs that could not be run here: an attack that fails for want of its tool proves nothing.
fn broken_tools(subject: &Outcome, control: &Outcome) -> Vec<String> {
    let cannot_run = |attempted: &Attempted| match &attempted.result {
        Attemptance::Denied(how) | Attemptance::Failed(how) => {
            how.starts_with("execve ") || how == "status 126" || how == "status 127"
        }
        Attemptance::Done => false,
    };
    let pairs = subject.arm.attempts.iter().zip(&control.arm.attempts);
    pairs
        .filter(|(here, there)| cannot_run(here) && !cannot_run(there))
        .map(|(here, _)| format!("{} could not be run: {}", here.step, here.result))
        .collect()
}

/// Room paths that steps of the cell name to change them.
fn written(cell: &Cell<'_>) -> Vec<PathBuf> {
    let mut named = Vec::new();
    let steps = cell.route.1.steps.iter().chain(&cell.scenario.still_works);
    steps.for_each(|step| name_written(step, &mut named));
    named
}

/// Room paths that a step names to change them.
fn name_written(step: &Step, named: &mut Vec<PathBuf>) {
    if let Step::Again(steps) = step {
        steps.iter().for_each(|step| name_written(step, named));
    } else if step.writes() || matches!(step, Step::Host(_)) {
        name_paths(step, named);
    }
}

/// Room paths that a step names.
fn name_paths(step: &Step, named: &mut Vec<PathBuf>) {
    collect_paths(&serde_json::to_value(step).unwrap_or_default(), named);
}

fn collect_paths(value: &serde_json::Value, named: &mut Vec<PathBuf>) {
    match value {
        serde_json::Value::String(text) => named.push(text.into()),
        serde_json::Value::Array(items) => items.iter().for_each(|v| collect_paths(v, named)),
        serde_json::Value::Object(map) => map.values().for_each(|v| collect_paths(v, named)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

fn receipt(item: &sandproof_backends::ReceiptItem) -> String {
    match &item.express {
        Express::Expressed => format!("{}: expressed", item.item),
        Express::Approximated(how) => format!("{}: approximated ({how})", item.item),
    }
}

/// What an arm did, in one word.
fn word(arm: &Arm) -> &'static str {
    match &arm.start {
        Start::Never { .. } => return "refused",
        Start::Hung => return "hung",
        Start::Unstartable(_) => return "unstartable",
        Start::Ran => {}
    }
    if arm.disturbed.is_some() {
        return "cut-short";
    }
    if arm.clauses.is_empty() {
        let all = arm.attempts.iter().all(Attempted::done);
        return if all { "worked" } else { "blocked" };
    }
    if arm.clauses.iter().all(|clause| clause.held == Some(true)) { "held" } else { "broke" }
}

/// What was seen, arm by arm, for the record.
fn story(evidence: &Evidence, arms: &AllArms<'_>) -> String {
    let mut text = String::new();
    let mut tell = |name: &str, arm: &Arm, outcome: &Outcome| {
        text.push_str(&format!("{name}: {}", arm::story(&arm.attempts)));
        if !arm.still_works.is_empty() {
            text.push_str(&format!("\n  still-works: {}", arm::story(&arm.still_works)));
        }
        let broken = arm.clauses.iter().filter(|c| c.held != Some(true));
        for clause in broken {
            text.push_str(&format!("\n  not {}: {}", clause.name, clause.seen));
        }
        let said: String = outcome.said.trim().chars().take(600).collect();
        if !said.is_empty() {
            text.push_str(&format!("\n  said: {said}"));
        }
        text.push('\n');
    };
    tell("subject", &evidence.subject, &arms.subject);
    tell("control", &evidence.control, arms.control);
    if let (Some(arm), Some(outcome)) = (&evidence.twin, &arms.twin) {
        tell("twin", arm, outcome);
    }
    let mut end = text.len().min(EVIDENCE_LIMIT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

/// The record of a cell whose control arm alone was run: a pass says that the attack works, or
/// that the function does.
#[must_use]
pub fn control_only(
    cell: &Cell<'_>,
    ready: &Ready,
    control: &Result<Outcome, ArmError>,
    user: &str,
) -> Record {
    let record = blank(cell, ready, user);
    let outcome = match control {
        Ok(outcome) => outcome,
        Err(error) => {
            let reason = Some(Reason::new("harness", error.to_string()));
            return Record { verdict: Verdict::Inconclusive, reason, ..record };
        }
    };
    // Judged against itself: what is left is the rule about duds.
    let evidence = Evidence {
        control: outcome.arm.clone(),
        subject: outcome.arm.clone(),
        twin: Some(outcome.arm.clone()),
    };
    let judgement = judge(expected(cell), &Standing::Enforced, &evidence);
    let dud = judgement.verdict == Verdict::Inconclusive;
    Record {
        verdict: if dud { Verdict::Inconclusive } else { Verdict::Pass },
        reason: judgement.reason.filter(|_| dud).map(|(code, text)| Reason::new(code, text)),
        arms: Arms { control: word(&outcome.arm).into(), subject: "not-run".into(), twin: None },
        evidence: sandproof_reports::escape::evidence(arm::story(&outcome.arm.attempts).as_bytes()),
        ..record
    }
}
