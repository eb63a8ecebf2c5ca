//! [`Script`]: plays the steps of one arm in one or more sessions, and keeps what was seen.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::time::Instant;

use nix::pty::{OpenptyResult, openpty};
use sandproof_backends::Launch;
use sandproof_probes::wire::{Ask, Hello};
use sandproof_probes::{Attempt, Observation};
use sandproof_scenarios::resolve::{Scene, VictimAddress, attempt};
use sandproof_scenarios::step::HostAct;
use sandproof_scenarios::{RoomPath, Step};

use crate::arm::{Bench, disturbance, never};
use crate::channel::Folder;
use crate::denial;
use crate::evidence::{Attempted, Disturbance, End, Start};
use crate::photo::CHANNEL;
use crate::session::{self, Finished, Session};
use crate::world::World;

/// What playing the steps brought.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Whether the command ran.
    pub start: Start,
    /// What cut it short.
    pub disturbed: Option<Disturbance>,
    /// Attempts of the route.
    pub attempts: Vec<Attempted>,
    /// Attempts of `still-works`.
    pub still_works: Vec<Attempted>,
    /// All observations, raw.
    pub observations: Vec<Observation>,
    /// What was seen to happen to victims while the steps ran.
    pub harm: Vec<String>,
    /// Secret files that host acts made.
    pub host_secrets: Vec<RoomPath>,
    /// What the probe measured at the first start.
    pub hello: Option<Hello>,
    /// Layer that denied first, where it can be shown.
    pub layer: Option<&'static str>,
    /// Processes left behind.
    pub leftovers: Vec<String>,
    /// What the subject said, with what varies replaced.
    pub said: String,
}

/// Plays the steps of one arm.
#[expect(missing_debug_implementations, reason = "it holds a closure")]
pub struct Script<'a> {
    bench: &'a Bench<'a>,
    launch: &'a Launch,
    world: &'a World,
    deadline: Instant,
    terminal: Option<OpenptyResult>,
    session: Option<Session<'a>>,
    starts: u32,
    names: Names,
    look: &'a dyn Fn(),
    ran: Ran,
}

/// Stops the steps; what is to be said of it is in [`Ran`] already.
struct Stop;

impl<'a> Script<'a> {
    /// Prepares; nothing is started yet. `look` is called when the route is over, before what must
    /// still work: a subject could undo what it let happen.
    #[must_use]
    pub fn new(
        bench: &'a Bench<'a>,
        launch: &'a Launch,
        world: &'a World,
        deadline: Instant,
        look: &'a dyn Fn(),
    ) -> Self {
        let ran = Ran {
            start: Start::Hung,
            disturbed: None,
            attempts: Vec::new(),
            still_works: Vec::new(),
            observations: Vec::new(),
            harm: Vec::new(),
            host_secrets: Vec::new(),
            hello: None,
            layer: None,
            leftovers: Vec::new(),
            said: String::new(),
        };
        let names = Names::of(world);
        let (terminal, session) = (None, None);
        Self { bench, launch, world, deadline, terminal, session, starts: 0, names, look, ran }
    }

    /// Starts the subject and plays the route, then what must still work.
    pub fn run(&mut self, steps: &[Step], still_works: &[Step]) {
        let _ = self.play_all(steps, still_works);
    }

    /// Ends the subject and answers what happened.
    #[must_use]
    pub fn end(mut self) -> Ran {
        if let Some(session) = self.session.take() {
            let finished =
                if self.ran.disturbed.is_some() { session.kill() } else { session.finish() };
            self.note(&finished);
            self.judge_end(&finished);
        }
        self.ran
    }

    /// A subject ends by itself, in time, and with the status of its command.
    fn judge_end(&mut self, finished: &Finished) {
        let wrong = match finished.end {
            _ if finished.late => Some(Disturbance::Deadline),
            Some(End::Exited(0)) => None,
            end => Some(Disturbance::ProbeDied(end)),
        };
        if let Some(wrong) = wrong {
            self.ran.disturbed.get_or_insert(wrong);
        }
    }

    fn play_all(&mut self, steps: &[Step], still_works: &[Step]) -> Result<(), Stop> {
        self.start()?;
        self.play(steps)?;
        self.order(Ask::End)?;
        (self.look)();
        if still_works.is_empty() {
            return Ok(());
        }
        let route = std::mem::take(&mut self.ran.attempts);
        self.order(Ask::Begin)?;
        let played = self.play(still_works);
        self.ran.still_works = std::mem::replace(&mut self.ran.attempts, route);
        played?;
        self.order(Ask::End)
    }

