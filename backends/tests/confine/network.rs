//! The blocked network: which sockets there are, layer by layer.

use std::os::unix::fs::{chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use crate::check::{Outcome, Test, ensure, test};
use crate::world::{World, run};

pub(crate) fn all() -> Vec<Test> {
    vec![
        test("grok_4_19_sockets_are_blocked_by_family", grok_4_19_sockets_are_blocked_by_family),
        test("grok_4_19_unix_sockets_work", grok_4_19_unix_sockets_work),
        test(
            "grok_4_21_what_the_command_starts_is_blocked",
            grok_4_21_what_the_command_starts_is_blocked,
        ),
        test("grok_4_22_blocked_without_landlock", grok_4_22_blocked_without_landlock),
        test("grok_4_22_blocked_without_seccomp", grok_4_22_blocked_without_seccomp),
        test("grok_4_23_the_profile_blocks_by_itself", grok_4_23_the_profile_blocks_by_itself),
        test("agents_named_by_variables_are_closed", agents_named_by_variables_are_closed),
        test("a_symlinked_endpoint_is_closed_under_both_names", symlinked_endpoint),
    ]
}

const BLOCKED: [&str; 2] = ["--network", "blocked"];

fn grok_4_19_sockets_are_blocked_by_family(world: &World) -> Outcome {
    // inet and inet6 as stream, datagram and MPTCP; netlink beside route; vsock.
    for socket in ["2 1 0", "2 2 0", "10 1 0", "10 2 0", "2 1 262", "16 3 15", "16 3 16", "40 1 0"]
    {
        world.denied(&BLOCKED, &format!("$EXE act socket-of {socket}"))?;
    }
    if world.user.uid == 0 {
        // packet, and raw: only root has them without a sandbox.
        world.denied(&BLOCKED, "$EXE act socket-of 17 3 0")?;
        world.denied(&BLOCKED, "$EXE act socket-of 2 3 1")?;
    }
    Ok(())
}

fn grok_4_19_unix_sockets_work(world: &World) -> Outcome {
    for profile in ["read-only", "strict", "workspace-write"] {
        world
            .allowed(&["--sandbox", profile], "$EXE act unix $TMPDIR/$$ && $EXE act socketpair")?;
    }
    Ok(())
}

fn grok_4_21_what_the_command_starts_is_blocked(world: &World) -> Outcome {
    world.denied(&BLOCKED, "sh -c 'sh -c \"$EXE act socket 2\"'")?;
    world.denied(&BLOCKED, "(setsid $EXE act socket 2)")
}

fn grok_4_22_blocked_without_landlock(world: &World) -> Outcome {
    let options = [&BLOCKED[..], &["--without", "landlock", "--fail-open"]].concat();
    world.denied(&options, "$EXE act socket 2")
}

/// The filter gone, a socket can be made and reaches nobody: the network namespace is empty, and
/// Landlock grants no port.
fn grok_4_22_blocked_without_seccomp(world: &World) -> Outcome {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    let call = format!("$EXE act call {port}");
    let fail_open = [&BLOCKED[..], &["--without", "seccomp", "--fail-open"]].concat();
    world.denied(&fail_open, &call)?;
    let landlock_only = [&fail_open[..], &["--without", "network-namespace"]].concat();
    world.denied(&landlock_only, &call)?;
    let nothing = [&landlock_only[..], &["--without", "landlock"]].concat();
    world.allowed(&nothing, &call)
}

fn grok_4_23_the_profile_blocks_by_itself(world: &World) -> Outcome {
    for profile in ["read-only", "strict", "workspace-write"] {
        world.denied(&["--sandbox", profile], "$EXE act socket 2")?;
    }
    for profile in ["workspace", "devbox"] {
        world.allowed(&["--sandbox", profile], "$EXE act socket 2")?;
    }
    Ok(())
}

/// A socket of a daemon of the user, to be held open.
fn daemon(world: &World, path: &str) -> Result<UnixListener, String> {
    let listener = UnixListener::bind(world.at(path)).map_err(|e| e.to_string())?;
    chown(world.at(path), Some(world.user.uid), Some(world.user.uid)).map_err(|e| e.to_string())?;
    Ok(listener)
}

fn agents_named_by_variables_are_closed(world: &World) -> Outcome {
    let _agent = daemon(world, "temp/agent")?;
    let _bus = daemon(world, "temp/bus")?;
    let _docker = daemon(world, "temp/docker")?;
    let _other = daemon(world, "temp/other")?;
    let call = |options: &[&str], name: &str| {
        let script = format!("$EXE act connect $TMPDIR/{name}");
        let mut command = world.sandbox(options);
        command
            .env("SSH_AUTH_SOCK", world.at("temp/agent"))
            .env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={},guid=0", world.text("temp/bus")))
            .env("DOCKER_HOST", format!("unix://{}", world.text("temp/docker")));
        run(command.args(["--", "sh", "-c", &script])).map(|ran| ran.ok())
    };
    for name in ["agent", "bus", "docker"] {
        ensure(!call(&BLOCKED, name)?, &format!("{name} is open"))?;
    }
    ensure(call(&BLOCKED, "other")?, "other is closed")?;
    ensure(call(&[], "agent")? && call(&[], "docker")?, "closed though the network is open")?;
    ensure(!call(&[], "bus")?, "the bus is open")?;
    ensure(call(&["--sandbox", "devbox"], "bus")?, "devbox closes the bus")
}

fn symlinked_endpoint(world: &World) -> Outcome {
    world.folder("home/.docker/run")?;
    let _daemon = daemon(world, "temp/real.sock")?;
    let link = world.at("home/.docker/run/docker.sock");
    symlink(world.at("temp/real.sock"), &link).map_err(|e| e.to_string())?;
    world.denied(&BLOCKED, "$EXE act connect ~/.docker/run/docker.sock")?;
    world.denied(&BLOCKED, "$EXE act connect $TMPDIR/real.sock")?;
    // One that cannot even be looked at stops nobody.
    let closed = world.at("home/.docker/desktop");
    symlink("desktop", &closed).map_err(|e| e.to_string())?;
    ensure(Path::new(&closed).is_symlink(), "no loop")?;
    let ran = world.confined(&BLOCKED, "true")?;
    ensure(ran.ok() && ran.err.contains("cannot be looked at"), &format!("{ran:?}"))
}
