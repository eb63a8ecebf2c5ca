//! The executable: sandproof, and by its first argument or its name also confine and the probe.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    ExitCode::from(sandproof::dispatch::dispatch(&arguments))
}
