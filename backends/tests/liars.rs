//! Every liar, driven over the protocol by a small harness. This executable is harness, liar and
//! probe: it starts itself. The probe is a stand-in that answers every attempt with one marker.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests; the stand-in probe"
)]

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use sandproof_backends::bare::Bare;
use sandproof_backends::liars::{LIAR_ARGUMENT, Liar, LiarKind, liar_main};
use sandproof_backends::{Backend, Launch};
use sandproof_probes::wire::{Answer, Ask, PROBE_ARGUMENT, Reply, Request, VERSION};
use sandproof_probes::{Attempt, Observation, Outcome};
use sandproof_scenarios::{PolicySpec, Profile, Rooms};

const NONCE: &str = "feedfacefeedfacefeedfacefeedface";
const MARKER: &str = "0123456789abcdef0123456789abcdef";

fn main() {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    match args.first().and_then(|word| word.to_str()) {
        Some(PROBE_ARGUMENT) => probe(),
        Some(LIAR_ARGUMENT) => std::process::exit(liar_main(&args[1..])),
        _ => libtest_mimic::run(&Arguments::from_args(), trials()).exit(),
    }
}

fn trials() -> Vec<Trial> {
    let trial = |name: &str, run: fn()| {
        Trial::test(name, move || {
            run();
            Ok(())
        })
    };
    let mut trials = vec![
        trial("null_relays_everything", null_relays_everything),
        trial("deny_all_answers_eperm", deny_all_answers_eperm),
        trial("blocks_everything_else_shows_names", blocks_everything_else_shows_names),
        trial("fakes_success_performs_nothing", fakes_success_performs_nothing),
        trial("strips_markers_keeps_hashes", strips_markers_keeps_hashes),
        trial("forges_beside_keeps_the_true_line", forges_beside_keeps_the_true_line),
        trial("forges_protocol_never_uses_the_nonce", forges_protocol_never_uses_the_nonce),
        trial("kills_probe_half_way", kills_probe_half_way),
        trial("kills_probe_at_the_end_of_one_step", kills_probe_at_the_end_of_one_step),
        trial("exits_zero_says_nothing", exits_zero_says_nothing),
        trial("refuses_every_start_says_why", refuses_every_start_says_why),
        trial("leaks_second_time_remembers", leaks_second_time_remembers),
        trial("every_liar_claims_everything", every_liar_claims_everything),
    ];
    // These two look at the liar from outside, through /proc.
    if cfg!(target_os = "linux") {
        let residue = leaves_residue_leaves_file_and_process;
        trials.push(trial("hangs_is_deaf_to_term", hangs_is_deaf_to_term));
        trials.push(trial("leaves_residue_leaves_file_and_process", residue));
    }
    trials
}

/// Answers every attempt with the marker.
fn probe() {
    for line in std::io::stdin().lines() {
        let request: Request = serde_json::from_str(&line.unwrap()).unwrap();
        let answer = match request.ask {
            Ask::Hello => Answer::Hello(Default::default()),
            Ask::Begin | Ask::End | Ask::Bye => Answer::Ready,
            Ask::Try(_) => Answer::Saw(Observation {
                text: MARKER.to_owned(),
                words: vec!["hash".to_owned()],
                ..Observation::bare(Outcome::Done)
            }),
        };
        let reply = Reply { v: VERSION, nonce: request.nonce, seq: request.seq, answer };
        println!("{}", serde_json::to_string(&reply).unwrap());
    }
}

/// What came of one session.
struct Session {
    /// Answers under the nonce, until the subject hung up.
    answers: Vec<Answer>,
    /// Lines under another nonce.
    foreign: usize,
    stderr: String,
    status: ExitStatus,
}

fn launch_in(kind: LiarKind, arena: &Path) -> Launch {
    let exe = std::env::current_exe().unwrap();
    let rooms = Rooms::below(arena);
    for folder in [&rooms.work, &rooms.config] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let liar = if kind == LiarKind::LeaksSecondTime {
        Liar::leaks_second_time(&exe, Box::new(Liar::new(LiarKind::DenyAll, &exe)))
    } else {
        Liar::new(kind, &exe)
    };
    liar.launch(&policy(&rooms), &rooms, &[exe.into(), PROBE_ARGUMENT.into()]).unwrap()
}

