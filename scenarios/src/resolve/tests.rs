//! Every verb becomes the attempt that its name promises.

use std::path::{Path, PathBuf};

use rstest::rstest;
use sandproof_probes::{Abi, NodeKind, OpenFlag, SendCall, SocketType};

use super::*;
use crate::step::HostAct;

/// A scene with one listener of each name, one victim, and the rooms below `/a`.
fn with_scene<T>(test: impl FnOnce(&Scene<'_>) -> T) -> T {
    let rooms = Rooms::below(Path::new("/a"));
    let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7);
    let listeners = BTreeMap::from([
        ("default".to_owned(), Endpoint::Tcp { address }),
        ("bus".to_owned(), Endpoint::Abstract { name: "x".into(), kind: SocketType::Datagram }),
    ]);
    let address = VictimAddress { pid: 42, address: 0x1000, length: 32 };
    let victims = BTreeMap::from([("victim".to_owned(), address)]);
    let shell_env = BTreeMap::from([("WORK".to_owned(), "/a/work".to_owned())]);
    test(&Scene {
        rooms: &rooms,
        token: "token",
        listeners: &listeners,
        victims: &victims,
        shell_env: &shell_env,
    })
}

/// A step as it is written in a file.
fn step(yaml: &str) -> Step {
    crate::yaml::read(yaml, "step").unwrap()
}

fn resolved(yaml: &str) -> Result<Attempt, String> {
    with_scene(|scene| attempt(&step(yaml), scene))
}

/// The unnamed listener of the scene.
fn tcp() -> Endpoint {
    Endpoint::Tcp { address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7) }
}

fn p(path: &str) -> PathBuf {
    PathBuf::from(path)
}

#[rstest]
#[case("read: work/x", Attempt::Read { path: p("/a/work/x") })]
#[case("read: /etc/passwd", Attempt::Read { path: p("/etc/passwd") })]
#[case("list: work", Attempt::List { path: p("/a/work") })]
#[case("stat: home/x", Attempt::Stat { path: p("/a/home/x") })]
#[case("unlink: temp/x", Attempt::Unlink { path: p("/a/temp/x") })]
#[case("rmdir: outside/x", Attempt::Rmdir { path: p("/a/outside/x") })]
#[case("mkdir: work/x", Attempt::Mkdir { path: p("/a/work/x") })]
#[case("create: work/x", Attempt::Create { path: p("/a/work/x") })]
#[case("readlink: work/x", Attempt::Readlink { path: p("/a/work/x") })]
#[case("write: work/x", Attempt::Write { path: p("/a/work/x"), text: LINE.into() })]
#[case("write: { path: work/x, text: hi }", Attempt::Write { path: p("/a/work/x"), text: "hi".into() })]
#[case("append: { path: work/x }", Attempt::Append { path: p("/a/work/x"), text: LINE.into() })]
#[case("truncate: { path: work/x, size: 3 }", Attempt::Truncate { path: p("/a/work/x"), size: 3 })]
#[case(
    "open: { path: work/x, flags: [rw, create], then-read: true }",
    Attempt::Open { path: p("/a/work/x"), flags: vec![OpenFlag::Rw, OpenFlag::Create], then_read: true }
)]
#[case(
    "rename: { from: work/x, to: temp/y, exchange: true }",
    Attempt::Rename { from: p("/a/work/x"), to: p("/a/temp/y"), exchange: true }
)]
#[case("link: { from: work/x, to: work/y }", Attempt::Link { from: p("/a/work/x"), to: p("/a/work/y") })]
#[case(
    "symlink: { from: outside/x, to: work/y }",
    Attempt::Symlink { from: p("/a/outside/x"), to: p("/a/work/y") }
)]
#[case("chmod: { path: work/x, mode: 0600 }", Attempt::Chmod { path: p("/a/work/x"), mode: 0o600 })]
#[case(
    "chown: { path: work/x, gid: 5 }",
    Attempt::Chown { path: p("/a/work/x"), uid: None, gid: Some(5) }
)]
#[case("utime: { path: work/x }", Attempt::Utime { path: p("/a/work/x"), seconds: 1 })]
#[case(
    "xattr: { path: work/x }",
    Attempt::Xattr { path: p("/a/work/x"), name: "user.sandproof".into(), value: "sandproof".into() }
)]
#[case("mknod: { path: work/x, kind: fifo }", Attempt::Mknod { path: p("/a/work/x"), kind: NodeKind::Fifo })]
fn files(#[case] yaml: &str, #[case] expected: Attempt) {
    assert_eq!(resolved(yaml), Ok(expected));
}

