//! Rules for `given` and for the `given` of a twin.

use std::collections::BTreeSet;

use super::{Check, place};
use crate::complaint::short;
use crate::file::ScenarioFile;
use crate::fixture::{ListenerFixture, ListenerKind, OpenFileFixture, TreeFixture, replaced};
use crate::names::{is_kebab, is_variable};
use crate::yaml::Seg;
use crate::{Fixture, RoomPath};
use sandproof_probes::SocketType;

/// What steps may name.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) listeners: BTreeSet<String>,
    pub(super) victims: BTreeSet<String>,
    pub(super) descriptors: BTreeSet<i32>,
    pub(super) givers: BTreeSet<String>,
    pub(super) terminal: bool,
}

pub(super) fn check(file: &ScenarioFile, check: &mut Check<'_>) -> World {
    entries(&file.given, &place!["given"], check);
    if !check.tainted(&place!["given"]) {
        order(&file.given, &file.given, &place!["given"], check);
    }
    if let Some(twin) = &file.twin {
        let base = place!["twin", "given"];
        entries(&twin.given, &base, check);
        if !check.tainted(&place!["given"]) && !check.tainted(&place!["twin"]) {
            order(&replaced(&file.given, &twin.given), &twin.given, &base, check);
        }
    }
    world(&file.given)
}

fn world(given: &[Fixture]) -> World {
    let mut world = World::default();
    for (kind, name) in given.iter().flat_map(Fixture::keys) {
        match kind {
            "listener" => drop(world.listeners.insert(name)),
            "victim" => drop(world.victims.insert(name)),
            "descriptor" => world.descriptors.extend(name.parse::<i32>()),
            _ => {}
        }
    }
    for fixture in given {
        if let Fixture::Listener(listener) = fixture
            && listener.hands.is_some()
        {
            world.givers.insert(listener.name().to_owned());
        }
    }
    world.terminal = given.contains(&Fixture::Terminal(true));
    world
}

/// Every entry for itself, and no two that decide the same.
fn entries(given: &[Fixture], base: &[Seg], check: &mut Check<'_>) {
    let mut seen = BTreeSet::new();
    for (index, fixture) in given.iter().enumerate() {
        let at = |keys: &[&str]| below(base, index, keys);
        for (kind, name) in fixture.keys() {
            if !seen.insert((kind, name.clone())) {
                let message = format!("{kind} `{}` is decided a second time here", short(&name));
                check.wrong(&at(&duplicate_place(fixture, &name)), &name, message);
            }
        }
        match fixture {
            Fixture::Env(env) => {
                for name in env.keys().filter(|name| !is_variable(name)) {
                    let message = format!("`{}` is no name of a variable", short(name));
                    check.wrong(&at(&["env", name]), name, message);
                }
            }
            Fixture::Listener(listener) => check_listener(listener, &at(&["listener"]), check),
            Fixture::Victim(victim) => name(victim.name(), &at(&["victim", "name"]), check),
            Fixture::OpenFile(open) => check_open_file(open, &at(&["open-file"]), check),
            Fixture::Tree(tree) => check_tree(tree, &at(&["tree"]), check),
            Fixture::Terminal(false) if base.len() == 1 => {
                check.wrong(
                    &at(&["terminal"]),
                    "false",
                    "`terminal: false` says nothing; leave it out",
                );
            }
            Fixture::File(_)
            | Fixture::Dir(_)
            | Fixture::Symlink(_)
            | Fixture::Hardlink(_)
            | Fixture::Fifo(_)
            | Fixture::Mode(_)
            | Fixture::Terminal(_)
            | Fixture::HooksPath(_)
            | Fixture::GitRepo(_) => {}
        }
    }
}

/// Where the name of a duplicate stands within its entry.
fn duplicate_place<'a>(fixture: &Fixture, name: &'a str) -> Vec<&'a str> {
    match fixture {
        Fixture::File(_) => vec!["file", "path"],
        Fixture::Dir(_) => vec!["dir"],
        Fixture::Symlink(_) => vec!["symlink", "path"],
        Fixture::Hardlink(_) => vec!["hardlink", "path"],
        Fixture::Fifo(_) => vec!["fifo"],
        Fixture::Mode(_) => vec!["mode", "path"],
        Fixture::Env(_) => vec!["env", name],
        Fixture::Listener(_) => vec!["listener", "name"],
        Fixture::Victim(_) => vec!["victim", "name"],
        Fixture::Terminal(_) => vec!["terminal"],
        Fixture::OpenFile(_) => vec!["open-file", "fd"],
        Fixture::HooksPath(_) => vec!["hooks-path"],
        Fixture::GitRepo(_) => vec!["git-repo"],
        Fixture::Tree(_) => vec!["tree", "path"],
    }
}

fn below(base: &[Seg], index: usize, keys: &[&str]) -> Vec<Seg> {
    let mut path = base.to_vec();
    path.push(index.into());
    path.extend(keys.iter().map(|key| Seg::from(*key)));
    path
}

fn with(base: &[Seg], key: &str) -> Vec<Seg> {
    let mut path = base.to_vec();
    path.push(key.into());
    path
}

fn name(word: &str, place: &[Seg], check: &mut Check<'_>) {
    if !is_kebab(word) {
        check.wrong(place, word, format!("name `{}` is not in kebab case", short(word)));
    }
}