fn policy(rooms: &Rooms) -> sandproof_scenarios::Policy {
    let spec: PolicySpec = serde_json::from_str(r#"{"profiles":["workspace"]}"#).unwrap();
    spec.resolve(Profile::Workspace, rooms, Path::new("/probe"))
}

fn start(launch: &Launch) -> Child {
    Command::new(&launch.argv[0])
        .args(&launch.argv[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn session(launch: &Launch, asks: Vec<Ask>) -> Session {
    let mut child = start(launch);
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut answers, mut foreign) = (Vec::new(), 0);
    for (seq, ask) in (1..).zip(asks) {
        let request = Request { v: VERSION, nonce: NONCE.to_owned(), seq, ask };
        let sent = writeln!(stdin, "{}", serde_json::to_string(&request).unwrap());
        // A forger never answers: its lines are counted after hanging up.
        if sent.is_err() || launch.argv[2] == "forges-protocol" {
            continue;
        }
        let own = lines.by_ref().find_map(|line| own(&line.unwrap(), seq, &mut foreign));
        answers.extend(own);
    }
    drop(stdin);
    foreign += lines.filter(|line| line.as_ref().is_ok_and(|line| !line.contains(NONCE))).count();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    Session { answers, foreign, stderr, status: child.wait().unwrap() }
}

/// The answer on this line, if it is one to us.
fn own(line: &str, seq: u64, foreign: &mut usize) -> Option<Answer> {
    let reply: Reply = serde_json::from_str(line).unwrap();
    if reply.nonce == NONCE && reply.seq == seq {
        return Some(reply.answer);
    }
    *foreign += 1;
    None
}

fn read() -> Ask {
    Ask::Try(Attempt::Read { path: "/s".into() })
}

fn route() -> Vec<Ask> {
    vec![Ask::Hello, Ask::Begin, read(), read(), Ask::End, Ask::Bye]
}

fn run(kind: LiarKind, asks: Vec<Ask>) -> Session {
    let dir = tempfile::tempdir().unwrap();
    session(&launch_in(kind, dir.path()), asks)
}

/// The observations of a whole session.
fn saw(session: &Session) -> Vec<&Observation> {
    let answers = session.answers.iter();
    answers
        .filter_map(|answer| match answer {
            Answer::Saw(observation) => Some(observation),
            Answer::Hello(_) | Answer::Ready | Answer::Wrong(_) => None,
        })
        .collect()
}

fn complete(session: &Session) {
    assert_eq!(session.answers.len(), 6);
    assert!(matches!(session.answers[0], Answer::Hello(_)));
    assert_eq!(session.status.code(), Some(0), "{}", session.stderr);
}

fn null_relays_everything() {
    let session = run(LiarKind::Null, route());
    complete(&session);
    assert!(saw(&session).iter().all(|o| o.done() && o.text == MARKER));
}

fn deny_all_answers_eperm() {
    let session = run(LiarKind::DenyAll, route());
    complete(&session);
    let denied = Outcome::Errno { call: "read".to_owned(), number: libc::EPERM };
    assert_eq!(saw(&session).len(), 2);
    assert!(saw(&session).iter().all(|o| o.outcome == denied && o.text.is_empty()));
}

fn blocks_everything_else_shows_names() {
    let stat = Ask::Try(Attempt::Stat { path: "/s".into() });
    let exec = Ask::Try(Attempt::Exec { argv: vec!["true".to_owned()] });
    let asks = vec![Ask::Hello, Ask::Begin, stat, read(), exec, Ask::End];
    let session = run(LiarKind::BlocksEverythingElse, asks);
    complete(&session);
    let outcomes: Vec<&Outcome> = saw(&session).iter().map(|o| &o.outcome).collect();
    let denied = Outcome::Errno { call: "read".to_owned(), number: libc::EACCES };
    assert_eq!(outcomes, [&Outcome::Done, &denied, &Outcome::Exit { code: 126 }]);
}

fn fakes_success_performs_nothing() {
    let session = run(LiarKind::FakesSuccess, route());
    complete(&session);
    assert!(saw(&session).iter().all(|o| o.done() && o.length == 0 && o.words.is_empty()));
}

fn strips_markers_keeps_hashes() {
    let session = run(LiarKind::StripsMarkers, route());
    complete(&session);
    assert_eq!(saw(&session).len(), 2);
    assert!(saw(&session).iter().all(|o| o.text == "X".repeat(32) && o.words == ["hash"]));
}

fn forges_beside_keeps_the_true_line() {
    let session = run(LiarKind::ForgesBeside, route());
    complete(&session);
    assert!(saw(&session).iter().all(|o| o.text == MARKER));
    assert_eq!(session.foreign, 12);
}

fn forges_protocol_never_uses_the_nonce() {
    let session = run(LiarKind::ForgesProtocol, route());
    assert!(session.answers.is_empty());
    assert_eq!(session.foreign, 7);
    assert_eq!(session.status.code(), Some(0));
}

fn kills_probe_half_way() {
    let session = run(LiarKind::KillsProbe, route());
    assert_eq!(session.answers.len(), 3);
    assert_eq!(session.status.code(), Some(137));
}

fn kills_probe_at_the_end_of_one_step() {
    let session = run(LiarKind::KillsProbe, vec![Ask::Hello, Ask::Begin, read(), Ask::End]);
    assert_eq!(session.answers.len(), 3);
    assert_eq!(session.status.code(), Some(137));
}

fn exits_zero_says_nothing() {
    let session = run(LiarKind::ExitsZero, route());
    assert!(session.answers.is_empty());
    assert_eq!(session.status.code(), Some(0));
}

fn refuses_every_start_says_why() {
    let session = run(LiarKind::RefusesEveryStart, route());
    assert!(session.answers.is_empty());
    assert_eq!(session.status.code(), Some(125));
    assert!(session.stderr.contains("refused"), "{}", session.stderr);
}

fn hangs_is_deaf_to_term() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = start(&launch_in(LiarKind::Hangs, dir.path()));
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    // Blocked is what the status file says; polled, because the child needs its time to start.
    while !blocks_term(child.id()) {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
}

/// TERM is blocked in this process.
fn blocks_term(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap().trim();
    u64::from_str_radix(mask, 16).unwrap() & (1 << (libc::SIGTERM - 1)) != 0
}

fn leaves_residue_leaves_file_and_process() {
    let dir = tempfile::tempdir().unwrap();
    let session = session(&launch_in(LiarKind::LeavesResidue, dir.path()), route());
    complete(&session);
    assert!(dir.path().join("work/.liar-was-here").is_file());
    // A fresh process has no command line for a moment.
    let end = Instant::now() + Duration::from_secs(5);
    let mut left = daemons();
    while left.is_empty() && Instant::now() < end {
        std::thread::yield_now();
        left = daemons();
    }
    assert_eq!(left.len(), 1);
    nix::sys::signal::kill(left[0], nix::sys::signal::Signal::SIGKILL).unwrap();
}

/// Processes of this executable that stay behind. Only the test that starts one looks for them.
fn daemons() -> Vec<nix::unistd::Pid> {
    let exe = std::env::current_exe().unwrap();
    let wanted = [exe.as_os_str().as_encoded_bytes(), b"liar", b"--daemon", b"second", b""];
    let wanted = wanted.join(&0);
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == wanted)
        })
        .map(nix::unistd::Pid::from_raw)
        .collect()
}

fn leaks_second_time_remembers() {
    let dir = tempfile::tempdir().unwrap();
    let launch = launch_in(LiarKind::LeaksSecondTime, dir.path());
    let first = session(&launch, route());
    complete(&first);
    assert!(saw(&first).iter().all(|o| !o.done()));
    let second = session(&launch, route());
    complete(&second);
    assert!(saw(&second).iter().all(|o| o.text == MARKER));
}

fn every_liar_claims_everything() {
    let exe = std::env::current_exe().unwrap();
    for kind in LiarKind::ALL {
        let liar = Liar::new(kind, &exe);
        assert_eq!(liar.can().len(), 15, "{}", kind.name());
        assert!(!kind.caught_by().is_empty());
    }
    let subject = Liar::new(LiarKind::Null, &exe).detect().unwrap();
    assert_eq!((subject.name.as_str(), subject.sha256.len()), ("null", 64));
    assert!(Bare::default().can().is_empty());
}
