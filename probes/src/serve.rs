//! The probe: reads requests, lets a forked child perform the attempts, answers what it saw.
//!
//! It talks over its standard input and output, or, when the launcher passes no input, over the
//! FIFOs `ask` and `answer` in the folder named by `--folder`. The harness makes these and must
//! open `ask` for writing first, or either without blocking; the probe removes both names as soon
//! as it has them open, so that no attempt can.
//!
//! What keeps attempts from forging or breaking the protocol:
//! - The protocol's descriptors move above number 1023 at once and close on exec; an input that is
//!   at its end and an output that nobody reads take their places.
//! - The child closes them. It talks to the probe over two pipes of its own, whose lines carry a
//!   random key, for a pipe can be reopened by way of `/proc/PID/fd`.
//! - Every answer begins with a newline: whatever else was printed before it stays a line apart.
//! - The nonce is wiped from every buffer it passed through, and from the child; the probe cannot
//!   be looked into by processes of its own user.

mod channel;
mod child;
mod descriptors;
mod hello;
mod lines;
mod session;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use descriptors::Standard;
use lines::Link;
use session::{Next, Session};

/// Name of the FIFO on which a probe without input is asked.
pub const ASK_FIFO: &str = "ask";

/// Name of the FIFO on which a probe without input answers.
pub const ANSWER_FIFO: &str = "answer";

/// Runs the probe; the value is its exit status: 0 after `Bye` or the end of its input, 1 when the
/// protocol broke, 2 for wrong arguments. Needs a process with a single thread.
#[must_use]
pub fn main(args: &[OsString]) -> i32 {
    let (problem, code) = match folder(args) {
        Err(problem) => (problem, 2),
        Ok(folder) => match serve(folder.as_deref()) {
            Ok(()) => return 0,
            Err(error) => (format!("probe: the protocol broke: {error}"), 1),
        },
    };
    // There is nobody left to tell if this fails.
    let _ = writeln!(io::stderr(), "{problem}");
    code
}

fn folder(args: &[OsString]) -> Result<Option<PathBuf>, String> {
    match args {
        [] => Ok(None),
        [flag, folder] if flag == "--folder" => Ok(Some(folder.into())),
        _ => Err("probe: usage: probe [--folder DIR]".to_owned()),
    }
}

fn serve(folder: Option<&Path>) -> io::Result<()> {
    let limit = descriptors::raise_limit();
    // Where the launcher left no usable standard descriptors, the folder may still do.
    let (link, _sink) = match descriptors::take_standard() {
        Ok(Standard { input, output, sink }) => (Ok(Link::new(input, output)), Some(sink)),
        Err(error) => (Err(error), None),
    };
    crate::sys::notice_children();
    // Fails only where this switch does not exist; then looking in is not hindered.
    let _ = crate::sys::set_dumpable(false);
    let mut session = match (link, folder) {
        (Ok(link), _) => Session::new(link),
        (Err(_), Some(folder)) => Session::new(open_folder(folder)?),
        (Err(error), None) => return Err(error),
    };
    let mut first = true;
    loop {
        match (session.step(), folder) {
            // Nothing ever came in: the launcher passes no input.
            (Ok(Next::Over) | Err(_), Some(folder)) if first => {
                session = Session::new(open_folder(folder)?);
            }
            (Err(error), _) => return Err(error),
            (Ok(Next::Continue), _) => {}
            (Ok(Next::Over), _) => return Ok(()),
            (Ok(Next::Child(channel)), _) => {
                drop(session); // closes and wipes all that belongs to the protocol
                child::live(channel, limit);
            }
        }
        first = false;
    }
}

/// Opens both FIFOs, each as soon as the harness has its end, and takes their names away.
fn open_folder(folder: &Path) -> io::Result<Link> {
    let open = |name: &str, options: &std::fs::OpenOptions| -> io::Result<OwnedFd> {
        descriptors::high(options.open(folder.join(name))?.into())
    };
    let ask = open(ASK_FIFO, std::fs::OpenOptions::new().read(true))?;
    let answer = open(ANSWER_FIFO, std::fs::OpenOptions::new().write(true))?;
    for name in [ASK_FIFO, ANSWER_FIFO] {
        // The harness removes them as well, from outside, when this is denied.
        let _ = std::fs::remove_file(folder.join(name));
    }
    Ok(Link::new(ask, answer))
}
