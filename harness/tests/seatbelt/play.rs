//! [`Cell`]: one route under one profile, played with the profile as the gate.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use sandproof::evidence::{Attemptance, Attempted, Clause};
use sandproof::inspect::{Seen, clauses};
use sandproof::photo::{Look, Photo};
use sandproof::world::{Words, World};
use sandproof_scenarios::{Expectation, PathEffect, Profile, Route, Scenario};

use super::player::{Player, Stop};

/// What playing a cell brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The profile keeps the promise.
    Held,
    /// It does not.
    Broken(String),
    /// Nobody can say.
    Unsimulated(String),
    /// The test itself is at fault.
    Failed(String),
}

/// One route under one profile.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) profile: Profile,
    route: usize,
    arena: PathBuf,
    lack: Option<String>,
    played: AtomicUsize,
    whole: OnceLock<Shown>,
}

/// Changes the text of a profile before it is read.
pub(crate) type Change<'a> = &'a dyn Fn(&str) -> String;

impl Cell {
    pub(crate) fn new(
        scenario: Arc<Scenario>,
        profile: Profile,
        route: usize,
        arena: PathBuf,
        lack: Option<String>,
    ) -> Self {
        Self {
            scenario,
            profile,
            route,
            arena,
            lack,
            played: AtomicUsize::new(0),
            whole: OnceLock::new(),
        }
    }

    pub(crate) fn name(&self) -> String {
        let route = &self.scenario.routes[self.route].0;
        format!("[{}] {}/{route}", super::word(self.profile), self.scenario.id)
    }

    fn route(&self) -> &Route {
        &self.scenario.routes[self.route].1
    }

    /// Plays it under the profile as it is, once.
    pub(crate) fn whole(&self) -> &Shown {
        self.whole.get_or_init(|| self.play(&str::to_owned))
    }

    /// Plays it under the profile as `change` leaves it.
    pub(crate) fn play(&self, change: Change<'_>) -> Shown {
        if let Some(why) = &self.lack {
            return Shown::Unsimulated(why.clone());
        }
        let effects = &self.route().effects;
        if effects.start.is_some() {
            return Shown::Unsimulated("the start is refused before there is a profile".into());
        }
        if effects.paths.values().any(|effect| *effect == PathEffect::Present) {
            return Shown::Unsimulated("it is about what the sandbox itself writes".into());
        }
        match self.judge(change) {
            Ok(None) => Shown::Held,
            Ok(Some(why)) => Shown::Broken(why),
            Err(Stop::Unsimulated(why)) => Shown::Unsimulated(why),
            Err(Stop::Failed(why)) => Shown::Failed(why),
        }
    }

    /// Why it is broken, if it is.
    fn judge(&self, change: Change<'_>) -> Result<Option<String>, Stop> {
        let scenario = &self.scenario;
        if scenario.expect == Expectation::Works {
            let arm = self.arm(Some(change))?;
            return Ok(arm.all_done().err());
        }
        let route = self.route();
        // Once it held, the attack is known to work.
        if self.whole.get() != Some(&Shown::Held) && self.is_dud(route)? {
            return Err(Stop::Failed("without a profile the attack does nothing".to_owned()));
        }
        let arm = self.arm(Some(change))?;
        if let Some(clause) = arm.clauses.iter().find(|clause| clause.held != Some(true)) {
            let log = arm.log.join("\n  ");
            return Ok(Some(format!("{}: {}\n  {log}", clause.name, clause.seen)));
        }
        if arm.denied == 0 {
            return Ok(Some("nothing was denied".to_owned()));
        }
        Ok(arm.works.err())
    }

    /// Whether the attack does nothing even without a profile.
    fn is_dud(&self, route: &Route) -> Result<bool, Stop> {
        let control = self.arm(None)?;
        let broken = control.clauses.iter().any(|clause| clause.held == Some(false));
        Ok(!broken && route.effects.attempts.is_none())
    }

    /// Plays the route in a world of its own; without a change there is no gate at all.
    fn arm(&self, gate: Option<Change<'_>>) -> Result<Arm, Stop> {
        let number = self.played.fetch_add(1, Ordering::Relaxed);
        let arena = self.arena.with_extension(number.to_string());
        let words = Words { marker: MARKER.to_owned(), token: TOKEN.to_owned() };
        let nobody = PathBuf::from("/nonexistent");
        let world = World::build(&arena, &self.scenario.given, words, &nobody)
            .map_err(|error| Stop::Failed(error.to_string()))?;
        let mut player = Player::new(self, &world, gate);
        player.start()?;
        let before = photograph(&world)?;
        player.play(&self.route().steps)?;
        let after = photograph(&world)?;
        let denied = player.attempts.iter().filter(|one| is_denied(one)).count();
        let seen = Seen {
            before: &before,
            after: &[&after],
            words: &world.words,
            observations: &player.seen,
            calls: &player.calls,
            harm: &[],
            hello: None,
            host_secrets: &player.secrets,
            last: player.attempts.last(),
            started: true,
        };
        let clauses = clauses(&self.route().effects, &seen);
        let route = std::mem::take(&mut player.attempts);
        let works = player.still_works();
        let log = std::mem::take(&mut player.log);
        drop(player);
        drop(world);
        fs::remove_dir_all(&arena).map_err(|error| Stop::Failed(error.to_string()))?;
        Ok(Arm { clauses, denied, route, works, log })
    }
}

pub(crate) const MARKER: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const TOKEN: &str = "fedcba9876543210fedcba9876543210";

/// What one play showed.
struct Arm {
    clauses: Vec<Clause>,
    denied: usize,
    route: Vec<Attempted>,
    works: Result<(), String>,
    log: Vec<String>,
}

impl Arm {
    /// Everything was allowed and worked.
    fn all_done(&self) -> Result<(), String> {
        match self.route.iter().find(|one| one.result != Attemptance::Done) {
            Some(one) => Err(format!("{}: {}\n  {}", one.step, one.result, self.log.join("\n  "))),
            None => Ok(()),
        }
    }
}

fn is_denied(attempted: &Attempted) -> bool {
    matches!(attempted.result, Attemptance::Denied(_))
}

fn photograph(world: &World) -> Result<Photo, Stop> {
    let look = Look { markers: &[MARKER.as_bytes()], varying: &[] };
    Photo::take(&world.rooms, &look).map_err(|error| Stop::Failed(error.to_string()))
}
