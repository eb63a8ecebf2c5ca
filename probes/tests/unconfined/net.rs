//! Sockets, against listeners on loopback and in a temporary folder.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::thread::{JoinHandle, spawn};

use sandproof_probes::{Attempt, Endpoint, SendCall, SocketType};
use tempfile::tempdir;

use crate::client::{done, failed, once, printed, unavailable};

crate::tests![
    tcp_delivers_and_shows_the_answer,
    tcp_over_ipv6,
    a_refused_connection,
    a_silent_listener_does_not_hang,
    udp_delivers,
    every_call_that_sends_delivers,
    mptcp_is_another_protocol,
    a_socket_is_handed_over,
    unix_streams_and_datagrams_deliver,
    fast_open_delivers,
    binds,
    abstract_names,
    names_that_do_not_fit,
];

fn connect(to: &Endpoint) -> Attempt {
    Attempt::Connect { to: to.clone(), text: "token".into() }
}

fn send(to: &Endpoint) -> Attempt {
    Attempt::Send { to: to.clone(), text: "token".into(), by: SendCall::Sendto }
}

fn tcp() -> (TcpListener, Endpoint) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, Endpoint::Tcp { address })
}

/// Reads one caller to the end, answers it, and hands out what it said.
fn hear<S: Read + Write>(accept: impl FnOnce() -> S + Send + 'static) -> JoinHandle<String> {
    spawn(move || {
        let mut caller = accept();
        let mut heard = String::new();
        caller.read_to_string(&mut heard).unwrap();
        caller.write_all(b"heard").unwrap();
        heard
    })
}

fn tcp_delivers_and_shows_the_answer() {
    let (listener, to) = tcp();
    let heard = hear(move || listener.accept().unwrap().0);
    printed(&once(connect(&to)), "heard");
    assert_eq!(heard.join().unwrap(), "token");
}

fn tcp_over_ipv6() {
    let Ok(listener) = TcpListener::bind("[::1]:0") else {
        // A host without IPv6: the probe must say so too.
        let to = Endpoint::Tcp { address: "[::1]:9".parse().unwrap() };
        assert!(!once(connect(&to)).done());
        return;
    };
    let to = Endpoint::Tcp { address: listener.local_addr().unwrap() };
    let heard = hear(move || listener.accept().unwrap().0);
    printed(&once(connect(&to)), "heard");
    assert_eq!(heard.join().unwrap(), "token");
}

fn a_refused_connection() {
    let (listener, to) = tcp();
    drop(listener);
    failed(&once(connect(&to)), "connect", libc::ECONNREFUSED);
    let room = tempdir().unwrap();
    let path = room.path().join("none");
    let to = Endpoint::Unix { path, kind: SocketType::Stream };
    failed(&once(connect(&to)), "connect", libc::ENOENT);
}

fn a_silent_listener_does_not_hang() {
    let (listener, to) = tcp();
    done(&once(connect(&to)));
    let mut heard = String::new();
    listener.accept().unwrap().0.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "token", "what was sent is there although nobody had accepted");
}

fn udp_delivers() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = Endpoint::Udp { address: socket.local_addr().unwrap() };
    let mut buffer = [0; 64];
    for attempt in [connect(&to), send(&to)] {
        done(&once(attempt));
        let count = socket.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..count], b"token");
    }
}

fn every_call_that_sends_delivers() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = Endpoint::Udp { address: socket.local_addr().unwrap() };
    for by in [SendCall::Sendmsg, SendCall::Sendmmsg] {
        let seen = once(Attempt::Send { to: to.clone(), text: "token".into(), by });
        if by == SendCall::Sendmmsg && !cfg!(target_os = "linux") {
            unavailable(&seen);
            continue;
        }
        done(&seen);
        let mut buffer = [0; 64];
        let count = socket.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..count], b"token", "{by:?}");
    }
}

fn mptcp_is_another_protocol() {
    let (listener, to) = tcp();
    let attempt = |to| once(Attempt::ConnectMptcp { to, text: "token".into() });
    let there = std::fs::read_to_string("/proc/sys/net/mptcp/enabled").unwrap_or_default();
    if there.trim() != "1" {
        assert!(!attempt(to).done());
        return;
    }
    let heard = hear(move || listener.accept().unwrap().0);
    printed(&attempt(to), "heard");
    assert_eq!(heard.join().unwrap(), "token");
    unavailable(&attempt(Endpoint::Udp { address: "127.0.0.1:9".parse().unwrap() }));
}

