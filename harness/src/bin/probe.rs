//! `probe` for installing: the probe under its own name.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    ExitCode::from(u8::try_from(sandproof_probes::serve::main(&arguments)).unwrap_or(1))
}
