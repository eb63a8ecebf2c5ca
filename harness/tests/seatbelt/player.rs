//! [`Player`]: plays the steps of a cell, each behind the gate of the profile.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;

use sandproof::evidence::{Attemptance, Attempted};
use sandproof::world::World;
use sandproof_backends::seatbelt::profile as profile_text;
use sandproof_backends::seatbelt::simulate::asks::asks;
use sandproof_backends::seatbelt::simulate::{self, Answer};
use sandproof_probes::perform::perform;
use sandproof_probes::{Attempt, Endpoint, Observation, Outcome};
use sandproof_scenarios::resolve::{Scene, attempt};
use sandproof_scenarios::step::HostAct;
use sandproof_scenarios::{Expectation, RoomPath, Step};

use super::play::{Cell, Change, TOKEN};

/// Why playing stops.
pub(crate) enum Stop {
    Unsimulated(String),
    Failed(String),
}

/// Plays steps.
pub(crate) struct Player<'a> {
    cell: &'a Cell,
    world: &'a World,
    gate: Option<simulate::Profile>,
    change: Option<Change<'a>>,
    pub(crate) seen: Vec<Observation>,
    pub(crate) attempts: Vec<Attempted>,
    pub(crate) calls: Vec<Vec<u8>>,
    pub(crate) secrets: Vec<RoomPath>,
    pub(crate) log: Vec<String>,
}

impl<'a> Player<'a> {
    pub(crate) fn new(cell: &'a Cell, world: &'a World, change: Option<Change<'a>>) -> Self {
        Self {
            cell,
            world,
            gate: None,
            change,
            seen: Vec::new(),
            attempts: Vec::new(),
            calls: Vec::new(),
            secrets: Vec::new(),
            log: Vec::new(),
        }
    }

    /// Writes the profile for the world as it is now, and reads it back.
    pub(crate) fn start(&mut self) -> Result<(), Stop> {
        let Some(change) = self.change else { return Ok(()) };
        let rooms = &self.world.rooms;
        let probe = &rooms.config;
        let policy = self.cell.scenario.policy.resolve(self.cell.profile, rooms, probe);
        let text = profile_text(&policy, rooms).map_err(Stop::Failed)?;
        let profile = simulate::Profile::read(&change(&text));
        self.gate = Some(profile.map_err(|error| Stop::Failed(error.to_string()))?);
        Ok(())
    }

    pub(crate) fn play(&mut self, steps: &[Step]) -> Result<(), Stop> {
        for step in steps {
            if let Step::Host(act) = step {
                self.act(act).map_err(|error| Stop::Failed(error.to_string()))?;
            } else if let Step::Again(steps) = step {
                self.start()?;
                self.play(steps)?;
            } else {
                self.attempt(step, self.cell.scenario.expect == Expectation::Works)?;
            }
        }
        Ok(())
    }

    /// What must still work; steps that cannot be simulated are left out.
    pub(crate) fn still_works(&mut self) -> Result<(), String> {
        for step in &self.cell.scenario.still_works {
            match self.attempt(step, true) {
                Ok(()) | Err(Stop::Unsimulated(_)) => {}
                Err(Stop::Failed(why)) => return Err(why),
            }
        }
        match self.attempts.iter().find(|one| one.result != Attemptance::Done) {
            Some(one) => Err(format!("still-works {}: {}", one.step, one.result)),
            None => Ok(()),
        }
    }

    fn attempt(&mut self, step: &Step, must_work: bool) -> Result<(), Stop> {
        let attempt = self.resolve(step)?;
        let asks = asks(&attempt).map_err(|why| Stop::Unsimulated(why.to_owned()))?;
        for ask in asks {
            let Some(gate) = &self.gate else { break };
            let answer = ask.of(gate).ok_or_else(|| Stop::Failed(ask.operation.to_owned()))?;
            self.log.push(format!("{} {:?}: {answer}", ask.operation, ask.thing));
            match answer {
                Answer::Allowed(_) => {}
                Answer::Denied(_) if !ask.certain && !must_work => {}
                Answer::Denied(rule) => {
                    self.note(step, Attemptance::Denied(rule));
                    return Ok(());
                }
                // Nobody knows: what is promised is broken, and so is what must work.
                Answer::Disputed(..) => {
                    self.note(step, Attemptance::Failed(answer.to_string()));
                    if !must_work {
                        self.carry_out(&attempt, step);
                    }
                    return Ok(());
                }
            }
        }
        self.carry_out(&attempt, step);
        Ok(())
    }

    fn note(&mut self, step: &Step, result: Attemptance) {
        let step = format!("{step:?}");
        self.attempts.push(Attempted { step, result, text: String::new() });
    }

    /// Does what is allowed. Of the network only the call itself is kept.
    fn carry_out(&mut self, attempt: &Attempt, step: &Step) {
        if let Attempt::Connect { .. } | Attempt::Send { .. } = attempt {
            self.calls.push(TOKEN.into());
        } else if !matches!(
            attempt,
            Attempt::Bind { at: Endpoint::Tcp { .. } | Endpoint::Udp { .. } }
        ) {
            let observation = perform(attempt);
            let outcome = observation.outcome.clone();
            self.seen.push(observation);
            if outcome != Outcome::Done {
                return self.note(step, Attemptance::Failed(format!("{outcome:?}")));
            }
        }
        self.note(step, Attemptance::Done);
    }

    fn resolve(&self, step: &Step) -> Result<Attempt, Stop> {
        let listeners = self.world.endpoints();
        let scene = Scene {
            rooms: &self.world.rooms,
            token: &self.world.words.token,
            listeners: &listeners,
            victims: &BTreeMap::new(),
            shell_env: &BTreeMap::new(),
        };
        attempt(step, &scene).map_err(Stop::Unsimulated)
    }

    fn act(&mut self, act: &HostAct) -> io::Result<()> {
        let rooms = &self.world.rooms;
        match act {
            HostAct::Write(write) => {
                let path = write.path.resolve(rooms);
                fs::create_dir_all(path.parent().unwrap_or(&path))?;
                self.secrets.push(write.path.clone());
                fs::write(path, self.world.content(&write.holds))
            }
            HostAct::Rename(pair) => {
                self.secrets.push(pair.to.clone());
                fs::rename(pair.from.resolve(rooms), pair.to.resolve(rooms))
            }
            HostAct::Unlink(path) => fs::remove_file(path.resolve(rooms)),
            HostAct::Mkdir(path) => fs::create_dir_all(path.resolve(rooms)),
            HostAct::Symlink(link) => symlink(link.to.resolve(rooms), link.path.resolve(rooms)),
        }
    }
}
