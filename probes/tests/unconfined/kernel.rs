//! Raw system calls, ioctls, namespaces and mounts, and what the host says it can do.

use std::io::Read;
use std::path::Path;
use std::process::Command;

use sandproof_probes::ability::Abilities;
use sandproof_probes::syscalls::number;
use sandproof_probes::{Abi, Attempt, Endpoint, Observation, Outcome};
use tempfile::tempdir;

use crate::client::{ABILITY, Probe, done, failed, once, printed, root, route, shell, unavailable};

crate::tests![
    native_calls_answer_their_value,
    foreign_tables_agree_with_the_abilities,
    a_fork_by_number_answers_once,
    ioctls,
    rings_open_and_connect,
    handles_name_files,
    a_cloned_mount_shows_its_files,
    descriptors_are_read_by_number,
    leaves_namespaces,
    mounts_stay_inside,
    abilities_agree_with_attempts,
    hello_needs_no_proc,
];

fn call(abi: Abi, name: &str, args: &[i64]) -> Attempt {
    Attempt::Syscall { abi, number: number(abi, name).unwrap(), args: args.to_vec() }
}

fn abilities() -> Abilities {
    let output =
        Command::new(std::env::current_exe().unwrap()).arg(ABILITY).output().unwrap().stdout;
    serde_json::from_slice(&output).unwrap()
}

fn rings_open_and_connect() {
    let room = tempdir().unwrap();
    let path = room.path().join("file");
    std::fs::write(&path, "content").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let to = Endpoint::Tcp { address: listener.local_addr().unwrap() };
    let read = once(Attempt::RingRead { path: path.clone() });
    let connected = once(Attempt::RingConnect { to, text: "token".into() });
    if !abilities().io_uring {
        assert!(!read.done() && !connected.done());
        return;
    }
    printed(&read, "content");
    std::fs::remove_file(&path).unwrap();
    failed(&once(Attempt::RingRead { path }), "IORING_OP_OPENAT", libc::ENOENT);
    done(&connected);
    let mut heard = String::new();
    listener.accept().unwrap().0.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "token");
}

fn handles_name_files() {
    let room = tempdir().unwrap();
    let path = room.path().join("file");
    std::fs::write(&path, "content").unwrap();
    let seen = once(Attempt::HandleRead { path: path.clone() });
    if root() {
        printed(&seen, "content");
    } else {
        failed(&seen, "open_by_handle_at", libc::EPERM);
    }
    std::fs::remove_file(&path).unwrap();
    failed(&once(Attempt::HandleRead { path }), "name_to_handle_at", libc::ENOENT);
}

fn a_cloned_mount_shows_its_files() {
    let room = tempdir().unwrap();
    std::fs::write(room.path().join("file"), "content").unwrap();
    let namespaces = vec!["user".to_owned(), "mount".to_owned()];
    let tree = Attempt::TreeRead { tree: room.path().into(), file: "file".into() };
    let seen = route([Attempt::Unshare { namespaces }, tree]);
    if seen[0].done() {
        printed(&seen[1], "content");
    } else {
        assert!(!abilities().userns);
    }
}

fn descriptors_are_read_by_number() {
    let room = tempdir().unwrap();
    std::fs::write(room.path().join("file"), "content").unwrap();
    let folder = std::fs::File::open(room.path()).unwrap();
    let mut command = crate::client::probe();
    sandproof_probes::sys::before_exec(&mut command, move || {
        use std::os::fd::AsFd;
        sandproof_probes::sys::place(folder.as_fd(), 50)
    });
    let mut probe = Probe::spawn(&mut command);
    probe.hello();
    probe.begin();
    printed(&probe.attempt(Attempt::ReadAt { fd: 50, path: Some("file".into()) }), "content");
    failed(&probe.attempt(Attempt::ReadAt { fd: 50, path: None }), "read", libc::EISDIR);
    failed(&probe.attempt(Attempt::ReadAt { fd: 51, path: None }), "fcntl", libc::EBADF);
    probe.end();
    probe.bye();
}

