//! [`attempt`]: one step of a scenario to what the probe is asked, with the paths and addresses of
//! one arena.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use sandproof_probes::{Attempt, Endpoint};

use crate::fixture::{Family, ListenerKind};
use crate::step::{
    BindStep, IoctlStep, MountStep, OpenStep, ReceiveStep, SendStep, SignalStep, SyscallStep,
    UtimeStep, Written, XattrStep,
};
use crate::{PathArg, Room, RoomPath, Rooms, Step, names};

/// What `write` and `append` put into a file when the scenario does not say.
pub const LINE: &str = "written by sandproof\n";

/// Everything of one arm that steps refer to by name.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The rooms of the arena.
    pub rooms: &'a Rooms,
    /// What this arm sends to listeners, so that calls can be told apart.
    pub token: &'a str,
    /// Listeners by name; the unnamed one is `default`.
    pub listeners: &'a BTreeMap<String, Endpoint>,
    /// Victims by name.
    pub victims: &'a BTreeMap<String, VictimAddress>,
    /// Variables of shell steps.
    pub shell_env: &'a BTreeMap<String, String>,
}

/// Where a victim and its secret are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VictimAddress {
    /// Its process.
    pub pid: i32,
    /// Where its secret lies in memory.
    pub address: u64,
    /// How long its secret is.
    pub length: u64,
}

/// What the probe is asked for this step.
///
/// # Errors
/// A step that is no attempt (`host`, `again`, `tool`: they are the engine's), a name that is not
/// in the scene, a call or request that this system does not have. A lower-case fragment.
pub fn attempt(step: &Step, scene: &Scene<'_>) -> Result<Attempt, String> {
    let path = |path: &PathArg| path.resolve(scene.rooms);
    Ok(match step {
        Step::Read(p) => Attempt::Read { path: path(p) },
        Step::List(p) => Attempt::List { path: path(p) },
        Step::Stat(p) => Attempt::Stat { path: path(p) },
        Step::Unlink(p) => Attempt::Unlink { path: path(p) },
        Step::Rmdir(p) => Attempt::Rmdir { path: path(p) },
        Step::Mkdir(p) => Attempt::Mkdir { path: path(p) },
        Step::Create(p) => Attempt::Create { path: path(p) },
        Step::Readlink(p) => Attempt::Readlink { path: path(p) },
        Step::Write(w) => Attempt::Write { path: path(&w.path), text: text(w) },
        Step::Append(w) => Attempt::Append { path: path(&w.path), text: text(w) },
        Step::Truncate(t) => Attempt::Truncate { path: path(&t.path), size: t.size },
        Step::Open(o) => open(o, scene),
        Step::Rename(r) => {
            Attempt::Rename { from: path(&r.from), to: path(&r.to), exchange: r.exchange }
        }
        Step::Link(l) => Attempt::Link { from: path(&l.from), to: path(&l.to) },
        Step::Symlink(l) => Attempt::Symlink { from: path(&l.from), to: path(&l.to) },
        Step::Chmod(c) => Attempt::Chmod { path: path(&c.path), mode: c.mode.0 },
        Step::Chown(c) => Attempt::Chown { path: path(&c.path), uid: c.uid, gid: c.gid },
        Step::Utime(u) => utime(u, scene),
        Step::Xattr(x) => xattr(x, scene),
        Step::Mknod(m) => Attempt::Mknod { path: path(&m.path), kind: m.kind },
        Step::Exec(e) => Attempt::Exec { argv: arguments(&e.argv, scene) },
        Step::Shell(script) => shell(script, scene),
        Step::Connect(name) => connect(name, scene)?,
        Step::ConnectMptcp(name) => {
            Attempt::ConnectMptcp { to: listener(name, scene)?, text: scene.token.to_owned() }
        }
        Step::Send(s) => send(s, scene)?,
        Step::Receive(r) => receive(r, scene)?,
        Step::Bind(b) => Attempt::Bind { at: bind_address(b, scene)? },
        Step::Signal(s) => send_signal(s, scene)?,
        Step::Ptrace(name) => Attempt::Ptrace { pid: victim(name, scene)?.pid },
        Step::ProcessRead(name) => process_read(name, scene)?,
        Step::ProcessWrite(name) => {
            let VictimAddress { pid, address, length: _ } = *victim(name, scene)?;
            Attempt::ProcessWrite { pid, address }
        }
        Step::PidfdGetfd(name) => Attempt::PidfdGetfd { pid: victim(name, scene)?.pid },
        Step::RingRead(p) => Attempt::RingRead { path: path(p) },
        Step::RingConnect(name) => {
            Attempt::RingConnect { to: listener(name, scene)?, text: scene.token.to_owned() }
        }
        Step::HandleRead(p) => Attempt::HandleRead { path: path(p) },
        Step::TreeRead(t) => Attempt::TreeRead { tree: path(&t.tree), file: t.file.clone().into() },
        Step::ReadAt(r) => Attempt::ReadAt { fd: r.fd, path: r.path.clone().map(Into::into) },
        Step::Syscall(call) => syscall(call)?,
        Step::Ioctl(i) => ioctl(i)?,
        Step::Unshare(namespaces) => Attempt::Unshare { namespaces: namespaces.clone() },
        Step::Mount(m) => mount(m, scene),
        Step::Umount(u) => Attempt::Umount { target: path(&u.target), detach: u.detach },
        Step::Host(_) => return Err("`host` is done outside, it is no attempt".to_owned()),
        Step::Again(_) => return Err("`again` is a second start, it is no attempt".to_owned()),
        Step::Tool(_) => return Err("`tool` is for agents, it is no attempt here".to_owned()),
    })
}

