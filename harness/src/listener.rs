//! [`Listener`]: a server of the harness on loopback that remembers who called and with what.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use sandproof_probes::socket::abstract_address;
use sandproof_probes::{Endpoint, SocketType};
use sandproof_scenarios::Rooms;
use sandproof_scenarios::fixture::{Family, Handed, ListenerFixture, ListenerKind};

/// A caller that never ends what it says is cut off after this time and size.
const PATIENCE: Duration = Duration::from_millis(300);
const WORDS_LIMIT: usize = 64 * 1024;

/// A listener with its thread.
#[derive(Debug)]
pub struct Listener {
    endpoint: Endpoint,
    calls: Arc<Mutex<Vec<Vec<u8>>>>,
    stop: Option<io::PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

/// The socket behind a listener.
enum Socket {
    Tcp(TcpListener),
    Udp(UdpSocket),
    UnixStream(UnixListener),
    UnixDatagram(UnixDatagram),
    /// Gives a socket of this kind to whoever connects.
    Giver(UnixListener, Handed),
}

impl Listener {
    /// Opens it on a free port or path, and starts to answer.
    ///
    /// # Errors
    /// As `bind(2)`.
    pub fn open(spec: &ListenerFixture, rooms: &Rooms) -> io::Result<Self> {
        let (socket, endpoint) = bind(spec, rooms)?;
        let (stop_reader, stop_writer) = io::pipe()?;
        let calls = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&calls);
        let thread = std::thread::spawn(move || serve(&socket, &stop_reader, &sink));
        Ok(Self { endpoint, calls, stop: Some(stop_writer), thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// `host:port` or socket path, for shell steps.
    #[must_use]
    pub fn address(&self) -> String {
        match &self.endpoint {
            Endpoint::Tcp { address } | Endpoint::Udp { address } => address.to_string(),
            Endpoint::Unix { path, kind: _ } => path.to_string_lossy().into_owned(),
            Endpoint::Abstract { name, kind: _ } => format!("@{name}"),
        }
    }

    /// Stops it once everything queued is taken, and answers what each caller said.
    pub fn finish(&mut self) -> Vec<Vec<u8>> {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        std::mem::take(&mut *self.calls.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.finish();
    }
}

fn bind(spec: &ListenerFixture, rooms: &Rooms) -> io::Result<(Socket, Endpoint)> {
    let host: SocketAddr = match spec.family {
        Family::V4 => (Ipv4Addr::LOCALHOST, 0).into(),
        Family::V6 => (Ipv6Addr::LOCALHOST, 0).into(),
    };
    let kind = spec.kind_of_socket;
    Ok(match spec.kind {
        ListenerKind::Tcp => {
            let socket = TcpListener::bind(host)?;
            socket.set_nonblocking(true)?;
            let address = socket.local_addr()?;
            (Socket::Tcp(socket), Endpoint::Tcp { address })
        }
        ListenerKind::Udp => {
            let socket = UdpSocket::bind(host)?;
            socket.set_nonblocking(true)?;
            let address = socket.local_addr()?;
            (Socket::Udp(socket), Endpoint::Udp { address })
        }
        ListenerKind::Unix => {
            let path = spec
                .path
                .as_ref()
                .map_or_else(|| rooms.outside.join("listener.sock"), |path| path.resolve(rooms));
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            let address = std::os::unix::net::SocketAddr::from_pathname(&path)?;
            (giving(bind_unix(&address, kind)?, spec.hands), Endpoint::Unix { path, kind })
        }
        ListenerKind::Abstract => {
            let name = format!("sandproof-{:016x}", crate::rng::fresh_seed());
            let address = abstract_address(&name)?;
            (bind_unix(&address, kind)?, Endpoint::Abstract { name, kind })
        }
    })
}

fn giving(socket: Socket, hands: Option<Handed>) -> Socket {
    match (socket, hands) {
        (Socket::UnixStream(listener), Some(kind)) => Socket::Giver(listener, kind),
        (other, _) => other,
    }
}

/// Hands a fresh socket over.
fn give(to: &UnixStream, kind: Handed) -> io::Result<()> {
    use nix::sys::socket::{
        AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, sendmsg, socket,
    };
    let kind = match kind {
        Handed::Tcp => SockType::Stream,
        Handed::Udp => SockType::Datagram,
    };
    let socket = socket(AddressFamily::Inet, kind, SockFlag::empty(), None)?;
    let descriptors = [socket.as_raw_fd()];
    let rights = [ControlMessage::ScmRights(&descriptors)];
    let bytes = [io::IoSlice::new(b"x")];
    sendmsg::<()>(to.as_raw_fd(), &bytes, &rights, MsgFlags::empty(), None)?;
    Ok(())
}

fn bind_unix(address: &std::os::unix::net::SocketAddr, kind: SocketType) -> io::Result<Socket> {
    Ok(match kind {
        SocketType::Stream => {
            let socket = UnixListener::bind_addr(address)?;
            socket.set_nonblocking(true)?;
            Socket::UnixStream(socket)
        }
        SocketType::Datagram => {
            let socket = UnixDatagram::bind_addr(address)?;
            socket.set_nonblocking(true)?;
            Socket::UnixDatagram(socket)
        }
    })
}

impl Socket {
    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Tcp(socket) => socket.as_fd(),
            Socket::Udp(socket) => socket.as_fd(),
            Socket::UnixStream(socket) => socket.as_fd(),
            Socket::UnixDatagram(socket) => socket.as_fd(),
            Socket::Giver(socket, _) => socket.as_fd(),
        }
    }

    /// Takes one caller or datagram off the queue; nothing for one that only asks for a socket.
    fn take(&self) -> io::Result<Option<Vec<u8>>> {
        let mut buffer = vec![0; WORDS_LIMIT];
        let said = match self {
            Socket::Giver(socket, kind) => {
                let (stream, _) = socket.accept()?;
                give(&stream, *kind)?;
                return Ok(None);
            }
            Socket::Tcp(socket) => {
                let (mut stream, _) = socket.accept()?;
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                hear(&mut stream)
            }
            Socket::UnixStream(socket) => {
                let (mut stream, _) = socket.accept()?;
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                hear(&mut stream)
            }
            Socket::Udp(socket) => {
                let (length, _) = socket.recv_from(&mut buffer)?;
                buffer[..length].to_vec()
            }
            Socket::UnixDatagram(socket) => {
                let length = socket.recv(&mut buffer)?;
                buffer[..length].to_vec()
            }
        };
        Ok(Some(said))
    }
}

/// Hears a caller out and answers in a way that satisfies an HTTP client.
fn hear(stream: &mut (impl io::Read + io::Write)) -> Vec<u8> {
    let mut said = Vec::new();
    let mut buffer = [0; 4096];
    while said.len() < WORDS_LIMIT {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(length) => said.extend_from_slice(&buffer[..length]),
        }
        if said.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n");
    said
}

/// Until told to stop, and then until the queue is empty.
fn serve(socket: &Socket, stop: &io::PipeReader, calls: &Mutex<Vec<Vec<u8>>>) {
    loop {
        let mut fds = [
            PollFd::new(socket.fd(), PollFlags::POLLIN),
            PollFd::new(stop.as_fd(), PollFlags::POLLIN),
        ];
        if poll(&mut fds, PollTimeout::NONE).is_err_and(|errno| errno != nix::errno::Errno::EINTR) {
            return;
        }
        let stopping = fds[1].revents().is_some_and(|events| !events.is_empty());
        loop {
            match socket.take() {
                Ok(None) => {}
                Ok(Some(said)) => {
                    calls.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(said);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // A caller that reset its connection still called.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    calls.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(vec![]);
                }
                Err(_) => break,
            }
        }
        if stopping {
            return;
        }
    }
}
