//! Rules for routes and their steps, and for the attempts of `still-works`.

use super::given::World;
use super::{Check, place};
use crate::complaint::short;
use crate::file::{RouteSpec, ScenarioFile};
use crate::fixture::ListenerKind;
use crate::names::{self, MOUNT_FLAGS, NAMESPACES, is_kebab};
use crate::step::{
    BindStep, IoctlStep, MountStep, OpenStep, ReadAtStep, ReceiveStep, SyscallStep, XattrStep,
};
use crate::yaml::Seg;
use crate::{Room, RoomPath, Step};
use sandproof_probes::OpenFlag;

/// Where a step stands, which decides what it may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Route,
    Again,
    StillWorks,
}

pub(super) fn check(file: &ScenarioFile, world: &World, check: &mut Check<'_>) {
    if let Some(routes) = &file.routes {
        if routes.0.is_empty() && !check.tainted(&place!["routes"]) {
            check.wrong(&place!["routes"], "routes", "`routes` is empty; at least one is needed");
        }
        for (name, route) in &routes.0 {
            check_route(name, route, world, check);
        }
    }
    for (index, step) in file.still_works.iter().flatten().enumerate() {
        let mut at = At { base: place!["still-works", index].to_vec(), world, check };
        at.step(step, Stage::StillWorks);
    }
}

fn check_route(name: &str, route: &RouteSpec, world: &World, check: &mut Check<'_>) {
    if !is_kebab(name) {
        let message = format!("route `{}` is not in kebab case", short(name));
        check.wrong(&place!["routes", name], name, message);
    }
    if route.steps.is_empty() && !check.tainted(&place!["routes", name]) {
        check.wrong(&place!["routes", name], name, format!("route `{}` has no step", short(name)));
    }
    for (index, tool) in route.tools.iter().enumerate() {
        if tool.trim().is_empty() || tool.contains('/') {
            let message = format!("`{}` is no program name to look up on PATH", short(tool));
            check.wrong(&place!["routes", name, "tools", index], tool, message);
        }
    }
    for (index, step) in route.steps.iter().enumerate() {
        let mut at = At { base: place!["routes", name, "steps", index].to_vec(), world, check };
        at.step(step, Stage::Route);
    }
}

/// One step and where it stands.
struct At<'c, 't> {
    base: Vec<Seg>,
    world: &'c World,
    check: &'c mut Check<'t>,
}

impl At<'_, '_> {
    fn place(&self, keys: &[&str]) -> Vec<Seg> {
        let mut place = self.base.clone();
        place.extend(keys.iter().map(|key| Seg::from(*key)));
        place
    }

    fn item(&self, keys: &[&str], index: usize) -> Vec<Seg> {
        let mut place = self.place(keys);
        place.push(index.into());
        place
    }

    fn wrong(&mut self, keys: &[&str], word: &str, message: impl Into<String>) {
        let place = self.place(keys);
        self.check.wrong(&place, word, message);
    }

    fn step(&mut self, step: &Step, stage: Stage) {
        match step {
            Step::Open(open) => self.open(open),
            Step::Xattr(xattr) => self.xattr(xattr),
            Step::Exec(exec) => self.argv(&exec.argv),
            Step::Shell(script) => {
                if script.trim().is_empty() {
                    self.wrong(&["shell"], "shell", "`shell` is empty; write a command");
                }
            }
            Step::Connect(name) => self.listener(name, &["connect"]),
            Step::ConnectMptcp(name) => self.listener(name, &["connect-mptcp"]),
            Step::RingConnect(name) => self.listener(name, &["ring-connect"]),
            Step::Receive(receive) => self.receive(receive),
            Step::Send(send) => self.listener(&send.to, &["send", "to"]),
            Step::Bind(bind) => self.bind(bind),
            Step::Signal(signal) => {
                self.victim(&signal.to, &["signal", "to"]);
                self.signal(&signal.signal);
            }
            Step::Ptrace(name) => self.victim(name, &["ptrace"]),
            Step::ProcessRead(name) => self.victim(name, &["process-read"]),
            Step::ProcessWrite(name) => self.victim(name, &["process-write"]),
            Step::PidfdGetfd(name) => self.victim(name, &["pidfd-getfd"]),
            Step::TreeRead(step) => self.below(&step.file, &["tree-read", "file"]),
            Step::ReadAt(step) => self.read_at(step),
            Step::Syscall(call) => self.syscall(call),
            Step::Ioctl(ioctl) => self.ioctl(ioctl),
            Step::Unshare(list) => self.unshare(list),
            Step::Mount(mount) => self.mount(mount),
            Step::Host(_) => self.only_outside(stage, "host"),
            Step::Again(steps) => self.again(steps, stage),
            Step::Tool(tool) => {
                self.only_outside(stage, "tool");
                if tool.name.trim().is_empty() {
                    self.wrong(&["tool", "name"], "name", "`name` of the tool is empty");
                }
            }
            Step::Read(_)
            | Step::List(_)
            | Step::Stat(_)
            | Step::Unlink(_)
            | Step::Rmdir(_)
            | Step::Mkdir(_)
            | Step::Create(_)
            | Step::Readlink(_)
            | Step::RingRead(_)
            | Step::HandleRead(_)
            | Step::Write(_)
            | Step::Append(_)
            | Step::Truncate(_)
            | Step::Rename(_)
            | Step::Link(_)
            | Step::Symlink(_)
            | Step::Chmod(_)
            | Step::Chown(_)
            | Step::Utime(_)
            | Step::Mknod(_)
            | Step::Umount(_) => {}
        }
    }

