//! What the harness and the backends use of `sys`, seen from a started program.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::Command;

use sandproof_probes::sys;

crate::tests![
    a_descriptor_is_placed,
    higher_descriptors_are_closed,
    higher_descriptors_are_not_inherited,
    a_failing_closure_stops_the_start,
    privileges_are_given_up,
    a_terminal_becomes_controlling,
    dumpable_goes_both_ways,
];

/// Runs a script after `prepare`; what it printed.
fn run(script: &str, prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static) -> String {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script);
    let output = sys::before_exec(&mut command, prepare).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A pipe that holds a word and has no writer.
fn pipe(word: &str) -> OwnedFd {
    let (reader, mut writer) = io::pipe().unwrap();
    writer.write_all(word.as_bytes()).unwrap();
    reader.into()
}

fn a_descriptor_is_placed() {
    let fd = pipe("word");
    assert_eq!(run("cat <&7", move || sys::place(fd.as_fd(), 7)), "word");
    // In its place already, but closed on exec.
    let fd = rustix::io::fcntl_dupfd_cloexec(pipe("kept"), 300).unwrap();
    let script = format!("cat /proc/self/fd/{}", fd.as_raw_fd());
    assert_eq!(run(&script, move || sys::place(fd.as_fd(), fd.as_raw_fd())), "kept");
}

/// Says of a descriptor what can be read from it, or that it is closed.
fn look(fd: i32) -> String {
    format!("cat /proc/self/fd/{fd} 2>/dev/null || echo closed;")
}

fn higher_descriptors_are_closed() {
    let fd = pipe("word");
    let seen = run(&(look(399) + &look(400)), move || {
        sys::place(fd.as_fd(), 399)?;
        sys::place(fd.as_fd(), 400)?;
        sys::close_from(400);
        Ok(())
    });
    assert_eq!(seen, "wordclosed\n");
}

fn higher_descriptors_are_not_inherited() {
    let fd = pipe("word");
    let seen = run(&(look(500) + &look(600)), move || {
        sys::place(fd.as_fd(), 500)?;
        sys::place(fd.as_fd(), 600)?;
        sys::close_on_exec_from(600);
        Ok(())
    });
    assert_eq!(seen, "wordclosed\n");
}

fn a_failing_closure_stops_the_start() {
    let mut command = Command::new("/bin/true");
    // After this, the error must still find its way to us.
    sys::before_exec(&mut command, || {
        sys::close_on_exec_from(3);
        Err(io::Error::from_raw_os_error(libc::EXDEV))
    });
    assert_eq!(command.spawn().unwrap_err().raw_os_error(), Some(libc::EXDEV));
}

fn privileges_are_given_up() {
    let script = "grep NoNewPrivs /proc/self/status";
    assert_eq!(run(script, sys::no_new_privs), "NoNewPrivs:\t1\n");
}

fn a_terminal_becomes_controlling() {
    let pair = nix::pty::openpty(None, None).unwrap();
    let slave = pair.slave;
    let said = run("echo there > /dev/tty; echo $?", move || sys::controlling_terminal(&slave));
    assert_eq!(said, "0\n");
    let mut heard = [0; 5];
    std::fs::File::from(pair.master).read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"there");
}

fn dumpable_goes_both_ways() {
    let owner = |on| {
        let mut command = Command::new("/bin/true");
        // Only a fork keeps the switch, so it is read back before exec.
        sys::before_exec(&mut command, move || {
            sys::set_dumpable(on)?;
            let found = nix::sys::prctl::get_dumpable()?;
            if found == on { Err(io::Error::from_raw_os_error(libc::EXDEV)) } else { Ok(()) }
        });
        command.spawn().unwrap_err().raw_os_error()
    };
    assert_eq!(owner(false), Some(libc::EXDEV));
    assert_eq!(owner(true), Some(libc::EXDEV));
}
