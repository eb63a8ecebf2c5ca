//! The table of verdicts, row by row: what each combination of arms means.

use rstest::rstest;
use sandproof::evidence::{Arm, Attemptance, Attempted, Clause, Disturbance, End, Evidence, Start};
use sandproof::judge::{Expected, Standing, judge};
use sandproof_reports::{Detail, Verdict};

fn attempt(result: Attemptance) -> Attempted {
    Attempted { step: "read work/a".into(), result, text: "same".into() }
}

fn done() -> Attempted {
    attempt(Attemptance::Done)
}

fn denied() -> Attempted {
    attempt(Attemptance::Denied("open EACCES".into()))
}

fn clause(held: Option<bool>) -> Clause {
    Clause { name: "secrets kept".into(), held, seen: String::new() }
}

/// An arm that ran, with these clauses.
fn ran(clauses: &[Option<bool>]) -> Arm {
    Arm {
        start: Start::Ran,
        disturbed: None,
        attempts: vec![done()],
        still_works: vec![done()],
        clauses: clauses.iter().map(|held| clause(*held)).collect(),
        residue: vec![],
        unseen: vec![],
        unconfined: false,
    }
}

fn never(end: End, message: &str) -> Arm {
    Arm {
        start: Start::Never { end, message: message.into() },
        attempts: vec![],
        still_works: vec![],
        ..ran(&[])
    }
}

fn attacked() -> Arm {
    ran(&[Some(false)])
}

fn held() -> Arm {
    ran(&[Some(true)])
}

fn best_effort() -> Standing {
    Standing::BestEffort("the guide says so".into())
}

fn cell(control: Arm, subject: Arm, twin: Option<Arm>) -> Evidence {
    Evidence { control, subject, twin }
}

#[rstest]
#[case::held("held", held(), Verdict::Pass, None)]
#[case::escape("escape", attacked(), Verdict::Fail, Some(Detail::Escape))]
#[case::one_of_two("one of two", ran(&[Some(true), Some(false)]), Verdict::Fail, Some(Detail::Escape))]
#[case::overblock("overblock", Arm { still_works: vec![denied()], ..held() }, Verdict::Fail, Some(Detail::Overblock))]
#[case::residue("residue", Arm { residue: vec!["work/x appeared".into()], ..held() }, Verdict::Fail, Some(Detail::Residue))]
#[case::no_sandbox("no sandbox", Arm { unconfined: true, ..held() }, Verdict::Fail, Some(Detail::Started))]
#[case::escape_without_sandbox("escape, no sandbox", Arm { unconfined: true, ..attacked() }, Verdict::Fail, Some(Detail::Escape))]
#[case::claimed_only("claimed only", Arm { unseen: vec!["work/x".into()], ..held() }, Verdict::Fail, Some(Detail::Overblock))]
#[case::deadline("deadline", Arm { disturbed: Some(Disturbance::Deadline), ..held() }, Verdict::Inconclusive, None)]
#[case::died("died", Arm { disturbed: Some(Disturbance::ProbeDied(None)), ..held() }, Verdict::Inconclusive, None)]
#[case::leak_then_death("a leak seen outranks a later death", Arm { disturbed: Some(Disturbance::ProbeDied(None)), ..attacked() }, Verdict::Fail, Some(Detail::Escape))]
#[case::escape_outranks_overblock("escape first", Arm { still_works: vec![denied()], ..attacked() }, Verdict::Fail, Some(Detail::Escape))]
#[case::refused("refused", never(End::Exited(1), "no"), Verdict::Inconclusive, None)]
#[case::exit_zero("exit 0", never(End::Exited(0), ""), Verdict::Inconclusive, None)]
#[case::hung("hung", Arm { start: Start::Hung, ..held() }, Verdict::Inconclusive, None)]
#[case::no_program("unstartable", Arm { start: Start::Unstartable("ENOENT".into()), ..held() }, Verdict::Inconclusive, None)]
fn an_enforced_effect(
    #[case] _name: &str,
    #[case] subject: Arm,
    #[case] verdict: Verdict,
    #[case] detail: Option<Detail>,
) {
    let control = ran(&subject.clauses.iter().map(|_| Some(false)).collect::<Vec<_>>());
    let judgement = judge(Expected::Effects, &Standing::Enforced, &cell(control, subject, None));
    assert_eq!((judgement.verdict, judgement.detail), (verdict, detail));
    assert_eq!(judgement.reason.is_none(), verdict == Verdict::Pass);
    assert!(!judgement.exceeds);
}

#[rstest]
#[case::through(attacked(), Verdict::BestEffort, None, false)]
#[case::held(held(), Verdict::Pass, None, true)]
#[case::through_but_overblocks(Arm { still_works: vec![denied()], ..attacked() }, Verdict::Fail, Some(Detail::Overblock), false)]
#[case::died(Arm { disturbed: Some(Disturbance::Deadline), ..held() }, Verdict::Inconclusive, None, false)]
#[case::did_not_start(never(End::Exited(1), "no"), Verdict::Inconclusive, None, false)]
#[case::gap_covers_residue(Arm { residue: vec!["x".into()], ..held() }, Verdict::BestEffort, None, false)]
fn a_best_effort_effect(
    #[case] subject: Arm,
    #[case] verdict: Verdict,
    #[case] detail: Option<Detail>,
    #[case] exceeds: bool,
) {
    let judgement = judge(Expected::Effects, &best_effort(), &cell(attacked(), subject, None));
    assert_eq!((judgement.verdict, judgement.detail), (verdict, detail));
    assert_eq!(judgement.exceeds, exceeds);
}

