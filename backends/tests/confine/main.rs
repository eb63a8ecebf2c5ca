//! The sandbox run for real. This one executable is the test runner, the sandbox (`confine ARGS`)
//! and the command inside (`act NAME ARGS`).
//!
//! Every denial has its control: the same act, by the same user, without the sandbox, works. As
//! root every test runs twice, as root and as nobody.

#[cfg(target_os = "linux")]
mod act;
#[cfg(target_os = "linux")]
mod check;
#[cfg(target_os = "linux")]
mod config;
#[cfg(target_os = "linux")]
mod deny;
#[cfg(target_os = "linux")]
mod events;
#[cfg(target_os = "linux")]
mod fail_closed;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod hooks;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod life;
#[cfg(target_os = "linux")]
mod links;
#[cfg(target_os = "linux")]
mod mechanisms;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod profiles;
#[cfg(target_os = "linux")]
mod sessions;
#[cfg(target_os = "linux")]
mod stubs;
#[cfg(target_os = "linux")]
mod world;

#[cfg(target_os = "linux")]
fn main() {
    let args: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    match args.first().and_then(|arg| arg.to_str()) {
        Some("confine") => std::process::exit(sandproof_backends::confine::main(&args[1..])),
        Some("act") => std::process::exit(act::main(&args[1..])),
        _ => run(),
    }
}

/// Runs all tests, as every user there is. Where the host cannot enforce a policy, only the
/// refusal can be tested.
#[cfg(target_os = "linux")]
fn run() {
    let mut trials = Vec::new();
    for user in world::users() {
        let cannot = check::host_cannot(&user);
        if cannot {
            trials.push(trial(&user, check::test("refuses_on_this_host", check::refuses), false));
        }
        let tests = [
            config::all(),
            events::all(),
            fail_closed::all(),
            network::all(),
            files::all(),
            deny::all(),
            links::all(),
            stubs::all(),
            mounts::all(),
            hooks::all(),
            kernel::all(),
            life::all(),
            mechanisms::all(),
            profiles::all(),
            sessions::all(),
        ];
        trials.extend(tests.concat().into_iter().map(|test| trial(&user, test, cannot)));
    }
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit();
}

#[cfg(target_os = "linux")]
fn trial(user: &world::User, test: check::Test, ignored: bool) -> libtest_mimic::Trial {
    let user = user.clone();
    let name = format!("{}::{}", user.name, test.name);
    let run = move || (test.run)(&world::World::new(&user)?).map_err(Into::into);
    libtest_mimic::Trial::test(name, run).with_ignored_flag(ignored)
}

/// On other systems there is nothing to run yet.
#[cfg(not(target_os = "linux"))]
fn main() {}
