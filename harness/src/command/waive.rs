//! Waivers: known failures, applied when all records are there.

use std::path::Path;

use sandproof_reports::waive;
use sandproof_scenarios::Scenario;
use sandproof_scenarios::waiver::{Waiver, load_waivers};

use crate::command::Failure;
use crate::command::source::refused;
use crate::consume::Settle;

/// What `--waivers` does to records. A waiver that speaks of no scenario of this run, or that is
/// not given yet, is a mistake: it would never go stale.
pub(super) fn settle(
    dir: Option<&Path>,
    scenarios: &[Scenario],
) -> Result<Option<Settle>, Failure> {
    let Some(dir) = dir else { return Ok(None) };
    let waivers = load_waivers(dir).map_err(refused)?;
    let today = crate::provenance::today();
    let wrong: Vec<String> =
        waivers.iter().filter_map(|waiver| wrong(waiver, scenarios, &today)).collect();
    if !wrong.is_empty() {
        return Err(Failure::usage(wrong.join("\n")));
    }
    Ok(Some(Box::new(move |records| waive::settle(records, &waivers, &today))))
}

fn wrong(waiver: &Waiver, scenarios: &[Scenario], today: &str) -> Option<String> {
    let name = waiver.subject();
    let Some(scenario) = scenarios.iter().find(|scenario| scenario.id == waiver.id) else {
        return Some(format!("--waivers: {name}: there is no scenario `{}`", waiver.id));
    };
    let known = |route: &String| scenario.routes.iter().any(|(name, _)| name == route);
    if let Some(route) = waiver.route.as_ref().filter(|route| !known(route)) {
        return Some(format!("--waivers: {name}: the scenario has no route `{route}`"));
    }
    (waiver.date.as_str() > today)
        .then(|| format!("--waivers: {name}: it is dated {}, which is not yet", waiver.date))
}
