//! What the harness costs: the time of one whole arm (world, photographs, session, supervisor)
//! above the bare start of the same command under the same backend, measured in turn so that a
//! noisy machine slows both.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use sandproof::arena_root::{ArenaRoot, base};
use sandproof::arm::{self, Bench, Plan};
use sandproof::supervisor::Supervisor;
use sandproof_backends::Backend;
use sandproof_backends::bare::Bare;
use sandproof_backends::mechanism::Confine;
use sandproof_scenarios::{Profile, Rooms, Scenario, load};

const SCENARIO: &str = "
schema: 1
id: bench/read
title: A file can be read
why: The smallest arm there is.
claim: ours
severity: low
policy: { profiles: [workspace] }
given:
  - file: { path: work/plain.txt, holds: text }
routes:
  syscall:
    - read: work/plain.txt
works: true
";

fn overhead(criterion: &mut Criterion) {
    let base = base(None).expect("there is a place for arenas");
    let sandproof = Path::new(env!("CARGO_BIN_EXE_sandproof"));
    let root = ArenaRoot::create(&base, sandproof, false).expect("the arena root can be made");
    let scenario = load::scenario(SCENARIO, "bench", None).expect("the scenario is right");
    let (counter, env) = (AtomicU64::new(0), [("PATH".into(), "/usr/bin:/bin".into())].into());
    let bench = Bench {
        root: &root,
        counter: &counter,
        seed: 1,
        timeout: Duration::from_secs(30),
        keep: false,
        base_env: &env,
        supervisor: Supervisor::spawn(root.executable()).expect("a supervisor starts"),
    };
    let backends: [Box<dyn Backend>; 2] = [
        Box::new(Bare::default()),
        Box::new(Confine::new(root.executable().to_path_buf(), vec![])),
    ];
    let mut group = criterion.benchmark_group("overhead");
    for backend in &backends {
        group.bench_function(backend.name(), |bencher| {
            bencher.iter_custom(|rounds| {
                (0..rounds).map(|_| above(&bench, &scenario, backend.as_ref())).sum()
            });
        });
    }
    group.finish();
}

/// One arm, less one bare start of the same command under the same backend.
fn above(bench: &Bench<'_>, scenario: &Scenario, backend: &dyn Backend) -> Duration {
    let bare = bare_start(bench, scenario, backend);
    let (name, route) = &scenario.routes[0];
    let (given, profile) = (&scenario.given, Profile::Workspace);
    let still_works = scenario.still_works.as_slice();
    let route = (name.as_str(), route);
    let begin = Instant::now();
    let outcome = arm::run(
        bench,
        &Plan { scenario, route, given, backend, profile, name: "subject", still_works },
    );
    let arm = begin.elapsed();
    assert!(outcome.is_ok_and(|outcome| outcome.arm.attempts[0].done()));
    arm.saturating_sub(bare)
}

/// Fork and exec of the backend's command line; the probe inside ends at once, its stdin is empty.
fn bare_start(bench: &Bench<'_>, scenario: &Scenario, backend: &dyn Backend) -> Duration {
    let arena: PathBuf = bench.root.path().join("bare");
    let rooms = Rooms::below(&arena);
    for room in [&rooms.work, &rooms.home.join(".grok"), &rooms.outside, &rooms.temp] {
        std::fs::create_dir_all(room).expect("the arena root can be written");
    }
    let executable = bench.root.executable();
    let bin = executable.parent().expect("it lies in a folder");
    let policy = scenario.policy.resolve(Profile::Workspace, &rooms, bin);
    let command: Vec<OsString> = vec![executable.into(), "probe".into()];
    let launch = backend.launch(&policy, &rooms, &command).expect("it can be expressed");
    let begin = Instant::now();
    let status = Command::new(&launch.argv[0])
        .args(&launch.argv[1..])
        .env("HOME", &rooms.home)
        .env("TMPDIR", &rooms.temp)
        .current_dir(&rooms.work)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    assert!(status.is_ok_and(|status| status.success()));
    begin.elapsed()
}

criterion_group!(benches, overhead);
criterion_main!(benches);