fn native_calls_answer_their_value() {
    let seen = route([call(Abi::Native, "getpid", &[]), shell("echo $PPID", Path::new("/"))]);
    assert_eq!(seen[0].text, seen[1].text.trim());
    let seen = once(call(Abi::Native, "socket", &[-1, 1, 0]));
    let name = format!("syscall {}", number(Abi::Native, "socket").unwrap());
    failed(&seen, &name, libc::EAFNOSUPPORT);
    unavailable(&once(call(Abi::Native, "getpid", &[0; 7])));
}

fn foreign_tables_agree_with_the_abilities() {
    let abilities = abilities();
    let foreign = |abi| once(Attempt::Syscall { abi, number: 39, args: vec![] });
    if !cfg!(target_arch = "x86_64") {
        unavailable(&foreign(Abi::X32));
        unavailable(&foreign(Abi::I386));
        return;
    }
    let x32 = once(call(Abi::X32, "getpid", &[]));
    let i386 = route([call(Abi::I386, "getpid", &[]), shell("echo $PPID", Path::new("/"))]);
    if abilities.x32 {
        assert!(x32.done());
    } else {
        failed(&x32, "syscall 39", libc::ENOSYS);
    }
    if abilities.ia32 {
        assert_eq!(i386[0].text, i386[1].text.trim());
        // All six arguments arrive: a negative family is refused, and so is a bad protocol.
        let seen = once(call(Abi::I386, "socket", &[libc::AF_UNIX.into(), 1, 77]));
        failed(&seen, "syscall 359", libc::EPROTONOSUPPORT);
        sixth_argument_arrives();
    } else {
        assert_eq!(i386[0].outcome, Outcome::Signal { number: libc::SIGSEGV });
    }
}

/// `mmap2` of i386 takes the offset, in pages, as its sixth: one that overflows is refused.
fn sixth_argument_arrives() {
    let map = |offset| {
        let (protection, flags) = (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let args = vec![0, 4096, protection.into(), flags.into(), -1, offset];
        once(Attempt::Syscall { abi: Abi::I386, number: 192, args })
    };
    assert!(map(0).done());
    let seen = once(Attempt::Syscall {
        abi: Abi::I386,
        number: 192,
        args: vec![0, 4096, libc::PROT_READ.into(), libc::MAP_PRIVATE.into(), 99, 0],
    });
    failed(&seen, "syscall 192", libc::EBADF);
}

fn a_fork_by_number_answers_once() {
    let mut probe = Probe::start();
    probe.begin();
    let forked = probe.attempt(call(Abi::Native, "clone", &[libc::SIGCHLD.into(), 0, 0, 0, 0]));
    let pid: i32 = forked.text.parse().unwrap();
    assert!(forked.done() && pid > 0);
    // A second answer would now stand where this one belongs.
    printed(&probe.attempt(shell("echo next", Path::new("/"))), "next\n");
    probe.end();
    probe.bye();
}

fn ioctls() {
    // In libc their type differs from library to library.
    const FIONREAD: u64 = 0x541b;
    const TIOCSTI: u64 = 0x5412;
    let ioctl = |fd, request, text: Option<&str>| {
        let text = text.map(str::to_owned);
        once(Attempt::Ioctl { fd, request, arg: 0, text })
    };
    done(&ioctl(0, FIONREAD, Some("x")));
    failed(&ioctl(0, FIONREAD, None), "ioctl", libc::EFAULT);
    failed(&ioctl(0, TIOCSTI, Some("x")), "ioctl", libc::ENOTTY);
    failed(&ioctl(77, FIONREAD, Some("x")), "ioctl", libc::EBADF);
}

fn unshare(namespaces: &[&str]) -> Attempt {
    Attempt::Unshare { namespaces: namespaces.iter().map(|&name| name.to_owned()).collect() }
}

fn leaves_namespaces() {
    let link = |name: &str| Attempt::Readlink { path: format!("/proc/self/ns/{name}").into() };
    if abilities().userns {
        let seen = route([link("user"), unshare(&["user", "network"]), link("user")]);
        done(&seen[1]);
        assert_ne!(seen[0].text, seen[2].text);
    } else {
        assert!(!once(unshare(&["user", "network"])).done() || !root());
    }
    unavailable(&once(unshare(&["users"])));
}

fn mounts_stay_inside() {
    let room = tempdir().unwrap();
    let target = room.path().join("here");
    std::fs::create_dir(&target).unwrap();
    let mount = |flags: &[&str], source: &str, at: &Path, fstype: &str| Attempt::Mount {
        source: source.into(),
        target: at.to_owned(),
        fstype: fstype.into(),
        flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
        data: String::new(),
    };
    unavailable(&once(mount(&["bnd"], "none", &target, "tmpfs")));
    if !root() {
        failed(&once(mount(&[], "none", &target, "tmpfs")), "mount", libc::EPERM);
        failed(&once(Attempt::Umount { target, detach: true }), "umount2", libc::EPERM);
        return;
    }
    let seen = route([
        unshare(&["mount"]),
        mount(&["rec", "private"], "none", Path::new("/"), ""),
        mount(&["nosuid", "nodev"], "none", &target, "tmpfs"),
        Attempt::Create { path: target.join("inside") },
        mount(&["remount", "ro", "nosuid", "nodev"], "none", &target, ""),
        Attempt::Create { path: target.join("more") },
        Attempt::Umount { target: target.clone(), detach: true },
        Attempt::List { path: target.clone() },
        Attempt::Umount { target: target.clone(), detach: true },
    ]);
    let (worked, refused): (Vec<_>, Vec<_>) = seen.into_iter().partition(Observation::done);
    assert_eq!(worked.len(), 7, "{worked:?} {refused:?}");
    failed(&refused[0], "openat", libc::EROFS);
    failed(&refused[1], "umount2", libc::EINVAL);
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0, "nothing shows outside");
}

