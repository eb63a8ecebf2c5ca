//! System calls, network, namespaces, other processes.

use std::os::unix::fs::chown;
use std::os::unix::net::UnixListener;

use crate::check::{Outcome, Test, ensure, test};
use crate::world::World;

pub(crate) fn all() -> Vec<Test> {
    vec![
        test("blocked_network_has_local_sockets_only", blocked_network_has_local_sockets_only),
        test("open_network_has_all_sockets", open_network_has_all_sockets),
        test("sockets_of_daemons_are_closed", sockets_of_daemons_are_closed),
        test("no_namespace_can_be_made", no_namespace_can_be_made),
        test("threads_work", threads_work),
        test("processes_outside_are_out_of_reach", processes_outside_are_out_of_reach),
        test("no_privilege_is_left", no_privilege_is_left),
        test("grok_4_1_the_newest_abi_is_used", grok_4_1_the_newest_abi_is_used),
        test("grok_4_2_what_read_and_write_roots_give", grok_4_2_what_read_and_write_roots_give),
        test("grok_4_3_only_devices_take_controls", grok_4_3_only_devices_take_controls),
        test(
            "grok_4_4_signals_and_abstract_sockets_stay",
            grok_4_4_signals_and_abstract_sockets_stay,
        ),
        test("grok_4_7_every_thread_is_confined", grok_4_7_every_thread_is_confined),
    ]
}

fn blocked_network_has_local_sockets_only(world: &World) -> Outcome {
    let options = ["--network", "blocked"];
    // AF_INET, AF_INET6, and netlink other than route (NETLINK_KOBJECT_UEVENT, NETLINK_GENERIC).
    for act in ["2", "10", "16 15", "16 16"] {
        world.denied(&options, &format!("$EXE act socket {act}"))?;
    }
    world.allowed(&options, "$EXE act socket 1 && $EXE act socket 16 && $EXE act socket 16 0")?;
    world.allowed(&options, "$EXE act socketpair && $EXE act unix $TMPDIR/s && $EXE act unix s")?;
    for profile in ["read-only", "strict", "workspace-write"] {
        world.denied(&["--sandbox", profile], "$EXE act socket 2")?;
    }
    world.denied(&["--sandbox", "off", "--network", "blocked"], "$EXE act socket 2")
}

fn open_network_has_all_sockets(world: &World) -> Outcome {
    world.allowed(&[], "$EXE act socket 2 && $EXE act socket 10")?;
    world.allowed(&["--sandbox", "strict", "--network", "open"], "$EXE act socket 2")
}

fn sockets_of_daemons_are_closed(world: &World) -> Outcome {
    world.folder("home/.docker/run")?;
    let mut path = world.at("home/.docker/run/docker.sock");
    let _listener = UnixListener::bind(&path).map_err(|e| e.to_string())?;
    chown(&path, Some(world.user.uid), Some(world.user.uid)).map_err(|e| e.to_string())?;
    let blocked = ["--network", "blocked"];
    world.denied(&blocked, "$EXE act connect ~/.docker/run/docker.sock")?;
    world.allowed(&[], "$EXE act connect ~/.docker/run/docker.sock")?;
    path.set_file_name("other.sock");
    let _other = UnixListener::bind(&path).map_err(|e| e.to_string())?;
    chown(&path, Some(world.user.uid), Some(world.user.uid)).map_err(|e| e.to_string())?;
    world.allowed(&blocked, "$EXE act connect ~/.docker/run/other.sock")
}

fn no_namespace_can_be_made(world: &World) -> Outcome {
    world.denied(&[], "$EXE act unshare")?;
    world.denied(&[], "unshare -Ur true")?;
    let inside = world.confined(&[], "$EXE act fsopen; $EXE act mount $W/work")?;
    ensure(inside.err.matches("Operation not permitted").count() == 2, &inside.err)
}

fn threads_work(world: &World) -> Outcome {
    world.allowed(&["--sandbox", "strict"], "$EXE act thread")
}

fn processes_outside_are_out_of_reach(world: &World) -> Outcome {
    world.with_victim(|pid| {
        world.denied(&[], &format!("$EXE act kill {pid}"))?;
        world.denied(&[], &format!("cat /proc/{pid}/environ"))?;
        world.denied(&[], &format!("ls /proc/{pid}/root/"))
    })?;
    world.allowed(&[], "sleep 60 & $EXE act kill $! && kill $!")
}

fn no_privilege_is_left(world: &World) -> Outcome {
    for profile in ["workspace", "strict"] {
        let status = world.confined(&["--sandbox", profile], "cat /proc/self/status")?.out;
        for line in ["CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "NoNewPrivs:\t1"] {
            ensure(status.contains(line), &format!("{line} is not in {status}"))?;
        }
    }
    let status = world.confined(&["--sandbox", "workspace"], "cat /proc/self/status")?.out;
    ensure(status.contains("CapBnd:\t0000000000000000"), &status)
}

/// The number that the kernel answers is the one that is used, without a look at its version.
fn grok_4_1_the_newest_abi_is_used(world: &World) -> Outcome {
    let told = world.confined(&["--sandbox", "workspace", "--explain"], "true")?.out;
    let abi = sandproof_probes::ability::landlock_abi().unwrap_or(0);
    ensure(told.contains(&format!("Landlock ABI {}\n", abi.min(10))), &told)
}

fn grok_4_2_what_read_and_write_roots_give(world: &World) -> Outcome {
    world.write("outside/run/hello", "#!/bin/sh\necho hello\n")?;
    world.bare("chmod 755 $W/outside/run/hello")?;
    let strict = ["--sandbox", "strict"];
    world.denied(&strict, "$W/outside/run/hello")?;
    let run = world.text("outside/run");
    let more = [&strict[..], &["--read-only", &run]].concat();
    world.allowed(&more, "$W/outside/run/hello && ls $W/outside/run")?;
    world.denied(&more, "echo x > $W/outside/run/new && rm $W/outside/run/new")?;
    let all = "mkdir -p a b && echo x > a/f && mv a/f b/g && ln b/g a/h && ln -s g b/l && mkfifo b/p \
               && : > b/g && $EXE act unix b/s && rm -r a b";
    world.allowed(&strict, all)
}

fn grok_4_3_only_devices_take_controls(world: &World) -> Outcome {
    if sandproof_probes::ability::landlock_abi().unwrap_or(0) < 5 {
        return world.allowed(&[], "$EXE act ioctl /dev/zero");
    }
    world.allowed(&[], "$EXE act ioctl /dev/zero && $EXE act ioctl /dev/null")?;
    // Can be read like everything, and takes no control.
    world.denied(&[], "$EXE act ioctl /dev/full")
}

fn grok_4_4_signals_and_abstract_sockets_stay(world: &World) -> Outcome {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("confine-test-{}-{}", std::process::id(), world.user.uid);
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name);
    let _listener = address.and_then(|a| UnixListener::bind_addr(&a)).map_err(|e| e.to_string())?;
    // With an open network it is Landlock alone that holds.
    world.denied(&[], &format!("$EXE act abstract {name}"))?;
    world.denied(&["--network", "blocked"], &format!("$EXE act abstract {name}"))?;
    world.with_victim(|pid| world.denied(&[], &format!("$EXE act kill {pid}")))
}

fn grok_4_7_every_thread_is_confined(world: &World) -> Outcome {
    world.denied(&[], "$EXE act thread-write $W/outside/new && rm $W/outside/new")?;
    world.allowed(&[], "$EXE act thread-write new")
}