#[rstest]
#[case(
    "exec: { argv: [work/tool, work, -v, outside/x, other/y] }",
    Attempt::Exec { argv: ["/a/work/tool", "work", "-v", "/a/outside/x", "other/y"].map(String::from).to_vec() }
)]
#[case(
    "shell: cat x",
    Attempt::Shell {
        script: "cat x".into(),
        cwd: p("/a/work"),
        env: BTreeMap::from([("WORK".into(), "/a/work".into())]),
    }
)]
#[case(
    "send: { to: bus }",
    Attempt::Send {
        to: Endpoint::Abstract { name: "x".into(), kind: SocketType::Datagram },
        text: "token".into(),
        by: SendCall::Sendto,
    }
)]
#[case(
    "connect-mptcp: default",
    Attempt::ConnectMptcp { to: tcp(), text: "token".into() }
)]
#[case("ring-connect: default", Attempt::RingConnect { to: tcp(), text: "token".into() })]
#[case(
    "receive: { from: bus, to: default }",
    Attempt::Receive {
        from: Endpoint::Abstract { name: "x".into(), kind: SocketType::Datagram },
        to: tcp(),
        text: "token".into(),
    }
)]
#[case("process-write: victim", Attempt::ProcessWrite { pid: 42, address: 0x1000 })]
#[case("pidfd-getfd: victim", Attempt::PidfdGetfd { pid: 42 })]
#[case("ring-read: work/x", Attempt::RingRead { path: p("/a/work/x") })]
#[case("handle-read: work/x", Attempt::HandleRead { path: p("/a/work/x") })]
#[case(
    "tree-read: { tree: work, file: x/y }",
    Attempt::TreeRead { tree: p("/a/work"), file: p("x/y") }
)]
#[case("read-at: { fd: 9, path: x }", Attempt::ReadAt { fd: 9, path: Some(p("x")) })]
#[case("read-at: { fd: 9 }", Attempt::ReadAt { fd: 9, path: None })]
#[case(
    "bind: { kind: unix, path: work/s, type: datagram }",
    Attempt::Bind { at: Endpoint::Unix { path: p("/a/work/s"), kind: SocketType::Datagram } }
)]
#[case(
    "bind: { kind: udp, family: v6 }",
    Attempt::Bind { at: Endpoint::Udp { address: "[::1]:0".parse().unwrap() } }
)]
#[case(
    "bind: { kind: abstract }",
    Attempt::Bind {
        at: Endpoint::Abstract { name: "sandproof-bind-token".into(), kind: SocketType::Stream },
    }
)]
#[case("signal: { to: victim, signal: TERM }", Attempt::Signal { pid: 42, signal: 15 })]
#[case("signal: { to: victim, signal: 0 }", Attempt::Signal { pid: 42, signal: 0 })]
#[case("ptrace: victim", Attempt::Ptrace { pid: 42 })]
#[case("process-read: victim", Attempt::ProcessRead { pid: 42, address: 0x1000, length: 32 })]
#[case(
    "syscall: { abi: i386, number: 102, args: [1, 0x10] }",
    Attempt::Syscall { abi: Abi::I386, number: 102, args: vec![1, 16] }
)]
#[case(
    "ioctl: { fd: 0, request: 0x5412, arg: x }",
    Attempt::Ioctl { fd: 0, request: 0x5412, arg: 0, text: Some("x".into()) }
)]
#[case(
    "ioctl: { fd: -1, request: 21523, arg: 7 }",
    Attempt::Ioctl { fd: -1, request: 21523, arg: 7, text: None }
)]
#[case("unshare: [user, mount]", Attempt::Unshare { namespaces: vec!["user".into(), "mount".into()] })]
#[case(
    "mount: { source: outside/x, target: work/y, flags: [bind] }",
    Attempt::Mount {
        source: "/a/outside/x".into(),
        target: p("/a/work/y"),
        fstype: String::new(),
        flags: vec!["bind".into()],
        data: String::new(),
    }
)]
#[case("umount: { target: work/y, detach: true }", Attempt::Umount { target: p("/a/work/y"), detach: true })]
fn system(#[case] yaml: &str, #[case] expected: Attempt) {
    assert_eq!(resolved(yaml), Ok(expected));
}

#[test]
fn connect_sends_the_token_of_the_arm() {
    let Ok(Attempt::Connect { to: Endpoint::Tcp { address }, text }) = resolved("connect: default")
    else {
        panic!("no connect");
    };
    assert_eq!((address.port(), text.as_str()), (7, "token"));
}

#[test]
fn a_tmpfs_is_no_room() {
    let yaml = "mount: { source: tmpfs, target: work/y, fstype: tmpfs }";
    assert!(matches!(resolved(yaml), Ok(Attempt::Mount { source, .. }) if source == "tmpfs"));
}

#[rstest]
#[case("connect: nobody", "nobody")]
#[case("ptrace: nobody", "nobody")]
#[case("host: { unlink: work/x }", "host")]
#[case("again: [{ read: work/x }]", "again")]
#[case("tool: { name: shell }", "tool")]
#[case("ioctl: { fd: 0, request: TIOCBOO }", "TIOCBOO")]
#[case("syscall: { abi: native, name: no_such_call }", "no_such_call")]
fn what_is_no_attempt_says_why(#[case] yaml: &str, #[case] word: &str) {
    let why = resolved(yaml).unwrap_err();
    assert!(why.contains(word), "{why}");
}

#[test]
fn the_host_acts_are_told_apart() {
    let act = step("host: { rename: { from: work/x, to: work/y } }");
    assert!(matches!(act, Step::Host(HostAct::Rename(pair)) if pair.to.to_string() == "work/y"));
}