fn abilities_agree_with_attempts() {
    let abilities = abilities();
    let ask = |question| once(call(Abi::Native, "landlock_create_ruleset", &[0, 0, question]));
    let value = |seen: Observation| seen.text.parse().ok();
    assert_eq!(abilities.landlock_abi, value(ask(1)));
    assert_eq!(abilities.landlock_errata, value(ask(2)).unwrap_or(0));
    let ring = once(call(Abi::Native, "io_uring_setup", &[1, 0]));
    let name = format!("syscall {}", number(Abi::Native, "io_uring_setup").unwrap());
    if abilities.io_uring {
        failed(&ring, &name, libc::EFAULT);
    } else {
        assert!(!ring.done());
    }
    let filters = Path::new("/proc/sys/kernel/seccomp/actions_avail").exists();
    assert_eq!(abilities.seccomp, filters, "{abilities:?}");
    assert_eq!(abilities.tty, Path::new("/dev/ptmx").exists(), "{abilities:?}");
    assert_eq!(abilities.userns, abilities.userns_errno.is_none());
}

fn hello_needs_no_proc() {
    use nix::mount::{MsFlags, mount};
    use nix::sched::CloneFlags;
    let mut command = crate::client::probe();
    sandproof_probes::sys::before_exec(&mut command, || {
        nix::sched::unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
        mount(Some("none"), "/proc", Some("tmpfs"), MsFlags::empty(), None::<&str>)?;
        sandproof_probes::sys::no_new_privs()
    });
    if !abilities().userns {
        assert!(command.spawn().is_err());
        return;
    }
    let mut probe = Probe::spawn(&mut command);
    let hello = probe.hello();
    assert!(hello.no_new_privs && hello.namespaces.is_empty());
    assert_eq!((hello.seccomp, hello.capabilities.len()), (0, 16));
    probe.begin();
    printed(&probe.attempt(shell("echo works", Path::new("/"))), "works\n");
    probe.bye();
}