    fn start(&mut self) -> Result<(), Stop> {
        match self.open() {
            Ok((session, hello)) => {
                self.session = Some(session);
                self.ran.start = Start::Ran;
                if let Some(uid) = crate::whose::other_user(&hello, self.bench.supervisor.pid()) {
                    self.ran.disturbed.get_or_insert(Disturbance::OtherUser(uid));
                }
                self.ran.hello.get_or_insert(hello);
                self.order(Ask::Begin)
            }
            Err((gone, finished)) => {
                self.note(&finished);
                if self.starts > 1 {
                    self.ran.disturbed = Some(disturbance(&gone));
                } else {
                    self.ran.start = never(&gone, &finished, self.ran.said.clone());
                }
                Err(Stop)
            }
        }
    }

    fn open(&mut self) -> Result<(Session<'a>, Hello), (session::Gone, Finished)> {
        self.starts += 1;
        let unstartable =
            |error: io::Error| (session::Gone::Unstartable(error.to_string()), Finished::default());
        if self.world.terminal && self.terminal.is_none() {
            self.terminal = Some(openpty(None, None).map_err(|e| unstartable(e.into()))?);
        }
        let folder = Folder::create(&self.world.rooms.temp.join(CHANNEL)).map_err(unstartable)?;
        let nonce = |channel: &str| {
            let start = self.starts.to_string();
            crate::rng::word(self.bench.seed, &["nonce", channel, &start, &self.world.words.marker])
        };
        let start = session::Start {
            argv: self.launch.argv.iter().map(|a| a.to_string_lossy().into_owned()).collect(),
            env: environment(self.bench.base_env, self.launch, self.world),
            cwd: self.world.rooms.work.to_string_lossy().into_owned(),
            inherited: &self.world.inherited,
            terminal: self.terminal.as_ref().map(|pty| pty.slave.as_fd()),
            folder,
            nonces: [nonce("stdio"), nonce("folder")],
            deadline: self.deadline,
        };
        Session::open(&self.bench.supervisor, start)
    }

    fn play(&mut self, steps: &[Step]) -> Result<(), Stop> {
        for step in steps {
            if let Step::Host(act) = step {
                self.act(act)?;
            } else if let Step::Again(steps) = step {
                self.restart()?;
                self.play(steps)?;
            } else {
                self.attempt(step)?;
            }
        }
        Ok(())
    }

    /// A second start of the same subject on the same arena.
    fn restart(&mut self) -> Result<(), Stop> {
        self.order(Ask::End)?;
        if let Some(session) = self.session.take() {
            let finished = session.finish();
            self.note(&finished);
            self.judge_end(&finished);
        }
        self.start()
    }

    fn attempt(&mut self, step: &Step) -> Result<(), Stop> {
        let attempt = match self.resolve(step) {
            Ok(attempt) => attempt,
            Err(why) => return Err(self.stop(Disturbance::Unavailable(why))),
        };
        let Some(session) = &mut self.session else { return Err(Stop) };
        let observation = match session.attempt(attempt.clone()) {
            Ok(observation) => observation,
            Err(gone) => return Err(self.stop(disturbance(&gone))),
        };
        for (name, victim) in &self.world.victims {
            self.ran.harm.extend(victim.state().map(|what| format!("{name}: {what}")));
        }
        self.ran.layer = self.ran.layer.or_else(|| denial::layer(&observation));
        let read = denial::read(&attempt, &observation);
        let text = self.names.plain(&observation.text);
        self.ran.observations.push(observation);
        match read {
            Ok(result) => {
                let step = self.names.plain(&describe(step));
                self.ran.attempts.push(Attempted { step, result, text });
                Ok(())
            }
            Err(disturbance) => Err(self.stop(disturbance)),
        }
    }

    fn resolve(&self, step: &Step) -> Result<Attempt, String> {
        let listeners = self.world.endpoints();
        let victims: BTreeMap<String, VictimAddress> =
            self.world.victims.iter().map(|(n, v)| (n.clone(), v.address().clone())).collect();
        let shell_env = self.world.shell_env();
        let scene = Scene {
            rooms: &self.world.rooms,
            token: &self.world.words.token,
            listeners: &listeners,
            victims: &victims,
            shell_env: &shell_env,
        };
        attempt(step, &scene)
    }

