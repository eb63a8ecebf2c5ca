//! Sessions: their records, and under which profile they are gone on with.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::check::{Outcome, Test, ensure, test};
use crate::world::{Ran, World, run};

pub(crate) fn all() -> Vec<Test> {
    vec![
        test("grok_10_1_the_profile_is_remembered", grok_10_1_the_profile_is_remembered),
        test("grok_10_1_a_refused_start_is_none", grok_10_1_a_refused_start_is_none),
        test("grok_10_2_the_newest_is_continued", grok_10_2_the_newest_is_continued),
        test("grok_10_3_no_other_profile", grok_10_3_no_other_profile),
        test("grok_10_4_an_edited_profile", grok_10_4_an_edited_profile),
        test("grok_10_4_a_requirement_holds", grok_10_4_a_requirement_holds),
        test("sessions_begin_side_by_side", sessions_begin_side_by_side),
        test("a_policy_of_requirements_is_kept", a_policy_of_requirements_is_kept),
    ]
}

const READ: &str = "cat $W/outside/far";

/// Runs a script with exactly these options.
fn start(world: &World, options: &[&str], script: &str) -> Result<Ran, String> {
    run(world.unchosen(options).args(["--", "sh", "-c", script]))
}

fn refused(world: &World, options: &[&str], why: &str) -> Outcome {
    let ran = start(world, options, "echo RAN")?;
    let said = ran.status == 125 && ran.err.contains(why) && !ran.out.contains("RAN");
    ensure(said, &format!("not refused with `{why}`: {ran:?}"))
}

fn grok_10_1_the_profile_is_remembered(world: &World) -> Outcome {
    let begun = start(world, &["--session", "s", "--sandbox", "readonly"], "echo x > new")?;
    ensure(begun.status == 2, &format!("read-only wrote: {begun:?}"))?;
    let record = world.read("home/.grok/sessions/s/summary.json");
    let wanted = ["\"schema\": 1", "\"sandbox_profile\": \"read-only\"", "\"policy_sha256\": \""];
    ensure(wanted.iter().all(|part| record.contains(part)), &record)?;
    let mode = fs::metadata(world.at("home/.grok/sessions/s/summary.json"))
        .map_err(|e| e.to_string())?
        .permissions()
        .mode();
    ensure(mode & 0o777 == 0o600, &format!("{mode:o}"))?;
    let again = start(world, &["--resume", "s"], "cat plain && echo x > new")?;
    ensure(again.status == 2 && again.out == "PLAIN", &format!("{again:?}"))?;
    // `off` is a profile to remember as well.
    ensure(start(world, &["--session", "o", "--sandbox", "none"], "true")?.ok(), "off")?;
    let record = world.read("home/.grok/sessions/o/summary.json");
    ensure(record.contains("\"sandbox_profile\": \"off\""), &record)
}

fn grok_10_1_a_refused_start_is_none(world: &World) -> Outcome {
    let wrong = ["--session", "s", "--sandbox", "strict", "--keep-fd", "99"];
    refused(world, &wrong, "not open")?;
    ensure(!world.at("home/.grok/sessions/s").exists(), "a record was left")?;
    refused(world, &["--resume", "s"], "no session")?;
    refused(world, &["--session", "../s"], "no name of a session")?;
    refused(world, &["--session", "s", "--resume", "s"], "cannot be used with")?;
    // What the command says with its status is no refusal of ours.
    let ran = start(world, &["--session", "s", "--sandbox", "strict"], "exit 3")?;
    ensure(ran.status == 3, &format!("{ran:?}"))?;
    let ran = start(world, &["--session", "t", "--sandbox", "strict"], "exit 125")?;
    ensure(ran.status == 125 && world.at("home/.grok/sessions/t").exists(), &format!("{ran:?}"))?;
    ensure(start(world, &["--resume", "s"], "true")?.ok(), "the record is gone")
}

fn grok_10_2_the_newest_is_continued(world: &World) -> Outcome {
    refused(world, &["--continue"], "no session of this workspace")?;
    let begin = |id: &str, profile: &str, script: &str| {
        let titled = format!("about {id}");
        let options = ["--session", id, "--session-title", &titled, "--sandbox", profile];
        start(world, &options, script).map(drop)
    };
    begin("a", "strict", "true")?;
    begin("b", "workspace", "true")?;
    ensure(start(world, &["--continue"], READ)?.ok(), "b is the newest, and reads")?;
    ensure(!start(world, &["--resume", "about a"], READ)?.ok(), "a is strict")?;
    // It ran last now.
    ensure(!start(world, &["--continue"], READ)?.ok(), "a is the newest, and does not read")?;
    let options = ["--continue", "--workspace", &world.text("home")];
    refused(world, &options, "no session of this workspace")
}