fn check_listener(listener: &ListenerFixture, base: &[Seg], check: &mut Check<'_>) {
    name(listener.name(), &with(base, "name"), check);
    let (kind, pointless): (_, &[&str]) = match listener.kind {
        ListenerKind::Tcp => ("tcp", &["type", "path"]),
        ListenerKind::Udp => ("udp", &["type", "path"]),
        ListenerKind::Unix => ("unix", &["family"]),
        ListenerKind::Abstract => ("abstract", &["family", "path"]),
    };
    for key in pointless {
        let place = with(base, key);
        if check.written(&place) {
            check.wrong(
                &place,
                key,
                format!("`{key}` means nothing for a listener of kind {kind}"),
            );
        }
    }
    let stream = (ListenerKind::Unix, SocketType::Stream);
    if listener.hands.is_some() && (listener.kind, listener.kind_of_socket) != stream {
        let message = "`hands` is for stream listeners of kind unix only";
        check.wrong(&with(base, "hands"), "hands", message);
    }
}

fn check_open_file(open: &OpenFileFixture, base: &[Seg], check: &mut Check<'_>) {
    if !(3..=1023).contains(&open.fd) {
        let message = format!("descriptor `{}` is not from 3 to 1023", open.fd);
        check.wrong(&with(base, "fd"), &open.fd.to_string(), message);
    }
}

fn check_tree(tree: &TreeFixture, base: &[Seg], check: &mut Check<'_>) {
    for (key, value, most) in [("files", tree.files, 1_000_000), ("depth", tree.depth, 200)] {
        if !(1..=most).contains(&value) {
            let message = format!("`{key}` is `{value}`, not from 1 to {most}");
            check.wrong(&with(base, key), &value.to_string(), message);
        }
    }
}

/// What the harness makes in every arena.
const ALWAYS: [&str; 5] = ["work", "home", "outside", "temp", "home/.grok"];

/// Entries that need another one before them, in the order the world is built. Only those of
/// `written` are complained about: in the world of a twin, the rest was checked before.
fn order(world: &[Fixture], written: &[Fixture], base: &[Seg], check: &mut Check<'_>) {
    let mut made: Vec<&Fixture> = Vec::new();
    for fixture in world {
        let index = written.iter().position(|own| own == fixture);
        let needed = match fixture {
            Fixture::Hardlink(link) => Some((&link.to, ["hardlink", "to"])),
            Fixture::Mode(mode) => Some((&mode.path, ["mode", "path"])),
            Fixture::OpenFile(open) => Some((&open.path, ["open-file", "path"])),
            Fixture::File(_)
            | Fixture::Dir(_)
            | Fixture::Symlink(_)
            | Fixture::Fifo(_)
            | Fixture::Env(_)
            | Fixture::Listener(_)
            | Fixture::Victim(_)
            | Fixture::Terminal(_)
            | Fixture::HooksPath(_)
            | Fixture::GitRepo(_)
            | Fixture::Tree(_) => None,
        };
        if let (Some(index), Some((path, keys))) = (index, needed)
            && !exists(path, &made)
        {
            let word = path.to_string();
            let message = format!("`{}` is made by no entry before this one", short(&word));
            check.wrong(&below(base, index, &keys), &word, message);
        }
        if let (Some(index), Some(path)) = (index, fixture.makes())
            && let Some(file) = made.iter().find_map(|other| file_above(path, other))
        {
            let (word, file) = (path.to_string(), file.to_string());
            let message =
                format!("`{}` lies below `{}`, which is a file", short(&word), short(&file));
            check.wrong(&below(base, index, &duplicate_place(fixture, "")), &word, message);
        }
        made.push(fixture);
    }
}

/// True when something made so far is, holds or may hold this path.
fn exists(path: &RoomPath, made: &[&Fixture]) -> bool {
    let text = path.to_string();
    let inside = |inner: &str, outer: &str| {
        inner == outer || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
    };
    ALWAYS.iter().any(|always| inside(always, &text))
        || inside(&text, "home/.grok")
        || made.iter().any(|fixture| {
            let below = match fixture {
                Fixture::Tree(tree) => inside(&text, &tree.path.to_string()),
                Fixture::GitRepo(path) => inside(&text, &path.to_string()),
                Fixture::Symlink(link) => inside(&text, &link.path.to_string()),
                Fixture::File(_)
                | Fixture::Dir(_)
                | Fixture::Hardlink(_)
                | Fixture::Fifo(_)
                | Fixture::Mode(_)
                | Fixture::Env(_)
                | Fixture::Listener(_)
                | Fixture::Victim(_)
                | Fixture::Terminal(_)
                | Fixture::OpenFile(_)
                | Fixture::HooksPath(_) => false,
            };
            below
                || fixture.makes().is_some_and(|made| inside(&made.to_string(), &text))
                || listens_at(fixture, &text)
        })
}

/// True for the socket of a unix listener.
fn listens_at(fixture: &Fixture, text: &str) -> bool {
    matches!(fixture, Fixture::Listener(listener) if listener.socket().as_deref() == Some(text))
}

/// The path of `other` when it is a file above `path`.
fn file_above<'a>(path: &RoomPath, other: &'a Fixture) -> Option<&'a RoomPath> {
    let (Fixture::File(crate::fixture::FileFixture { path: file, .. }) | Fixture::Fifo(file)) =
        other
    else {
        return None;
    };
    let below = path.room == file.room
        && path.rel.strip_prefix(&file.rel).is_some_and(|rest| rest.starts_with('/'));
    below.then_some(file)
}