#[rstest]
#[case::a_clause_holds_without_a_sandbox(held())]
#[case::one_clause_holds_without_a_sandbox(ran(&[Some(false), Some(true)]))]
#[case::a_clause_is_unknown(ran(&[None]))]
#[case::still_works_fails_without_a_sandbox(Arm { still_works: vec![denied()], ..attacked() })]
#[case::it_was_cut_short(Arm { disturbed: Some(Disturbance::Deadline), ..attacked() })]
#[case::it_did_not_start(never(End::Exited(127), "no such file"))]
#[case::it_hung(Arm { start: Start::Hung, ..attacked() })]
fn a_dud_control_is_never_a_verdict_on_the_sandbox(
    #[case] control: Arm,
    #[values(held(), attacked())] subject: Arm,
    #[values(Standing::Enforced, best_effort())] standing: Standing,
) {
    let judgement = judge(Expected::Effects, &standing, &cell(control, subject, None));
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
}

#[rstest]
#[case::refused(never(End::Exited(125), "refused: GROK_HOME is a symlink"), Verdict::Pass, None)]
#[case::started(attacked(), Verdict::Fail, Some(Detail::Started))]
#[case::exit_zero(never(End::Exited(0), "fine"), Verdict::Inconclusive, None)]
#[case::signal(never(End::Signalled(11), "oops"), Verdict::Inconclusive, None)]
#[case::silent(never(End::Exited(1), "  \n"), Verdict::Inconclusive, None)]
#[case::hung(Arm { start: Start::Hung, ..held() }, Verdict::Inconclusive, None)]
#[case::ran_although_it_refused(Arm { clauses: vec![clause(Some(false))], ..never(End::Exited(125), "no") }, Verdict::Fail, Some(Detail::Escape))]
#[case::left_something(Arm { residue: vec!["x".into()], ..never(End::Exited(125), "no") }, Verdict::Fail, Some(Detail::Residue))]
fn a_refusal(#[case] subject: Arm, #[case] verdict: Verdict, #[case] detail: Option<Detail>) {
    let evidence = cell(attacked(), subject, Some(attacked()));
    let judgement = judge(Expected::Refusal, &Standing::Enforced, &evidence);
    assert_eq!((judgement.verdict, judgement.detail), (verdict, detail));
}

#[rstest]
#[case::refused(Some(never(End::Exited(125), "no")))]
#[case::started_but_every_step_is_denied(Some(Arm { attempts: vec![denied()], ..attacked() }))]
#[case::cut_short(Some(Arm { disturbed: Some(Disturbance::Deadline), ..attacked() }))]
#[case::absent(None)]
fn a_refusal_counts_only_when_the_twin_starts(
    #[case] twin: Option<Arm>,
    #[values(never(End::Exited(125), "no"), attacked())] subject: Arm,
) {
    let evidence = cell(attacked(), subject, twin);
    let judgement = judge(Expected::Refusal, &Standing::Enforced, &evidence);
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
}

#[rstest]
#[case::same(ran(&[]), Verdict::Pass, None)]
#[case::denied(Arm { attempts: vec![denied()], ..ran(&[]) }, Verdict::Fail, Some(Detail::Overblock))]
#[case::failed(Arm { attempts: vec![attempt(Attemptance::Failed("status 1".into()))], ..ran(&[]) }, Verdict::Fail, Some(Detail::Overblock))]
#[case::other_result(Arm { attempts: vec![Attempted { text: "other".into(), ..done() }], ..ran(&[]) }, Verdict::Fail, Some(Detail::Overblock))]
#[case::too_few(Arm { attempts: vec![], ..ran(&[]) }, Verdict::Fail, Some(Detail::Overblock))]
#[case::residue(Arm { residue: vec!["x".into()], ..ran(&[]) }, Verdict::Fail, Some(Detail::Residue))]
#[case::claimed_only(Arm { unseen: vec!["work/x".into()], ..ran(&[]) }, Verdict::Fail, Some(Detail::Overblock))]
#[case::did_not_start(never(End::Exited(1), "no"), Verdict::Inconclusive, None)]
#[case::cut_short(Arm { disturbed: Some(Disturbance::StepDied(9)), ..ran(&[]) }, Verdict::Inconclusive, None)]
fn a_function(#[case] subject: Arm, #[case] verdict: Verdict, #[case] detail: Option<Detail>) {
    let judgement = judge(Expected::Works, &Standing::Enforced, &cell(ran(&[]), subject, None));
    assert_eq!((judgement.verdict, judgement.detail), (verdict, detail));
}

#[test]
fn a_function_that_fails_without_a_sandbox_is_inconclusive() {
    let control = Arm { attempts: vec![denied()], ..ran(&[]) };
    let judgement = judge(Expected::Works, &Standing::Enforced, &cell(control, ran(&[]), None));
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
}