    fn act(&mut self, act: &HostAct) -> Result<(), Stop> {
        match self.perform(act) {
            Ok(()) => Ok(()),
            Err(error) => {
                let what = format!("{act:?} failed on the host: {error}");
                Err(self.stop(Disturbance::HostAct(what)))
            }
        }
    }

    fn perform(&mut self, act: &HostAct) -> io::Result<()> {
        let rooms = &self.world.rooms;
        match act {
            HostAct::Write(write) => {
                let path = write.path.resolve(rooms);
                if let Some(parent) = path.parent() {
                    fs::create_dir_all(parent)?;
                }
                fs::write(path, self.world.content(&write.holds))?;
                self.ran.host_secrets.push(write.path.clone());
                Ok(())
            }
            HostAct::Rename(pair) => {
                self.ran.host_secrets.push(pair.to.clone());
                fs::rename(pair.from.resolve(rooms), pair.to.resolve(rooms))
            }
            HostAct::Unlink(path) => fs::remove_file(path.resolve(rooms)),
            HostAct::Mkdir(path) => fs::create_dir_all(path.resolve(rooms)),
            HostAct::Symlink(link) => {
                std::os::unix::fs::symlink(link.to.resolve(rooms), link.path.resolve(rooms))
            }
        }
    }

    fn order(&mut self, ask: Ask) -> Result<(), Stop> {
        let Some(session) = &mut self.session else { return Err(Stop) };
        match session.order(ask) {
            Ok(()) => Ok(()),
            Err(gone) => Err(self.stop(disturbance(&gone))),
        }
    }

    fn stop(&mut self, disturbance: Disturbance) -> Stop {
        self.ran.disturbed.get_or_insert(disturbance);
        Stop
    }

    fn note(&mut self, finished: &Finished) {
        self.ran.leftovers.extend(finished.leftovers.iter().cloned());
        self.ran.said.push_str(&self.names.plain(&finished.said));
    }
}

/// The environment of an arm: the base, the rooms, what the backend adds, what the scenario sets.
fn environment(
    base: &BTreeMap<String, String>,
    launch: &Launch,
    world: &World,
) -> BTreeMap<String, String> {
    let mut env = base.clone();
    let text = |path: &std::ffi::OsStr| path.to_string_lossy().into_owned();
    env.insert("HOME".into(), text(world.rooms.home.as_os_str()));
    env.insert("TMPDIR".into(), text(world.rooms.temp.as_os_str()));
    env.extend(world.env.iter().map(|(k, v)| (text(k), text(v))));
    env.extend(launch.env.iter().map(|(k, v)| (text(k), text(v))));
    env
}

/// A step in one line, as the scenario has it.
fn describe(step: &Step) -> String {
    let json = serde_json::to_value(step).unwrap_or_default();
    let Some((verb, argument)) = json.as_object().and_then(|map| map.iter().next()) else {
        return json.to_string();
    };
    format!("{verb} {}", text_of(argument))
}

/// A value as the scenario would have it; a map as `key=value`, without what is absent or off.
fn text_of(value: &serde_json::Value) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    let Some(map) = value.as_object() else { return value.to_string() };
    let said = map.iter().filter(|(_, v)| !v.is_null() && *v != &serde_json::Value::Bool(false));
    said.map(|(key, value)| format!("{key}={}", text_of(value))).collect::<Vec<_>>().join(" ")
}

/// Words that differ from arm to arm, and what stands for them in evidence.
#[derive(Clone, Debug)]
struct Names(Vec<(String, String)>);

impl Names {
    fn of(world: &World) -> Self {
        let mut names = vec![
            (world.words.marker.clone(), "<secret>".to_owned()),
            (world.words.token.clone(), "<token>".to_owned()),
        ];
        for (name, listener) in &world.listeners {
            names.push((listener.address(), format!("<listener {name}>")));
        }
        for (name, victim) in &world.victims {
            names.push((victim.address().pid.to_string(), format!("<{name}>")));
        }
        names.push((format!("{}/", world.rooms.arena.display()), String::new()));
        Self(names)
    }

    fn plain(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}
