//! The sandbox run for real: this executable is the test runner, the sandbox (`confine ARGS`), and
//! the command inside (`act NAME ARGS`). Every denial has its control: the same act, by the same
//! user, without the sandbox, works.
#![allow(missing_docs)]

use std::ffi::OsString;

fn main() {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let code = match args.first().and_then(|arg| arg.to_str()) {
        Some("confine") => sandproof_backends::confine::main(&args[1..]),
        _ => 0,
    };
    std::process::exit(code);
}
