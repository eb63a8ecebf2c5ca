//! The liars: subjects that lie, each caught in the way its kind demands. Expected numbers are
//! counted from the catalogue, never typed in.

use std::collections::BTreeMap;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use sandproof_reports::journal::Journal;
use sandproof_reports::{Detail, Record, Verdict};
use sandproof_scenarios::effect::StartEffect;
use sandproof_scenarios::{Expectation, PathEffect, Scenario, Strength, catalogue};

/// What a scenario demands of a liar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Effects must hold; enforced here.
    Enforced,
    /// Effects must hold; best-effort here.
    BestEffort,
    /// The subject itself must leave something behind; whoever does nothing fails that first.
    Leaves,
    /// The start must be refused.
    Refusal,
    /// Must work.
    Works,
}

/// A liar, what of the catalogue it is run on, and what each kind of cell must become.
struct Case {
    liar: &'static str,
    filters: &'static [&'static str],
    timeout: &'static str,
    expect: fn(Kind) -> Expected,
}

/// The only verdict that a kind of cell may have.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Is(Verdict, Option<Detail>),
    /// Any red verdict: how it is caught depends on the route.
    Red,
    /// Best-effort or red: the attack may get through where it may.
    NoPass,
}

const OVERBLOCK: Expected = Expected::Is(Verdict::Fail, Some(Detail::Overblock));
const ESCAPE: Expected = Expected::Is(Verdict::Fail, Some(Detail::Escape));
const STARTED: Expected = Expected::Is(Verdict::Fail, Some(Detail::Started));
const INCONCLUSIVE: Expected = Expected::Is(Verdict::Inconclusive, None);
const PASS: Expected = Expected::Is(Verdict::Pass, None);
const BEST_EFFORT: Expected = Expected::Is(Verdict::BestEffort, None);

/// A few scenarios of every kind, for liars that take their time.
const FEW: &[&str] = &[
    "fs/deny-survives-rename/",
    "fs/deny-glob-covers-late-file/",
    "fs/workspace-is-writable/",
    "start/refuses-symlinked-grok-home/",
];

/// Everything gets through and everything works.
fn as_without_a_sandbox(kind: Kind) -> Expected {
    match kind {
        Kind::Enforced | Kind::Leaves => ESCAPE,
        Kind::BestEffort => BEST_EFFORT,
        Kind::Refusal => STARTED,
        Kind::Works => PASS,
    }
}

/// Red, but where the attack may get through.
fn caught_somehow(kind: Kind) -> Expected {
    match kind {
        Kind::Enforced | Kind::Leaves | Kind::Refusal | Kind::Works => Expected::Red,
        Kind::BestEffort => Expected::NoPass,
    }
}

const CASES: &[Case] = &[
    Case { liar: "null", filters: &[], timeout: "30", expect: as_without_a_sandbox },
    Case {
        liar: "deny-all",
        filters: &[],
        timeout: "30",
        expect: |kind| match kind {
            Kind::Enforced | Kind::BestEffort | Kind::Works => OVERBLOCK,
            Kind::Leaves => ESCAPE,
            Kind::Refusal => INCONCLUSIVE,
        },
    },
    Case { liar: "refuses-every-start", filters: FEW, timeout: "30", expect: |_| INCONCLUSIVE },
    Case { liar: "exits-zero", filters: FEW, timeout: "30", expect: |_| INCONCLUSIVE },
    Case { liar: "forges-protocol", filters: FEW, timeout: "2", expect: |_| INCONCLUSIVE },
    Case { liar: "hangs", filters: FEW, timeout: "1", expect: |_| INCONCLUSIVE },
    Case { liar: "blocks-everything-else", filters: FEW, timeout: "30", expect: |_| Expected::Red },
    Case { liar: "forges-beside", filters: FEW, timeout: "30", expect: as_without_a_sandbox },
    Case { liar: "strips-markers", filters: FEW, timeout: "30", expect: as_without_a_sandbox },
    Case { liar: "kills-probe", filters: FEW, timeout: "10", expect: caught_somehow },
    Case { liar: "leaves-residue", filters: FEW, timeout: "30", expect: caught_somehow },
    Case { liar: "fakes-success", filters: FEW, timeout: "30", expect: |_| Expected::Red },
];

/// One trial per liar.
pub(crate) fn trials(scratch: &Path) -> Vec<Trial> {
    let trial = |case: &'static Case| {
        let path = scratch.join(format!("liar-{}.jsonl", case.liar));
        Trial::test(format!("liar/{}", case.liar), move || check(case, &path))
    };
    let mut trials: Vec<Trial> = CASES.iter().map(trial).collect();
    let path = scratch.join("liar-second-time.jsonl");
    trials.push(Trial::test("liar/leaks-second-time", move || second_time(&path)));
    trials
}

