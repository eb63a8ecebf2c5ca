//! Plans cells: scenario x route x profile x backend, each to run or to skip for a typed reason.

use std::collections::BTreeSet;
use std::path::Path;

use sandproof_backends::bare::Bare;
use sandproof_backends::host::{Host, PLATFORM};
use sandproof_backends::{Backend, Subject};
use sandproof_reports::{Arms, Reason, Record, SubjectId, Verdict};
use sandproof_scenarios::policy::is_glob;
use sandproof_scenarios::{Capability, Fixture, Network, Profile, Route, Scenario, Step, Strength};

/// A backend that is there, with what it would start.
#[derive(Debug)]
pub struct Ready {
    /// The backend.
    pub backend: Box<dyn Backend>,
    /// What it starts.
    pub subject: Subject,
    /// It decides the exit code.
    pub gating: bool,
}

/// Which cells a run wants.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Substrings of `[backend/profile] id/route`; none means all.
    pub filters: Vec<String>,
    /// The filters are whole names.
    pub exact: bool,
    /// Only these profiles; none means all.
    pub profiles: Vec<Profile>,
    /// Only scenarios with one of these tags; none means all.
    pub tags: Vec<String>,
    /// Part K of N, counted from 1.
    pub partition: Option<(u64, u64)>,
}

/// One cell.
#[derive(Clone, Debug)]
pub struct Cell<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Its route.
    pub route: (&'a str, &'a Route),
    /// Under which profile.
    pub profile: Profile,
    /// Which backend, by place in the list.
    pub backend: usize,
    /// Run it, or why not.
    pub skip: Option<Reason>,
    /// It is skipped because the host lacks a mechanism; the subject is started all the same, and
    /// must refuse. One cell per backend and mechanism.
    pub must_refuse: bool,
}

/// All wanted cells, in the order of scenario, route, profile, backend.
#[must_use]
pub fn plan<'a>(
    scenarios: &'a [Scenario],
    backends: &[Ready],
    host: &Host,
    selection: &Selection,
) -> Vec<Cell<'a>> {
    let mut cells = Vec::new();
    for scenario in scenarios.iter().filter(|scenario| tagged(scenario, &selection.tags)) {
        for (name, route) in &scenario.routes {
            for profile in profiles(scenario, selection) {
                for (number, ready) in backends.iter().enumerate() {
                    let skip = skip(scenario, route, profile, ready, host);
                    let route = (name.as_str(), route);
                    cells.push(Cell {
                        scenario,
                        route,
                        profile,
                        backend: number,
                        skip,
                        must_refuse: false,
                    });
                }
            }
        }
    }
    cells.retain(|cell| selected(&name(cell, backends[cell.backend].backend.name()), selection));
    if let Some((part, of)) = selection.partition {
        // By scenario and route, so that a control arm runs in one part only.
        let mut number = 0;
        let mut last = None;
        cells.retain(|cell| {
            let key = (cell.scenario.id.as_str(), cell.route.0);
            if last.replace(key) != Some(key) {
                number += 1;
            }
            number % of == part % of
        });
    }
    demand_refusals(&mut cells, backends);
    cells
}

