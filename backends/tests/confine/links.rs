//! Hard links of denied files.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::check::{Outcome, Test, ensure, tests};
use crate::world::World;

pub(crate) fn all() -> Vec<Test> {
    tests![
        grok_3_27_links_of_a_denied_file_are_closed,
        grok_3_27_a_link_of_a_named_file_that_cannot_be_found_is_refused,
        grok_3_27_a_link_of_a_matched_file_that_cannot_be_found_is_warned_of,
        grok_3_27_thousands_of_linked_matches_start_soon,
    ]
}

fn link(world: &World, from: &str, to: &str) -> Outcome {
    fs::hard_link(world.at(from), world.at(to)).map_err(|error| format!("{to}: {error}"))
}

fn grok_3_27_links_of_a_denied_file_are_closed(world: &World) -> Outcome {
    world.write("work/a.pem", "SECRET")?;
    for alias in ["work/alias", "temp/alias", "home/alias"] {
        link(world, "work/secret", alias)?;
        world.denied(&["--deny", "secret"], &format!("cat $W/{alias}"))?;
        world.denied(&["--deny", "secret"], &format!("echo SECRET > $W/{alias}"))?;
    }
    // For a glob the folders that may be written are searched.
    for alias in ["work/b", "temp/b"] {
        link(world, "work/a.pem", alias)?;
        world.denied(&["--deny", "*.pem"], &format!("cat $W/{alias}"))?;
    }
    world.allowed(&["--deny", "secret", "--deny", "*.pem"], "cat plain")
}

/// A link in a folder that nobody can look into; root can.
fn hidden_link(world: &World, from: &str) -> Outcome {
    world.folder("outside/closed")?;
    link(world, from, "outside/closed/alias")?;
    let closed = fs::Permissions::from_mode(0o000);
    fs::set_permissions(world.at("outside/closed"), closed).map_err(|error| error.to_string())
}

fn reopen(world: &World) -> Outcome {
    let open = fs::Permissions::from_mode(0o700);
    fs::set_permissions(world.at("outside/closed"), open).map_err(|error| error.to_string())
}

fn grok_3_27_a_link_of_a_named_file_that_cannot_be_found_is_refused(world: &World) -> Outcome {
    hidden_link(world, "work/secret")?;
    let deny = ["--deny", "secret"];
    let outcome = if world.user.uid == 0 {
        world.denied(&deny, "cat $W/outside/closed/alias")
    } else {
        world.refused(&deny, "1 hard links of a file were not found")
    };
    reopen(world)?;
    outcome?;
    // Also when a glob matches it as well.
    world.denied(&["--deny", "secret", "--deny", "s*"], "cat $W/outside/closed/alias")
}

fn grok_3_27_a_link_of_a_matched_file_that_cannot_be_found_is_warned_of(world: &World) -> Outcome {
    hidden_link(world, "work/secret")?;
    let ran = world.confined(&["--deny", "s*"], "cat plain; cat secret");
    let explained = world.confined(&["--deny", "s*", "--explain"], "true");
    reopen(world)?;
    let (ran, explained) = (ran?, explained?);
    ensure(ran.out == "PLAIN", &format!("{ran:?}"))?;
    let place = world.text("work/secret");
    let warned = ran.err.contains(&format!("warning: {place} has 1 other names"));
    ensure(warned, &format!("no warning: {}", ran.err))?;
    let listed = explained.out.contains(&format!("stays readable under 1 other names: {place}"));
    ensure(listed, &format!("not explained: {explained:?}"))?;
    let quiet = world.confined(&["--deny", "p*"], "true")?;
    ensure(!quiet.err.contains("warning"), &format!("a warning without a reason: {quiet:?}"))
}

/// As in a package store: each file has a link in a folder that is not searched.
fn grok_3_27_thousands_of_linked_matches_start_soon(world: &World) -> Outcome {
    world.folder("work/modules")?;
    world.folder("outside/store")?;
    for number in 0..3000 {
        let file = format!("outside/store/{number}.js");
        fs::write(world.at(&file), "S").map_err(|error| error.to_string())?;
        link(world, &file, &format!("work/modules/{number}.js"))?;
    }
    let start = std::time::Instant::now();
    let ran = world.confined(&["--deny", "modules/*.js"], "cat modules/1.js; cat plain")?;
    let took = start.elapsed().as_secs_f64();
    ensure(ran.out == "PLAIN", &format!("{ran:?}"))?;
    ensure(ran.err.contains("2995 more files"), &format!("not counted: {}", ran.err))?;
    ensure(took < 5.0, &format!("it took {took} s"))
}
