//! Carries a plan out with Seatbelt.

use std::io::{self, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::args::Args;
use super::events::{Event, Events};
use super::plan::Plan;
use super::refusal::Refusal;
use super::surroundings::Surroundings;
use super::{CANNOT_RUN, NOT_FOUND, say, warning};
use crate::seatbelt::{SANDBOX_EXEC, collect};

/// Becomes the command under a profile; comes back only when that failed, with the exit status.
///
/// # Errors
/// The plan cannot be put as a profile.
pub(super) fn carry_out(
    args: &Args,
    mut plan: Plan,
    around: &Surroundings,
    events: &mut Events,
) -> Result<i32, Refusal> {
    if args.only.is_some() || !args.without.is_empty() {
        return Err(Refusal::new(
            "macOS has one mechanism, Seatbelt",
            "leave out --only, --without",
        ));
    }
    if !args.explain {
        plan.settle(around)?;
        super::open_log(args, &plan, &[], events)?;
    }
    let (profile, unfound) = collect::profile(&plan, around)?;
    warning::say_all(&plan, &unfound, args.strict_enforcement)?;
    plan.sources.recheck()?;
    let (free, applied) = (plan.is_free(), plan.applied(around));
    if args.explain {
        let shown = io::stdout().write_all(profile.as_bytes());
        return shown.map(|()| 0).map_err(|error| {
            Refusal::new(format!("the profile cannot be written ({error})"), "open its output")
        });
    }
    if !free {
        // Seatbelt is entered by the program that runs the command, which tells nobody.
        events.note(Event::ProfileApplied(applied))?;
    }
    let mut command = Command::new(SANDBOX_EXEC);
    command.arg("-p").arg(profile).args(&args.command);
    if let Some(variables) = plan.environment.variables() {
        command.env_clear().envs(variables);
    }
    let error = command.exec();
    say(&format!("cannot run {SANDBOX_EXEC}: {error}"));
    Ok(if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN })
}