fn text(written: &Written) -> String {
    written.text.clone().unwrap_or_else(|| LINE.to_owned())
}

fn open(step: &OpenStep, scene: &Scene<'_>) -> Attempt {
    let OpenStep { path, flags, then_read } = step;
    let path = path.resolve(scene.rooms);
    Attempt::Open { path, flags: flags.clone(), then_read: *then_read }
}

fn utime(step: &UtimeStep, scene: &Scene<'_>) -> Attempt {
    Attempt::Utime { path: step.path.resolve(scene.rooms), seconds: step.seconds.unwrap_or(1) }
}

fn xattr(step: &XattrStep, scene: &Scene<'_>) -> Attempt {
    let or = |text: &Option<String>, default: &str| text.clone().unwrap_or(default.to_owned());
    Attempt::Xattr {
        path: step.path.resolve(scene.rooms),
        name: or(&step.name, "user.sandproof"),
        value: or(&step.value, "sandproof"),
    }
}

fn shell(script: &str, scene: &Scene<'_>) -> Attempt {
    Attempt::Shell {
        script: script.to_owned(),
        cwd: scene.rooms.work.clone(),
        env: scene.shell_env.clone(),
    }
}

fn connect(name: &str, scene: &Scene<'_>) -> Result<Attempt, String> {
    Ok(Attempt::Connect { to: listener(name, scene)?, text: scene.token.to_owned() })
}

fn send(step: &SendStep, scene: &Scene<'_>) -> Result<Attempt, String> {
    let text = step.text.clone().unwrap_or_else(|| scene.token.to_owned());
    Ok(Attempt::Send { to: listener(&step.to, scene)?, text, by: step.by })
}

fn receive(step: &ReceiveStep, scene: &Scene<'_>) -> Result<Attempt, String> {
    let (from, to) = (listener(&step.from, scene)?, listener(&step.to, scene)?);
    Ok(Attempt::Receive { from, to, text: scene.token.to_owned() })
}

fn process_read(name: &str, scene: &Scene<'_>) -> Result<Attempt, String> {
    let VictimAddress { pid, address, length } = *victim(name, scene)?;
    Ok(Attempt::ProcessRead { pid, address, length })
}

fn arguments(argv: &[String], scene: &Scene<'_>) -> Vec<String> {
    argv.iter().map(|word| argument(word, scene)).collect()
}

