//! The judge: promise and evidence to [`Judgement`]. Pure and total: no I/O, no clock, no failure.
//!
//! The order of the rules is the table of design.md section 4. What is seen from outside outranks
//! what is said from inside; a failure outranks a best-effort break.

use sandproof_reports::{Detail, Verdict};
use sandproof_scenarios::Strength;

use crate::evidence::{Arm, Attempted, Disturbance, End, Evidence, Start};

/// What the scenario expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Effects must hold although the route is tried.
    Effects,
    /// The start must be refused.
    Refusal,
    /// Everything must work as without a sandbox.
    Works,
}

/// How strongly the promise is made here, after the backend's documented gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A break is a failure.
    Enforced,
    /// A break is documented: by the promise or by a gap, with its words.
    BestEffort(String),
}

impl Standing {
    /// The promise on this platform, weakened by the vendor's documented gap, if any.
    #[must_use]
    pub fn of(promise: &Strength, gap: Option<&str>) -> Self {
        match (promise, gap) {
            (Strength::BestEffort(reason), _) => Standing::BestEffort(reason.clone()),
            (Strength::Enforced, Some(says)) => {
                Standing::BestEffort(format!("documented gap: {says}"))
            }
            (Strength::Enforced, None) => Standing::Enforced,
        }
    }
}

/// The verdict with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// How it failed.
    pub detail: Option<Detail>,
    /// Stable word and sentence; none for a plain pass.
    pub reason: Option<(&'static str, String)>,
    /// A best-effort promise held.
    pub exceeds: bool,
}

/// Judges one cell.
#[must_use]
pub fn judge(expected: Expected, standing: &Standing, evidence: &Evidence) -> Judgement {
    match expected {
        Expected::Effects => effects(standing, evidence),
        Expected::Refusal => refusal(standing, evidence),
        Expected::Works => works(standing, evidence),
    }
}

fn effects(standing: &Standing, evidence: &Evidence) -> Judgement {
    let Evidence { control, subject, twin: _ } = evidence;
    if let Some(dud) = dud_control(control) {
        return dud;
    }
    if control.clauses.is_empty() || control.clauses.len() != subject.clauses.len() {
        return inconclusive("no-effect", "not every effect was looked at".into());
    }
    if let Some(not_started) = not_started(subject) {
        return not_started;
    }
    let broken = broken(subject);
    let overblocked = blocked(&subject.still_works);
    if broken.is_some() && *standing == Standing::Enforced {
        return fail(Detail::Escape, "escape", broken.unwrap_or_default());
    }
    if let Some(disturbance) = &subject.disturbed
        && broken.is_none()
    {
        return disturbed("subject", disturbance);
    }
    if let Some(what) = overblocked.or_else(|| unseen(subject)) {
        return fail(Detail::Overblock, "overblock", what);
    }
    if broken.is_none() && subject.unconfined {
        let text = "a sandbox was claimed, and none is active: the effect held for another reason";
        return fail(Detail::Started, "no-sandbox", text.into());
    }
    settle(standing, broken, &subject.residue)
}

fn refusal(standing: &Standing, evidence: &Evidence) -> Judgement {
    let Evidence { control, subject, twin } = evidence;
    if let Some(dud) = dud_control(control) {
        return dud;
    }
    if !shown(control) {
        return inconclusive("dud-control", "no step of the route works without a sandbox".into());
    }
    match twin {
        None => return inconclusive("no-twin", "there is no twin arm".into()),
        Some(twin) => {
            if let Some(refused) = twin_refused(twin) {
                return refused;
            }
        }
    }
    match &subject.start {
        Start::Ran => started(standing),
        Start::Hung => inconclusive("deadline", "it neither started nor refused in time".into()),
        Start::Unstartable(why) => inconclusive("subject-did-not-start", why.clone()),
        Start::Never { end, message } => match refused_properly(*end, message) {
            Err(why) => inconclusive("not-a-refusal", why),
            Ok(()) => match broken(subject) {
                Some(what) => fail(Detail::Escape, "escape", what),
                None => settle(standing, None, &subject.residue),
            },
        },
    }
}