fn grok_10_3_no_other_profile(world: &World) -> Outcome {
    start(world, &["--session", "s", "--sandbox", "strict"], "true")?;
    refused(world, &["--resume", "s", "--sandbox", "workspace"], "`strict`, and `workspace`")?;
    let mut variable = world.unchosen(&["--resume", "s"]);
    let ran = run(variable.env("GROK_SANDBOX", "off").args(["--", "true"]))?;
    ensure(ran.status == 125 && ran.err.contains("`off`"), &format!("{ran:?}"))?;
    world.write("home/.grok/config.toml", "[sandbox]\nprofile = \"devbox\"\n")?;
    let ran = start(world, &["--resume", "s"], READ)?;
    ensure(ran.status == 1, &format!("config.toml outranked the session: {ran:?}"))?;
    ensure(start(world, &["--resume", "s", "--sandbox", "strict"], "true")?.ok(), "the same")?;
    // A session that goes back to it is held to the same.
    let child = ["--session", "t", "--session-parent", "s"];
    refused(world, &[&child[..], &["--sandbox", "off"]].concat(), "`strict`, and `off`")?;
    ensure(start(world, &child, READ)?.status == 1, "the child is not strict")
}

fn grok_10_4_an_edited_profile(world: &World) -> Outcome {
    let text = "[profiles.mine]\ndeny = [\"secret\"]\n";
    world.write("home/.grok/sandbox.toml", text)?;
    start(world, &["--session", "s", "--sandbox", "mine"], "true")?;
    ensure(start(world, &["--resume", "s"], "cat secret")?.status == 1, "denied")?;
    world.write("home/.grok/sandbox.toml", "[profiles.mine]\n")?;
    refused(world, &["--resume", "s"], "not what it was")?;
    refused(world, &["--resume", "s", "--sandbox", "mine"], "not what it was")?;
    world.write("home/.grok/sandbox.toml", "")?;
    refused(world, &["--resume", "s"], "`mine`")?;
    world.write("home/.grok/sandbox.toml", text)?;
    ensure(start(world, &["--resume", "s"], "cat plain")?.ok(), "as it was")
}

fn grok_10_4_a_requirement_holds(world: &World) -> Outcome {
    start(world, &["--session", "s", "--sandbox", "off"], "true")?;
    ensure(start(world, &["--resume", "s"], READ)?.ok(), "off reads")?;
    world.write("home/.grok/config.toml", "[sandbox]\nprofile = \"strict\"\n")?;
    refused(world, &["--resume", "s"], "--sandbox off")?;
    ensure(start(world, &["--resume", "s", "--sandbox", "off"], READ)?.ok(), "said again")?;
    world.write("home/.grok/requirements.toml", "[sandbox]\nprofile = \"strict\"\n")?;
    let ran = start(world, &["--resume", "s"], READ)?;
    ensure(ran.status == 1 && ran.err.contains("`off` is not used"), &format!("{ran:?}"))
}

fn sessions_begin_side_by_side(world: &World) -> Outcome {
    let begin = |number: usize| {
        let id = format!("s{number}");
        let mut sandbox = world.unchosen(&["--session", &id, "--sandbox", "workspace"]);
        sandbox.args(["--", "true"]).spawn()
    };
    let begun: Vec<_> = (0..12).map(begin).collect();
    for child in begun {
        let status = child.and_then(|mut child| child.wait()).map_err(|e| e.to_string())?;
        ensure(status.success(), &format!("{status:?}"))?;
    }
    for number in 0..12 {
        let ran = start(world, &["--resume", &format!("s{number}")], "echo x > new")?;
        ensure(ran.ok(), &format!("s{number}: {ran:?}"))?;
    }
    Ok(())
}

/// What a session is held to is its profile; variables are those of the start.
fn a_policy_of_requirements_is_kept(world: &World) -> Outcome {
    start(world, &["--session", "s", "--sandbox", "off"], "true")?;
    let text = "[shell_environment_policy]\nexclude = [\"T\"]\n";
    world.write("home/.grok/requirements.toml", text)?;
    let mut again = world.unchosen(&["--resume", "s"]);
    let ran = run(again.env("T", "SECRET").args(["--", "env"]))?;
    ensure(ran.ok() && !ran.out.contains("SECRET"), &format!("{ran:?}"))
}
