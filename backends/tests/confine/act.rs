//! Acts by direct calls, for what a shell would do in a roundabout way. Status 0 when the act
//! worked, else 1 and the error on standard error.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use nix::sched::{CloneFlags, unshare};
use rustix::net::{AddressFamily, Protocol, SocketType, socket, socketpair};

/// Performs one act.
pub(crate) fn main(args: &[OsString]) -> i32 {
    let args: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    match act(&args) {
        Ok(()) => 0,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            1
        }
    }
}

fn act(args: &[&str]) -> io::Result<()> {
    match args {
        ["rename", from, to] => fs::rename(from, to),
        ["link", from, to] => fs::hard_link(from, to),
        ["swap", a, b] => {
            let flags = rustix::fs::RenameFlags::EXCHANGE;
            Ok(rustix::fs::renameat_with(rustix::fs::CWD, *a, rustix::fs::CWD, *b, flags)?)
        }
        ["file", act, path] => on_file(act, path),
        ["unshare"] => Ok(unshare(CloneFlags::CLONE_NEWUSER)?),
        ["mount", path] => Ok(rustix::mount::mount(
            "none",
            *path,
            "tmpfs",
            rustix::mount::MountFlags::empty(),
            None,
        )?),
        ["fsopen"] => {
            Ok(rustix::mount::fsopen("tmpfs", rustix::mount::FsOpenFlags::empty()).map(drop)?)
        }
        ["thread-write", path] => {
            let path = (*path).to_owned();
            let write = std::thread::spawn(move || fs::write(path, "x"));
            write.join().map_err(|_| io::Error::other("thread"))?
        }
        // What the driver says is not asked: only whether it is asked.
        ["ioctl", path] => match nix::sys::termios::tcgetattr(fs::File::open(path)?) {
            Err(nix::errno::Errno::ENOTTY) | Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        },
        ["tty"] => own_terminal(),
        ["thread"] => std::thread::spawn(|| ()).join().map_err(|_| io::Error::other("thread")),
        ["kill", pid] => {
            let pid =
                nix::unistd::Pid::from_raw(number(pid)?.try_into().map_err(io::Error::other)?);
            Ok(nix::sys::signal::kill(pid, None)?)
        }
        ["sid"] => {
            let sid = rustix::process::getsid(None)?;
            writeln!(io::stdout(), "{}", sid.as_raw_nonzero())
        }
        _ => act_on_sockets(args),
    }
}

fn act_on_sockets(args: &[&str]) -> io::Result<()> {
    match args {
        ["socket", family, protocol] => {
            let protocol = std::num::NonZeroU32::new(number(protocol)?).map(Protocol::from_raw);
            open_socket(number(family)?, protocol)
        }
        ["socket", family] => open_socket(number(family)?, None),
        ["socket-of", family, kind, protocol] => {
            let family =
                AddressFamily::from_raw(number(family)?.try_into().map_err(io::Error::other)?);
            let protocol = std::num::NonZeroU32::new(number(protocol)?).map(Protocol::from_raw);
            Ok(socket(family, SocketType::from_raw(number(kind)?), protocol).map(drop)?)
        }
        ["call", port] => {
            let port = number(port)?.try_into().map_err(io::Error::other)?;
            std::net::TcpStream::connect(("127.0.0.1", port)).map(drop)
        }
        // None of them may be had.
        ["sockets", count] => (0..number(count)?).try_for_each(|_| match open_socket(2, None) {
            Ok(()) => Err(io::Error::other("a socket")),
            Err(_) => Ok(()),
        }),
        ["socketpair"] => {
            let kind = SocketType::STREAM;
            Ok(socketpair(AddressFamily::UNIX, kind, rustix::net::SocketFlags::empty(), None)
                .map(drop)?)
        }
        ["unix", path] => talk(path),
        ["connect", path] => UnixStream::connect(path).map(drop),
        ["abstract", name] => {
            use std::os::linux::net::SocketAddrExt;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
            UnixStream::connect_addr(&address).map(drop)
        }
        _ => Err(io::Error::other(format!("no act: {args:?}"))),
    }
}

/// Makes a terminal, becomes its process, and opens `/dev/tty`.
fn own_terminal() -> io::Result<()> {
    let both = nix::fcntl::OFlag::O_RDWR;
    let control = nix::pty::posix_openpt(both | nix::fcntl::OFlag::O_NOCTTY)?;
    nix::pty::grantpt(&control)?;
    nix::pty::unlockpt(&control)?;
    // The leader of a session already is what it should become.
    let _ = nix::unistd::setsid();
    let _terminal =
        fs::OpenOptions::new().read(true).write(true).open(nix::pty::ptsname_r(&control)?)?;
    // Without its other end the terminal would hang up on this process.
    let opened = fs::OpenOptions::new().read(true).write(true).open("/dev/tty").map(drop);
    std::mem::forget(control);
    opened
}

/// What can be done to one path.
fn on_file(act: &str, path: &str) -> io::Result<()> {
    match act {
        "read" => fs::read(path).map(drop),
        "list" => fs::read_dir(path).map(drop),
        "append" => fs::OpenOptions::new().append(true).open(path).map(drop),
        "truncate" => Ok(nix::unistd::truncate(path, 0)?),
        "write" => fs::File::create(path).map(drop),
        "create" => fs::File::create_new(path).map(drop),
        "chmod" => {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(path, mode)
        }
        "unlink" => fs::remove_file(path),
        "rmdir" => fs::remove_dir(path),
        _ => Err(io::Error::other(format!("no act: {act}"))),
    }
}

fn number(text: &str) -> io::Result<u32> {
    text.parse().map_err(io::Error::other)
}

fn open_socket(family: u32, protocol: Option<Protocol>) -> io::Result<()> {
    let family = AddressFamily::from_raw(family.try_into().map_err(io::Error::other)?);
    let kind = if family == AddressFamily::NETLINK { SocketType::RAW } else { SocketType::STREAM };
    Ok(socket(family, kind, protocol).map(drop)?)
}

/// A conversation over a socket with a path.
fn talk(path: &str) -> io::Result<()> {
    let listener = UnixListener::bind(path)?;
    let mut client = UnixStream::connect(path)?;
    client.write_all(b"x")?;
    let mut byte = [0];
    listener.accept()?.0.read_exact(&mut byte)
}