fn works(standing: &Standing, evidence: &Evidence) -> Judgement {
    let Evidence { control, subject, twin: _ } = evidence;
    if let Some(dud) = control_disturbed(control) {
        return dud;
    }
    if let Some(what) = blocked(&control.attempts) {
        let text = format!("does not work without a sandbox either: {what}");
        return inconclusive("dud-control", text);
    }
    if let Some(not_started) = not_started(subject) {
        return not_started;
    }
    if let Some(disturbance) = &subject.disturbed {
        return disturbed("subject", disturbance);
    }
    match (differs(control, subject).or_else(|| unseen(subject)), standing) {
        (Some(what), Standing::Enforced) => fail(Detail::Overblock, "overblock", what),
        (broken, _) => settle(standing, broken, &subject.residue),
    }
}

/// After everything that fails by itself: residue, then best-effort or pass.
fn settle(standing: &Standing, broken: Option<String>, residue: &[String]) -> Judgement {
    match (standing, broken) {
        (Standing::Enforced, _) if !residue.is_empty() => {
            fail(Detail::Residue, "residue", residue.join("; "))
        }
        (Standing::BestEffort(reason), None) if !residue.is_empty() => {
            best_effort(format!("{reason} (left behind: {})", residue.join("; ")))
        }
        (Standing::BestEffort(reason), Some(_)) if !residue.is_empty() => {
            best_effort(format!("{reason} (left behind: {})", residue.join("; ")))
        }
        (Standing::BestEffort(reason), Some(_)) => best_effort(reason.clone()),
        (Standing::Enforced, Some(what)) => fail(Detail::Escape, "escape", what),
        (Standing::BestEffort(_), None) => pass(true),
        (Standing::Enforced, None) => pass(false),
    }
}

fn started(standing: &Standing) -> Judgement {
    match standing {
        Standing::Enforced => {
            fail(Detail::Started, "started", "the command ran, the start had to be refused".into())
        }
        Standing::BestEffort(reason) => best_effort(reason.clone()),
    }
}

/// A control arm that proves nothing: it was cut short, a clause held in it, or what must go on
/// working does not work without a sandbox either.
fn dud_control(control: &Arm) -> Option<Judgement> {
    if let Some(judgement) = control_disturbed(control) {
        return Some(judgement);
    }
    let held: Vec<&str> =
        control.clauses.iter().filter(|c| c.held != Some(false)).map(|c| c.name.as_str()).collect();
    if !held.is_empty() {
        let text =
            format!("the attack does not work without a sandbox: {} there too", held.join(", "));
        return Some(inconclusive("dud-control", text));
    }
    blocked(&control.still_works).map(|what| {
        inconclusive("dud-control", format!("still-works fails without a sandbox: {what}"))
    })
}

fn control_disturbed(control: &Arm) -> Option<Judgement> {
    match &control.start {
        Start::Ran => control.disturbed.as_ref().map(|d| disturbed("control", d)),
        Start::Never { end, message } => Some(inconclusive(
            "control-did-not-start",
            format!("the control arm ended with {end} before it ran: {message}"),
        )),
        Start::Hung => Some(inconclusive("control-did-not-start", "the control arm hung".into())),
        Start::Unstartable(why) => Some(inconclusive("control-did-not-start", why.clone())),
    }
}

fn not_started(subject: &Arm) -> Option<Judgement> {
    match &subject.start {
        Start::Ran => None,
        Start::Never { end, message } => Some(inconclusive(
            "subject-did-not-start",
            format!("the subject ended with {end} before the command ran: {message}"),
        )),
        Start::Hung => {
            Some(inconclusive("deadline", "the subject did not start the command in time".into()))
        }
        Start::Unstartable(why) => Some(inconclusive("subject-did-not-start", why.clone())),
    }
}

fn twin_refused(twin: &Arm) -> Option<Judgement> {
    if let Some(judgement) = not_started(twin) {
        let text = judgement.reason.map(|(_, text)| text).unwrap_or_default();
        return Some(inconclusive("twin-refused", format!("the harmless twin too: {text}")));
    }
    if let Some(disturbance) = &twin.disturbed {
        return Some(disturbed("twin", disturbance));
    }
    (!shown(twin)).then(|| {
        inconclusive("twin-refused", "no step of the route worked in the harmless twin".into())
    })
}

