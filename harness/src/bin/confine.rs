//! `confine` for installing: the reference sandbox under its own name.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let code = sandproof_backends::confine::main(&arguments);
    ExitCode::from(u8::try_from(code).unwrap_or(sandproof_backends::confine::REFUSED as u8))
}
