//! The process that [`super::LiarKind::LeavesResidue`] leaves behind: started twice over, in a
//! session of its own, so that only its supervisor can still find it.

use std::ffi::OsString;
use std::io;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::LIAR_ARGUMENT;

/// Hidden first word, followed by the stage.
pub(super) const ARGUMENT: &str = "--daemon";

/// It ends by itself after this, whatever the harness does.
const STAYS: Duration = Duration::from_secs(60);

/// Starts it, and returns when it runs on its own.
pub(super) fn leave() -> io::Result<()> {
    start("first")?.wait().map(|_| ())
}

fn start(stage: &str) -> io::Result<std::process::Child> {
    Command::new(std::env::current_exe()?)
        .args([LIAR_ARGUMENT, ARGUMENT, stage])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// The first stage opens a session, starts the second and ends; the second stays.
pub(super) fn daemon(stage: &[OsString]) -> i32 {
    if stage.first().is_some_and(|word| word == "first") {
        let left = rustix::process::setsid().is_ok() && start("second").is_ok();
        return i32::from(!left);
    }
    thread::sleep(STAYS);
    0
}