/// Refused: ended by itself, with a status that is not 0, and said why.
fn refused_properly(end: End, message: &str) -> Result<(), String> {
    match end {
        End::Signalled(_) => Err(format!("it ended with {end}, which is no refusal")),
        End::Exited(0) => Err("it ended with status 0 without running the command".into()),
        End::Exited(code) if message.trim().is_empty() => {
            Err(format!("it ended with status {code} without a message"))
        }
        End::Exited(_) => Ok(()),
    }
}

/// True when at least one attempt of the route worked.
fn shown(arm: &Arm) -> bool {
    arm.attempts.iter().any(Attempted::done)
}

/// The clauses that are known not to have held.
fn broken(arm: &Arm) -> Option<String> {
    let broken: Vec<String> = arm
        .clauses
        .iter()
        .filter(|clause| clause.held == Some(false))
        .map(|clause| format!("not {}: {}", clause.name, clause.seen))
        .collect();
    (!broken.is_empty()).then(|| broken.join("; "))
}

/// What is claimed to have been done, and is not there outside.
fn unseen(arm: &Arm) -> Option<String> {
    let what = arm.unseen.join(", ");
    (!what.is_empty()).then(|| format!("it says done, but {what}"))
}

/// The attempts that did not succeed.
fn blocked(attempts: &[Attempted]) -> Option<String> {
    let blocked: Vec<String> = attempts
        .iter()
        .filter(|attempt| !attempt.done())
        .map(|attempt| format!("{} {}", attempt.step, attempt.result))
        .collect();
    (!blocked.is_empty()).then(|| blocked.join("; "))
}

/// Where the visible result of a functional route differs from the control arm.
fn differs(control: &Arm, subject: &Arm) -> Option<String> {
    if let Some(what) = blocked(&subject.attempts) {
        return Some(what);
    }
    if control.attempts.len() != subject.attempts.len() {
        return Some("not every step was carried out".into());
    }
    control.attempts.iter().zip(&subject.attempts).find(|(c, s)| c.text != s.text).map(|(c, s)| {
        format!("{} shows `{}` instead of `{}`", s.step, short(&s.text), short(&c.text))
    })
}

fn short(text: &str) -> String {
    let mut line: String = text.chars().take(80).collect();
    if line.len() < text.len() {
        line.push('…');
    }
    line.escape_debug().to_string()
}

fn disturbed(arm: &str, disturbance: &Disturbance) -> Judgement {
    let (code, text) = match disturbance {
        Disturbance::Deadline => ("deadline", format!("the {arm} arm was not through in time")),
        Disturbance::ProbeDied(Some(end)) => {
            ("probe-died", format!("the {arm} arm ended with {end} before its steps were through"))
        }
        Disturbance::ProbeDied(None) => {
            ("probe-died", format!("the probe of the {arm} arm stopped answering"))
        }
        Disturbance::StepDied(signal) => (
            "step-died",
            format!(
                "a step of the {arm} arm died of {}",
                sandproof_probes::errno::signal_name(*signal)
            ),
        ),
        Disturbance::OtherUser(uid) => {
            ("other-user", format!("the {arm} arm ran as uid {uid}, not as the user of the run"))
        }
        Disturbance::Protocol(what) => ("protocol", format!("the {arm} arm: {what}")),
        Disturbance::HostAct(what) => ("host-act", format!("the {arm} arm: {what}")),
        Disturbance::Unavailable(what) => ("unavailable", format!("the {arm} arm: {what}")),
    };
    inconclusive(code, text)
}

fn pass(exceeds: bool) -> Judgement {
    Judgement { verdict: Verdict::Pass, detail: None, reason: None, exceeds }
}

fn fail(detail: Detail, code: &'static str, text: String) -> Judgement {
    Judgement {
        verdict: Verdict::Fail,
        detail: Some(detail),
        reason: Some((code, text)),
        exceeds: false,
    }
}

fn best_effort(text: String) -> Judgement {
    Judgement {
        verdict: Verdict::BestEffort,
        detail: None,
        reason: Some(("best-effort", text)),
        exceeds: false,
    }
}

fn inconclusive(code: &'static str, text: String) -> Judgement {
    Judgement {
        verdict: Verdict::Inconclusive,
        detail: None,
        reason: Some((code, text)),
        exceeds: false,
    }
}