    /// Acts of the host and of agents are no attempts, so they cannot be among what still works.
    fn only_outside(&mut self, stage: Stage, verb: &str) {
        if stage == Stage::StillWorks {
            let message =
                format!("`{verb}` is no attempt of the probe; `still-works` holds attempts");
            self.wrong(&[verb], verb, message);
        }
    }

    fn again(&mut self, steps: &[Step], stage: Stage) {
        self.only_outside(stage, "again");
        if stage == Stage::Again {
            self.wrong(
                &["again"],
                "again",
                "`again` stands inside `again`; one second start is all",
            );
        } else if steps.is_empty() && !self.check.tainted(&self.place(&["again"])) {
            self.wrong(&["again"], "again", "`again` has no step");
        }
        for (index, step) in steps.iter().enumerate() {
            let base = self.item(&["again"], index);
            let mut inner = At { base, world: self.world, check: self.check };
            inner.step(step, if stage == Stage::Route { Stage::Again } else { stage });
        }
    }

    fn open(&mut self, open: &OpenStep) {
        let ways = [OpenFlag::R, OpenFlag::W, OpenFlag::Rw, OpenFlag::Path];
        let given: Vec<OpenFlag> =
            open.flags.iter().copied().filter(|flag| ways.contains(flag)).collect();
        let is = |flag: OpenFlag| open.flags.contains(&flag);
        if self.check.tainted(&self.place(&["open", "flags"])) {
            return;
        }
        if given.len() > 1 {
            self.wrong(&["open", "flags"], "flags", "`flags` hold more than one of r, w, rw, path");
        } else if given.is_empty() && !is(OpenFlag::Dir) {
            self.wrong(&["open", "flags"], "flags", "`flags` need one of r, w, rw, path, dir");
        }
        if open.then_read && is(OpenFlag::W) {
            let message = "`then-read` through a descriptor that is not open for reading";
            self.wrong(&["open", "then-read"], "then-read", message);
        }
        if is(OpenFlag::Tmpfile) && !is(OpenFlag::W) && !is(OpenFlag::Rw) {
            self.wrong(&["open", "flags"], "tmpfile", "`tmpfile` needs w or rw");
        }
        if is(OpenFlag::Exclusive) && !is(OpenFlag::Create) && !is(OpenFlag::Tmpfile) {
            self.wrong(&["open", "flags"], "exclusive", "`exclusive` needs create");
        }
    }

    fn xattr(&mut self, xattr: &XattrStep) {
        if xattr.name.as_ref().is_some_and(|name| name.is_empty()) {
            self.wrong(&["xattr", "name"], "name", "`name` of the attribute is empty");
        }
    }

    fn argv(&mut self, argv: &[String]) {
        if argv.is_empty() || argv[0].is_empty() {
            self.wrong(&["exec", "argv"], "argv", "`argv` names no program");
        }
        for (index, word) in argv.iter().enumerate() {
            let room = word.split_once('/').map(|(room, _)| room);
            let in_room = Room::ALL.iter().any(|known| Some(known.name()) == room);
            if in_room && let Err(why) = word.parse::<RoomPath>() {
                let place = self.item(&["exec", "argv"], index);
                self.check.wrong(&place, word, why);
            } else if word.contains('\0') {
                let place = self.item(&["exec", "argv"], index);
                let message = format!("`{}` holds a NUL character", short(word));
                self.check.wrong(&place, word, message);
            }
        }
    }

    fn listener(&mut self, name: &str, keys: &[&str]) {
        let known = &self.world.listeners;
        if known.contains(name) || self.check.tainted(&place!["given"]) {
            return;
        }
        let message = if known.is_empty() {
            format!("listener `{}` does not exist: `given` has none", short(name))
        } else {
            format!("listener `{}` is not in `given`", short(name))
        };
        let place = self.place(keys);
        self.check.unknown(&place, name, message, known.iter().map(String::as_str));
    }

    /// Both are listeners, and the first one hands something over.
    fn receive(&mut self, receive: &ReceiveStep) {
        self.listener(&receive.from, &["receive", "from"]);
        self.listener(&receive.to, &["receive", "to"]);
        let known = self.world.listeners.contains(&receive.from);
        if known && !self.world.givers.contains(&receive.from) {
            let name = short(&receive.from);
            let message = format!("listener `{name}` hands nothing over; give it `hands`");
            self.wrong(&["receive", "from"], &receive.from, message);
        }
    }