/// The first cell that a backend cannot run for want of a mechanism of the host must see a refusal:
/// starting without it would be the wrong answer to the same lack.
fn demand_refusals(cells: &mut [Cell<'_>], backends: &[Ready]) {
    let mut seen = BTreeSet::new();
    for cell in cells {
        let backend = backends[cell.backend].backend.as_ref();
        let needs = backend.needs(&implied(cell.scenario, cell.profile));
        let lacks = cell.skip.as_ref().filter(|reason| reason.code == "host-cannot");
        let lacks = lacks.and_then(|reason| reason.lacks.clone());
        let needed = lacks.filter(|lacks| needs.iter().any(|need| need.to_string() == *lacks));
        cell.must_refuse = needed.is_some_and(|lacks| seen.insert((cell.backend, lacks)));
    }
}

/// `[backend/profile] id/route`.
#[must_use]
pub fn name(cell: &Cell<'_>, backend: &str) -> String {
    format!("[{backend}/{}] {}/{}", cell.profile.name(), cell.scenario.id, cell.route.0)
}

/// The record of a cell before it is judged.
#[must_use]
pub fn blank(cell: &Cell<'_>, ready: &Ready, user: &str) -> Record {
    let strength = cell.scenario.promise.on(PLATFORM);
    Record {
        kind: "record".into(),
        id: cell.scenario.id.clone(),
        route: cell.route.0.to_owned(),
        profile: cell.profile.name().to_owned(),
        backend: ready.backend.name().to_owned(),
        platform: PLATFORM,
        gating: ready.gating,
        verdict: Verdict::Missing,
        detail: None,
        reason: Some(Reason::new("missing", "planned, but no result came back")),
        exceeds: false,
        layer: None,
        title: cell.scenario.title.clone(),
        severity: cell.scenario.severity,
        claim: cell.scenario.claim.clone(),
        promise: match strength {
            Strength::Enforced => "enforced".into(),
            Strength::BestEffort(_) => "best-effort".into(),
        },
        subject: Some(SubjectId {
            name: ready.subject.name.clone(),
            version: ready.subject.version.clone(),
            sha256: ready.subject.sha256.clone(),
        }),
        user: user.to_owned(),
        receipt: Vec::new(),
        waiver: None,
        simulated: None,
        arms: Arms { control: "not-run".into(), subject: "not-run".into(), twin: None },
        evidence: String::new(),
        timing: Default::default(),
    }
}

fn tagged(scenario: &Scenario, tags: &[String]) -> bool {
    tags.is_empty() || scenario.tags.iter().any(|tag| tags.contains(tag))
}

fn profiles(scenario: &Scenario, selection: &Selection) -> Vec<Profile> {
    let wanted = |p: &&Profile| selection.profiles.is_empty() || selection.profiles.contains(p);
    scenario.policy.profiles.iter().filter(wanted).copied().collect()
}

fn selected(name: &str, selection: &Selection) -> bool {
    selection.filters.is_empty()
        || selection.filters.iter().any(|filter| {
            if selection.exact { name == filter } else { name.contains(filter.as_str()) }
        })
}

/// Why a cell cannot be run, the first reason found.
fn skip(
    scenario: &Scenario,
    route: &Route,
    profile: Profile,
    ready: &Ready,
    host: &Host,
) -> Option<Reason> {
    let backend = ready.backend.as_ref();
    if !backend.platforms().contains(&PLATFORM) {
        let text = format!("{} does not exist on {}", backend.name(), PLATFORM.name());
        return Some(Reason::new("platform", text).lacking(backend.name()));
    }
    let wanted = wanted(scenario, route, profile);
    // The control arm expresses nothing and is asked for nothing.
    let control = backend.name() == Bare::NAME;
    let cannot = wanted.iter().find(|c| !control && !c.of_host() && !backend.can().contains(c));
    if let Some(capability) = cannot {
        let text =
            format!("{} cannot express {capability}: {}", backend.name(), capability.sentence());
        return Some(Reason::new("backend-cannot", text).lacking(capability.to_string()));
    }
    let host_wants = backend.needs(&implied(scenario, profile));
    for capability in wanted.iter().chain(&host_wants).filter(|c| c.of_host()) {
        if let Err(lack) = host.has(*capability) {
            let text = format!("this host cannot: {}", lack.what);
            let reason = Reason::new("host-cannot", text).lacking(capability.to_string());
            return Some(reason.mended_by(lack.mend));
        }
    }
    let missing = route.tools.iter().find(|tool| find_tool(tool).is_none());
    missing.map(|tool| {
        let text = format!("the program {tool} is not on PATH");
        Reason::new("tool-missing", text).lacking(tool).mended_by(format!("install {tool}"))
    })
}

/// Everything that backend and host must be able to do for this cell.
fn wanted(scenario: &Scenario, route: &Route, profile: Profile) -> BTreeSet<Capability> {
    let mut wanted = implied(scenario, profile);
    // The loader has refused words that are no capability.
    wanted.extend(scenario.needs.iter().filter_map(|word| word.parse::<Capability>().ok()));
    if scenario.given.iter().any(|fixture| matches!(fixture, Fixture::Terminal(true))) {
        wanted.insert(Capability::Tty);
    }
    if has_tool_step(&route.steps) {
        wanted.insert(Capability::AgentTools);
    }
    wanted
}

/// What the policy itself asks of a backend.
fn implied(scenario: &Scenario, profile: Profile) -> BTreeSet<Capability> {
    let policy = &scenario.policy;
    let mut wanted = BTreeSet::new();
    let mut want = |condition: bool, capability: Capability| {
        if condition {
            wanted.insert(capability);
        }
    };
    want(profile != Profile::Off, Capability::WriteScope);
    want(profile == Profile::Strict, Capability::ReadScope);
    want(profile == Profile::WorkspaceWrite, Capability::Metadata);
    want(policy.deny.iter().any(|entry| !is_glob(entry)), Capability::DenyList);
    want(policy.deny.iter().any(|entry| is_glob(entry)), Capability::DenyGlob);
    want(!policy.protect.is_empty(), Capability::Protect);
    let network = policy.network.unwrap_or(profile.network());
    want(network == Network::Blocked, Capability::NetworkBlock);
    want(policy.env.is_some(), Capability::EnvPolicy);
    want(!policy.named, Capability::GrokConfig);
    want(policy.session.is_some(), Capability::Sessions);
    let hooks = scenario.given.iter().any(|f| matches!(f, Fixture::HooksPath(_)));
    want(hooks, Capability::GrokHome);
    wanted
}

fn has_tool_step(steps: &[Step]) -> bool {
    steps.iter().any(|step| {
        if let Step::Again(steps) = step {
            has_tool_step(steps)
        } else {
            matches!(step, Step::Tool(_))
        }
    })
}

/// Where a program lies on PATH.
#[must_use]
pub fn find_tool(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| executable(file))
}

fn executable(file: &Path) -> bool {
    file.is_file() && nix::unistd::access(file, nix::unistd::AccessFlags::X_OK).is_ok()
}
