//! Without a sandbox every attempt does what its doc says, and no attempt can forge or break the
//! protocol. This executable is also the probe: it starts itself with a hidden argument.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is a test, though no cfg says so"
)]
#![expect(clippy::wildcard_enum_match_arm, reason = "an answer that is not expected fails")]

mod client;
mod fs;
#[cfg(target_os = "linux")]
mod kernel;
mod net;
mod process;
mod program;
mod protocol;
#[cfg(target_os = "linux")]
mod secrecy;
#[cfg(target_os = "linux")]
mod sys;

use std::ffi::OsString;

use libtest_mimic::{Arguments, Trial};

/// A test by name.
type Test = (&'static str, fn());

fn main() {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    match args.split_first() {
        Some((first, rest)) if first == client::PROBE => {
            std::process::exit(sandproof_probes::serve::main(rest))
        }
        Some((first, _)) if first == client::ABILITY => {
            println!("{}", serde_json::to_string(&sandproof_probes::ability::report()).unwrap());
        }
        _ => run(),
    }
}

fn run() {
    let mut trials = Vec::new();
    for (module, tests) in modules() {
        for (name, test) in tests {
            trials.push(Trial::test(format!("{module}::{name}"), move || {
                test();
                Ok(())
            }));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn modules() -> Vec<(&'static str, Vec<Test>)> {
    vec![
        ("fs", fs::tests()),
        ("net", net::tests()),
        ("process", process::tests()),
        ("program", program::tests()),
        ("protocol", protocol::tests()),
        #[cfg(target_os = "linux")]
        ("kernel", kernel::tests()),
        #[cfg(target_os = "linux")]
        ("secrecy", secrecy::tests()),
        #[cfg(target_os = "linux")]
        ("sys", sys::tests()),
    ]
}

/// Lists functions as tests under their own names.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        /// All tests of this module.
        pub(crate) fn tests() -> Vec<crate::Test> {
            vec![$((stringify!($name), $name as fn())),*]
        }
    };
}
pub(crate) use tests;