    /// A path below a folder stays there.
    fn below(&mut self, path: &str, keys: &[&str]) {
        if path.is_empty() || path.split('/').any(|part| part.is_empty() || part == "..") {
            let message =
                format!("`{}` must lie below the folder: no `..`, no `/` first", short(path));
            self.wrong(keys, path, message);
        }
    }

    fn read_at(&mut self, step: &ReadAtStep) {
        if !self.world.descriptors.contains(&step.fd) && !self.check.tainted(&place!["given"]) {
            let fd = step.fd.to_string();
            let message = format!("descriptor `{fd}` is none of `open-file`");
            self.wrong(&["read-at", "fd"], &fd, message);
        }
        if let Some(path) = &step.path {
            self.below(path, &["read-at", "path"]);
        }
    }

    fn victim(&mut self, name: &str, keys: &[&str]) {
        let known = &self.world.victims;
        if known.contains(name) || self.check.tainted(&place!["given"]) {
            return;
        }
        let message = if known.is_empty() {
            format!("victim `{}` does not exist: `given` has none", short(name))
        } else {
            format!("victim `{}` is not in `given`", short(name))
        };
        let place = self.place(keys);
        self.check.unknown(&place, name, message, known.iter().map(String::as_str));
    }

    fn bind(&mut self, bind: &BindStep) {
        let unix = bind.kind == ListenerKind::Unix;
        if unix && bind.path.is_none() {
            self.wrong(&["bind"], "path", "`path` is missing: a unix socket needs one");
        }
        if !unix && bind.path.is_some() {
            self.wrong(&["bind", "path"], "path", "`path` is for sockets of kind unix only");
        }
    }

    fn signal(&mut self, word: &str) {
        if names::signal(word).is_none() {
            let message =
                format!("signal `{}` is unknown; write 0 or a name like TERM", short(word));
            let place = self.place(&["signal", "signal"]);
            self.check.unknown(&place, word, message, names::signals());
        }
    }

    fn syscall(&mut self, call: &SyscallStep) {
        match (&call.number, &call.name) {
            (Some(_), Some(_)) => {
                self.wrong(&["syscall"], "number", "both `number` and `name`; write one of them");
            }
            (None, None) => {
                self.wrong(
                    &["syscall"],
                    "syscall",
                    "`syscall` has neither `number` nor `name`; write one of them",
                );
            }
            (None, Some(name)) if !names::is_syscall(call.abi, name) => {
                let message = format!("system call `{}` is unknown; write its number", short(name));
                self.wrong(&["syscall", "name"], name, message);
            }
            (Some(_), None) | (None, Some(_)) => {}
        }
        if call.args.len() > 6 {
            let message =
                format!("`args` has {} entries; a system call takes six", call.args.len());
            self.wrong(&["syscall", "args"], "args", message);
        }
    }

    fn ioctl(&mut self, ioctl: &IoctlStep) {
        let known = match ioctl.fd {
            -1 => self.world.terminal,
            fd => (0..=2).contains(&fd) || self.world.descriptors.contains(&fd),
        };
        if !known && !self.check.tainted(&place!["given"]) {
            let fd = ioctl.fd.to_string();
            let message = format!(
                "descriptor `{fd}` is not open: 0 to 2 are, those of `open-file`, and -1 with \
                 `terminal: true`"
            );
            self.wrong(&["ioctl", "fd"], &fd, message);
        }
        if names::ioctl(&ioctl.request).is_none() {
            let word = &ioctl.request;
            let message = format!("ioctl `{}` is unknown; write its number", short(word));
            let place = self.place(&["ioctl", "request"]);
            self.check.unknown(&place, word, message, names::ioctls());
        }
    }

    fn unshare(&mut self, list: &[String]) {
        if list.is_empty() {
            self.wrong(&["unshare"], "unshare", "`unshare` names no namespace");
        }
        self.words(list, &["unshare"], "namespace", &NAMESPACES);
    }

    fn mount(&mut self, mount: &MountStep) {
        self.words(&mount.flags, &["mount", "flags"], "mount flag", &MOUNT_FLAGS);
        let Some(source) = &mount.source else { return };
        let (room, _) = source.split_once('/').unwrap_or((source, ""));
        if Room::ALL.iter().any(|known| known.name() == room)
            && let Err(why) = source.parse::<RoomPath>()
        {
            self.wrong(&["mount", "source"], source, why);
        }
    }

    fn words(&mut self, list: &[String], keys: &[&str], noun: &str, known: &[&str]) {
        for (index, word) in list.iter().enumerate() {
            if !known.contains(&word.as_str()) {
                let place = self.item(keys, index);
                let message =
                    format!("`{}` is no {noun}; known are {}", short(word), known.join(" "));
                self.check.unknown(&place, word, message, known.iter().copied());
            }
        }
    }
}