fn check(case: &Case, path: &Path) -> Result<(), Failed> {
    let mut arguments = vec!["--backend", case.liar, "--timeout", case.timeout];
    arguments.extend_from_slice(case.filters);
    let journal = super::run(&arguments, path)?;
    let kinds = kinds()?;
    // Cells that this host cannot run are the only ones that may be left out.
    let ran = journal.records.iter().filter(|record| !host_skip(record));
    let mut counted: BTreeMap<Kind, usize> = BTreeMap::new();
    for record in ran {
        let kind = kinds[&record.id];
        *counted.entry(kind).or_default() += 1;
        let got = (record.verdict, record.detail);
        let right = match (case.expect)(kind) {
            Expected::Is(verdict, detail) => got == (verdict, detail),
            Expected::Red => record.verdict.red(),
            Expected::NoPass => record.verdict.red() || record.verdict == Verdict::BestEffort,
        };
        if !right {
            let reason = record.reason.as_ref().map_or("", |reason| reason.text.as_str());
            let (cell, evidence) = (record.cell(), &record.evidence);
            return Err(format!("{cell}: {got:?} for {kind:?}: {reason}\n{evidence}").into());
        }
    }
    for kind in [Kind::Enforced, Kind::BestEffort, Kind::Refusal, Kind::Works] {
        if counted.get(&kind).copied().unwrap_or(0) == 0 {
            return Err(format!("no cell of kind {kind:?} was run").into());
        }
    }
    every_cell_is_there(&journal, case.filters.is_empty())
}

/// The journal holds as many cells as the catalogue has, by routes and profiles.
fn every_cell_is_there(journal: &Journal, whole: bool) -> Result<(), Failed> {
    let scenarios = load()?;
    let cells: usize = scenarios.iter().map(|s| s.routes.len() * s.policy.profiles.len()).sum();
    if whole && journal.records.len() != cells {
        return Err(format!("{} records of {cells} cells", journal.records.len()).into());
    }
    Ok(())
}

/// A skip that the host alone causes: for want of a capability of its own, or of a program.
fn host_skip(record: &Record) -> bool {
    let code = record.reason.as_ref().map_or("", |reason| reason.code.as_str());
    record.verdict == Verdict::Skip && matches!(code, "host-cannot" | "tool-missing")
}

/// A liar that is honest at the first start is caught by the routes with a second one.
fn second_time(path: &Path) -> Result<(), Failed> {
    let journal = super::run(&["--backend", "leaks-second-time", "fs/"], path)?;
    let again: Vec<String> = load()?
        .iter()
        .flat_map(|scenario| {
            scenario.routes.iter().map(move |(name, route)| (scenario, name, route))
        })
        .filter(|(_, _, route)| {
            route.steps.iter().any(|step| matches!(step, sandproof_scenarios::Step::Again(_)))
        })
        .map(|(scenario, name, _)| format!("{}/{name}", scenario.id))
        .collect();
    let caught = journal.records.iter().filter(|record| {
        let route = format!("{}/{}", record.id, record.route);
        record.verdict == Verdict::Fail && again.contains(&route)
    });
    if caught.count() == 0 {
        return Err(format!("not one of these routes catches it: {}", again.join(" ")).into());
    }
    Ok(())
}

fn kinds() -> Result<BTreeMap<String, Kind>, Failed> {
    Ok(load()?.into_iter().map(|scenario| (scenario.id.clone(), kind(&scenario))).collect())
}

fn kind(scenario: &Scenario) -> Kind {
    let refusal = scenario.routes.iter().any(|(_, route)| match route.effects.start {
        Some(StartEffect::Refused) => true,
        None => false,
    });
    let leaves = scenario.routes.iter().any(|(_, route)| {
        route.effects.paths.values().any(|effect| *effect == PathEffect::Present)
    });
    match (&scenario.expect, scenario.promise.on(sandproof_backends::host::PLATFORM)) {
        (Expectation::Works, _) => Kind::Works,
        (Expectation::Then, _) if refusal => Kind::Refusal,
        (Expectation::Then, _) if leaves => Kind::Leaves,
        (Expectation::Then, Strength::BestEffort(_)) => Kind::BestEffort,
        (Expectation::Then, Strength::Enforced) => Kind::Enforced,
    }
}

fn load() -> Result<Vec<Scenario>, Failed> {
    catalogue::load_embedded().map_err(|complaints| {
        complaints.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n").into()
    })
}
