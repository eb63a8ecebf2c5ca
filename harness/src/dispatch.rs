//! Which program this process is: one executable is sandproof, confine, the probe and its helpers.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use sandproof_probes::wire::PROBE_ARGUMENT;

use crate::{command, identity, supervisor, victim};

/// Runs the program that name and first argument select; answers the exit status.
#[must_use]
pub fn dispatch(arguments: &[OsString]) -> u8 {
    let name = arguments.first().map(Path::new).and_then(Path::file_name);
    let rest = arguments.get(1..).unwrap_or_default();
    let code = match name.and_then(OsStr::to_str) {
        Some("confine") => sandproof_backends::confine::main(rest),
        Some("probe") => sandproof_probes::serve::main(rest),
        Some(_) | None => by_argument(arguments, rest),
    };
    u8::try_from(code).unwrap_or(3)
}

fn by_argument(arguments: &[OsString], rest: &[OsString]) -> i32 {
    let after = rest.get(1..).unwrap_or_default();
    let Some(first) = rest.first().and_then(|argument| argument.to_str()) else {
        return command::main(arguments);
    };
    match first {
        PROBE_ARGUMENT => sandproof_probes::serve::main(after),
        "confine" => sandproof_backends::confine::main(after),
        "liar" => sandproof_backends::liars::liar_main(after),
        "ability" => command::ability(),
        supervisor::ARGUMENT => supervisor::main(),
        victim::ARGUMENT => victim::main(),
        identity::ARGUMENT => identity::main(),
        _ => command::main(arguments),
    }
}