fn a_socket_is_handed_over() {
    let room = tempdir().unwrap();
    let path = room.path().join("door");
    let door = UnixListener::bind(&path).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let from = Endpoint::Unix { path, kind: SocketType::Stream };
    let to = Endpoint::Udp { address: socket.local_addr().unwrap() };
    let attempt = Attempt::Receive { from, to, text: "token".into() };
    let handed = UdpSocket::bind("127.0.0.1:0").unwrap();
    let own = handed.local_addr().unwrap();
    let giver = spawn(move || give(&door.accept().unwrap().0, &handed));
    done(&once(attempt));
    giver.join().unwrap();
    let mut buffer = [0; 64];
    let (count, caller) = socket.recv_from(&mut buffer).unwrap();
    assert_eq!((&buffer[..count], caller), (&b"token"[..], own), "that very socket sent it");
}

/// Sends a descriptor over a stream.
fn give(to: &std::os::unix::net::UnixStream, socket: &UdpSocket) {
    use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
    use std::os::fd::AsRawFd;
    let descriptors = [socket.as_raw_fd()];
    let rights = [ControlMessage::ScmRights(&descriptors)];
    let bytes = [std::io::IoSlice::new(b"x")];
    sendmsg::<()>(to.as_raw_fd(), &bytes, &rights, MsgFlags::empty(), None).unwrap();
}

fn unix_streams_and_datagrams_deliver() {
    let room = tempdir().unwrap();
    let path = room.path().join("stream");
    let listener = UnixListener::bind(&path).unwrap();
    let heard = hear(move || listener.accept().unwrap().0);
    printed(&once(connect(&Endpoint::Unix { path, kind: SocketType::Stream })), "heard");
    assert_eq!(heard.join().unwrap(), "token");

    let path = room.path().join("datagram");
    let socket = UnixDatagram::bind(&path).unwrap();
    let to = Endpoint::Unix { path, kind: SocketType::Datagram };
    let mut buffer = [0; 64];
    for attempt in [connect(&to), send(&to)] {
        done(&once(attempt));
        let count = socket.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..count], b"token");
    }
}

fn fast_open_delivers() {
    let (listener, to) = tcp();
    if !cfg!(target_os = "linux") {
        unavailable(&once(send(&to)));
        return;
    }
    let settings = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_fastopen").unwrap();
    if settings.trim().parse::<u32>().unwrap() & 1 == 0 {
        failed(&once(send(&to)), "sendto", libc::EOPNOTSUPP);
        return;
    }
    let heard = hear(move || listener.accept().unwrap().0);
    printed(&once(send(&to)), "heard");
    assert_eq!(heard.join().unwrap(), "token");
    let (listener, nobody) = tcp();
    drop(listener);
    failed(&once(send(&nobody)), "sendto", libc::ECONNREFUSED);
}

fn binds() {
    let bind = |at: Endpoint| once(Attempt::Bind { at });
    let (_listener, taken) = tcp();
    failed(&bind(taken), "bind", libc::EADDRINUSE);
    done(&bind(Endpoint::Tcp { address: "127.0.0.1:0".parse().unwrap() }));
    done(&bind(Endpoint::Udp { address: "127.0.0.1:0".parse().unwrap() }));
    let room = tempdir().unwrap();
    let path = room.path().join("socket");
    let unix = |kind| bind(Endpoint::Unix { path: path.clone(), kind });
    done(&unix(SocketType::Stream));
    failed(&unix(SocketType::Datagram), "bind", libc::EADDRINUSE);
    assert!(std::fs::symlink_metadata(&path).unwrap().file_type().is_socket());
}

#[cfg(target_os = "linux")]
fn abstract_names() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::SocketAddr;
    let name = format!("probes-{}", std::process::id());
    let to = Endpoint::Abstract { name: name.clone(), kind: SocketType::Stream };
    done(&once(Attempt::Bind { at: to.clone() }));
    failed(&once(connect(&to)), "connect", libc::ECONNREFUSED);
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    let heard = hear(move || listener.accept().unwrap().0);
    printed(&once(connect(&to)), "heard");
    assert_eq!(heard.join().unwrap(), "token");
}

#[cfg(not(target_os = "linux"))]
fn abstract_names() {
    let to = Endpoint::Abstract { name: "probes".into(), kind: SocketType::Stream };
    unavailable(&once(connect(&to)));
}

fn names_that_do_not_fit() {
    let path = format!("/tmp/{}", "x".repeat(200)).into();
    unavailable(&once(connect(&Endpoint::Unix { path, kind: SocketType::Stream })));
    let name = "x".repeat(200);
    unavailable(&once(connect(&Endpoint::Abstract { name, kind: SocketType::Stream })));
}