/// An argument that is a room path becomes absolute. The name of a room alone stays as it is: it
/// may as well be an ordinary word.
fn argument(word: &str, scene: &Scene<'_>) -> String {
    match word.parse::<RoomPath>() {
        Ok(path) if word.contains('/') => path.resolve(scene.rooms).to_string_lossy().into_owned(),
        Ok(_) | Err(_) => word.to_owned(),
    }
}

fn listener(name: &str, scene: &Scene<'_>) -> Result<Endpoint, String> {
    let found = scene.listeners.get(name).cloned();
    found.ok_or_else(|| format!("no listener `{name}` in this arena"))
}

fn victim<'a>(name: &str, scene: &Scene<'a>) -> Result<&'a VictimAddress, String> {
    scene.victims.get(name).ok_or_else(|| format!("no victim `{name}` in this arena"))
}

/// Any free port on loopback, a path of a room, or an abstract name of this arm.
fn bind_address(bind: &BindStep, scene: &Scene<'_>) -> Result<Endpoint, String> {
    let ip = match bind.family {
        Family::V4 => IpAddr::V4(Ipv4Addr::LOCALHOST),
        Family::V6 => IpAddr::V6(Ipv6Addr::LOCALHOST),
    };
    let address = SocketAddr::new(ip, 0);
    let kind = bind.kind_of_socket;
    match (bind.kind, &bind.path) {
        (ListenerKind::Tcp, _) => Ok(Endpoint::Tcp { address }),
        (ListenerKind::Udp, _) => Ok(Endpoint::Udp { address }),
        (ListenerKind::Unix, Some(path)) => {
            Ok(Endpoint::Unix { path: path.resolve(scene.rooms), kind })
        }
        (ListenerKind::Unix, None) => Err("`bind` of a unix socket needs a path".to_owned()),
        (ListenerKind::Abstract, _) => {
            Ok(Endpoint::Abstract { name: format!("sandproof-bind-{}", scene.token), kind })
        }
    }
}

fn send_signal(step: &SignalStep, scene: &Scene<'_>) -> Result<Attempt, String> {
    let pid = victim(&step.to, scene)?.pid;
    let word = &step.signal;
    let signal = names::signal(word).ok_or_else(|| format!("signal `{word}` is unknown"))?;
    Ok(Attempt::Signal { pid, signal })
}

fn syscall(call: &SyscallStep) -> Result<Attempt, String> {
    let number = match (&call.number, &call.name) {
        (Some(number), _) => *number,
        (None, Some(name)) => names::syscall(call.abi, name)
            .ok_or_else(|| format!("this system has no system call `{name}` in that table"))?,
        (None, None) => return Err("`syscall` has neither number nor name".to_owned()),
    };
    Ok(Attempt::Syscall { abi: call.abi, number, args: call.args.clone() })
}

/// An argument that is a number is passed as one, any other text by pointer.
fn ioctl(step: &IoctlStep) -> Result<Attempt, String> {
    let word = &step.request;
    let request = names::ioctl(word).ok_or_else(|| format!("ioctl `{word}` is unknown"))?;
    let request = request.ok_or_else(|| format!("this system has no ioctl `{word}`"))?;
    let number = step.arg.as_deref().map(str::parse::<i64>);
    let (arg, text) = match (number, &step.arg) {
        (Some(Ok(number)), _) => (number, None),
        (_, text) => (0, text.clone()),
    };
    Ok(Attempt::Ioctl { fd: step.fd, request, arg, text })
}

/// A source that names a room is a path there; any other is passed as it is.
fn mount(step: &MountStep, scene: &Scene<'_>) -> Attempt {
    let source = step.source.clone().unwrap_or_else(|| "none".to_owned());
    let room = Room::ALL.iter().any(|room| source.split('/').next() == Some(room.name()));
    let source = match source.parse::<PathArg>() {
        Ok(path) if room || source.starts_with('/') => {
            path.resolve(scene.rooms).to_string_lossy().into_owned()
        }
        Ok(_) | Err(_) => source,
    };
    Attempt::Mount {
        source,
        target: step.target.resolve(scene.rooms),
        fstype: step.fstype.clone().unwrap_or_default(),
        flags: step.flags.clone(),
        data: step.data.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
