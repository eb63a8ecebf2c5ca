//! The command line as a user meets it: exit codes, refusals, folders and manifests of one's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use rstest::rstest;
use sandproof_reports::journal::{self, Journal};
use sandproof_reports::{Record, Verdict};

const DUD: &str = "
schema: 1
id: mine/dud
title: A file that does not exist cannot be read
why: Nothing is proved by an attack that cannot work.
claim: ours
severity: low
policy: { profiles: [workspace], deny: [work/secret.txt] }
given:
  - file: { path: work/secret.txt, holds: secret }
  - file: { path: work/plain.txt, holds: text }
routes:
  syscall:
    - read: work/secret.text
then:
  secrets: kept
still-works:
  - read: work/plain.txt
";

const GOOD: &str = "
schema: 1
id: mine/deny
title: A denied file cannot be read
why: It is denied.
claim: ours
severity: high
tags: [mine]
policy: { profiles: [workspace], deny: [work/secret.txt] }
given:
  - file: { path: work/secret.txt, holds: secret }
  - file: { path: work/plain.txt, holds: text }
routes:
  syscall:
    - read: work/secret.txt
  shell:
    - shell: cat secret.txt
then:
  secrets: kept
still-works:
  - read: work/plain.txt
";

/// A sandbox that is none, by a manifest of its own.
const MANIFEST: &str = "
schema: 1
name: my-sandbox
title: It claims much and does nothing
platforms: [linux, macos]
drive: wrap
detect: { command: [sh, -c, echo 1.2.3], version: \"([0-9.]+)\" }
install: { text: nothing to install }
can: [write-scope, deny-list]
argv: |
  /usr/bin/env
  {{ command }}
";

/// A folder of files for one test.
struct Files(tempfile::TempDir);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = tempfile::tempdir_in(target).expect("the target folder can be written");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("it has a folder")).expect("it can be made");
            fs::write(path, text).expect("it can be written");
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("it is UTF-8").to_owned()
    }
}

fn sandproof(arguments: &[&str]) -> Output {
    duct::cmd(env!("CARGO_BIN_EXE_sandproof"), arguments)
        .stdout_capture()
        .stderr_capture()
        .unchecked()
        .run()
        .expect("sandproof starts")
}

/// Exit status, stdout, stderr.
fn outcome(arguments: &[&str]) -> (i32, String, String) {
    let output = sandproof(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Runs with a journal; status and journal.
fn run(files: &Files, arguments: &[&str]) -> (i32, Journal) {
    let path = files.text("journal.jsonl");
    let mut all = vec!["run", "--report", "json", "--journal", &path];
    all.extend_from_slice(arguments);
    let (status, _, errors) = outcome(&all);
    let journal = journal::read(Path::new(&path));
    (status, journal.unwrap_or_else(|error| panic!("{error}\n{errors}")))
}

fn mine(files: &[(&str, &str)]) -> (Files, String) {
    let files = Files::new(files);
    let folder = files.text("s");
    (files, folder)
}

#[test]
fn an_attack_that_cannot_work_is_inconclusive() {
    let (files, folder) = mine(&[("s/mine/dud.yaml", DUD)]);
    let (status, journal) = run(&files, &["--backend", "confine", "--scenarios", &folder]);
    assert_eq!(status, 1);
    let verdicts: Vec<Verdict> = journal.records.iter().map(|record| record.verdict).collect();
    assert_eq!(verdicts, [Verdict::Inconclusive]);
}

/// What must go on working makes the file; the route does not.
#[test]
fn what_still_works_breaks_is_no_attack() {
    let text = GOOD
        .replace("    - read: work/secret.txt\n", "    - stat: work/plain.txt\n")
        .replace("shell: cat secret.txt", "shell: ls")
        .replace("secrets: kept", "paths: { work/new.txt: absent }")
        .replace("  - read: work/plain.txt\n", "  - shell: cp plain.txt new.txt\n");
    let (files, folder) = mine(&[("s/mine/deny.yaml", &text)]);
    let (status, journal) = run(&files, &["--scenarios", &folder]);
    assert_eq!(status, 1);
    for record in &journal.records {
        let code = record.reason.as_ref().map(|reason| reason.code.as_str());
        assert_eq!((record.verdict, code), (Verdict::Inconclusive, Some("dud-control")));
    }
}

#[test]
fn scenarios_of_ones_own_need_no_rebuild() {
    let (files, folder) = mine(&[("s/mine/deny.yaml", GOOD)]);
    let (status, journal) = run(&files, &["--backend", "confine", "--scenarios", &folder]);
    assert_eq!(status, 0);
    assert_eq!(journal.records.len(), 2);
    assert!(journal.records.iter().all(|record| record.verdict == Verdict::Pass));
    let (_, both) = run(
        &files,
        &[
            "--backend",
            "null",
            "--scenarios",
            &folder,
            "--scenarios",
            "embedded",
            "--tag",
            "mine",
            "--tag",
            "relocation",
        ],
    );
    assert!(both.records.iter().any(|record| record.id == "mine/deny"));
    assert!(both.records.iter().any(|record| record.id == "fs/deny-survives-rename"));
}

#[test]
fn a_manifest_of_ones_own_is_judged_and_can_be_required() {
    let (files, folder) = mine(&[("s/mine/deny.yaml", GOOD), ("my-sandbox.yaml", MANIFEST)]);
    let manifest = files.text("my-sandbox.yaml");
    let backend = ["--backend", &manifest, "--require", "my-sandbox", "--scenarios", &folder];
    let (status, journal) = run(&files, &backend);
    assert_eq!(status, 1);
    assert!(journal.records.iter().all(|record| {
        record.backend == "my-sandbox" && record.gating && record.verdict == Verdict::Fail
    }));
    let subject = journal.records[0].subject.clone().expect("it was started");
    assert_eq!(subject.version, "1.2.3");
}

#[rstest]
#[case::no_such_cell(&["run", "--backend", "confine", "no-such-cell"], 1, "nothing was run")]
#[case::not_ready(&["run", "--backend", "NOT-READY", "fs/deny-survives-rename"], 1, "not ready")]
#[case::unknown_backend(&["run", "--backend", "bwarp"], 2, "did you mean")]
#[case::unknown_requirement(&["run", "--require", "landluck"], 2, "landluck")]
#[case::unknown_profile(&["run", "--profile", "workspase"], 2, "workspase")]
#[case::bad_partition(&["run", "--partition", "3/2"], 2, "3/2")]
#[case::bad_report(&["run", "--report", "pdf"], 2, "pdf")]
#[case::bad_timeout(&["run", "--timeout", "0"], 2, "--timeout")]
#[case::arena_under_tmp(&["run", "--arena-root", "/tmp/arenas", "fs/deny-survives-rename"], 2, "/tmp")]
#[case::no_scenario_folder(&["run", "--scenarios", "/usr/bin/env"], 2, "/usr/bin/env")]
#[case::no_journal(&["report", "/usr/lib/none.jsonl"], 2, "/usr/lib/none.jsonl")]
#[case::unknown_scenario(&["show", "fs/none"], 2, "fs/none")]
#[case::unknown_word(&["explain", "still-work"], 2, "still-works")]
#[case::unknown_command(&["rum"], 2, "rum")]
fn what_cannot_be_done_is_told(
    #[case] arguments: &[&str],
    #[case] status: i32,
    #[case] says: &str,
) {
    let absent = MANIFEST.replace("[sh, -c, echo 1.2.3]", "[no-such-program-anywhere]");
    let files = Files::new(&[("absent.yaml", &absent)]);
    let manifest = files.text("absent.yaml");
    let arguments: Vec<&str> =
        arguments.iter().map(|a| if *a == "NOT-READY" { manifest.as_str() } else { *a }).collect();
    let (code, _, errors) = outcome(&arguments);
    assert_eq!(code, status, "{errors}");
    assert!(errors.contains(says), "{errors}");
}

#[test]
fn a_broken_scenario_stops_everything_before_it_begins() {
    let broken = GOOD.replace("secrets: kept", "secret: kept").replace("still-works", "still-work");
    let (files, folder) = mine(&[("s/mine/deny.yaml", &broken), ("s/mine/dud.yaml", DUD)]);
    let journal = files.text("journal.jsonl");
    let (status, output, errors) = outcome(&["run", "--scenarios", &folder, "--journal", &journal]);
    assert_eq!((status, output.as_str()), (2, ""));
    assert!(errors.contains("did you mean `secrets`"), "{errors}");
    assert!(errors.contains("did you mean `still-works`"), "{errors}");
    assert!(!Path::new(&journal).exists());
}

/// A record without what varies from run to run.
fn steady(record: &Record) -> Record {
    Record { timing: Default::default(), ..record.clone() }
}

#[test]
fn order_and_verdicts_do_not_depend_on_the_number_of_workers() {
    let files = Files::new(&[]);
    let filter = ["--backend", "confine", "--seed", "7", "fs/deny", "start/"];
    let (_, one) = run(&files, &[&filter[..], &["--jobs", "1"]].concat());
    let (_, four) = run(&files, &[&filter[..], &["--jobs", "4"]].concat());
    assert!(one.records.len() > 20);
    assert_eq!(one.records.len(), four.records.len());
    for (one, four) in one.records.iter().zip(&four.records) {
        assert_eq!(steady(one), steady(four));
    }
}

#[test]
fn parts_of_a_run_add_up_to_the_whole() {
    let files = Files::new(&[]);
    let cells = |arguments: &[&str]| -> Vec<String> {
        let all = [&["--backend", "null", "fs/deny", "net/"][..], arguments].concat();
        run(&files, &all).1.records.iter().map(Record::cell).collect()
    };
    let whole = cells(&[]);
    let mut parts: Vec<String> =
        ["1/3", "2/3", "3/3"].iter().flat_map(|part| cells(&["--partition", part])).collect();
    parts.sort();
    let mut sorted = whole.clone();
    sorted.sort();
    assert_eq!(parts, sorted);
}

#[test]
fn a_waiver_turns_a_failure_into_a_known_one_and_goes_stale_when_it_holds() {
    let waiver = |backend: &str| {
        format!(
            "schema: 1\nwaivers:\n  - id: mine/deny\n    backend: \"{backend}\"\n    platform: {}\n    \
             reason: it is known\n    link: https://example.invalid/1\n    date: 2026-01-01\n    \
             expires: 2999-01-01\n",
            sandproof_backends::host::PLATFORM.name()
        )
    };
    let (files, folder) = mine(&[
        ("s/mine/deny.yaml", GOOD),
        ("null/w.yaml", &waiver("null")),
        ("confine/w.yaml", &waiver("confine")),
    ]);
    for (backend, status, verdict) in
        [("null", 0, Verdict::KnownFail), ("confine", 1, Verdict::StaleWaiver)]
    {
        let waivers = files.text(backend);
        let (code, journal) =
            run(&files, &["--backend", backend, "--scenarios", &folder, "--waivers", &waivers]);
        assert_eq!(code, status);
        assert!(journal.records.iter().all(|record| record.verdict == verdict), "{journal:?}");
    }
}

#[test]
fn the_same_run_twice_differs_in_nothing() {
    let files = Files::new(&[]);
    let filter = ["--backend", "null", "fs/deny-survives-rename"];
    run(&files, &filter);
    fs::rename(files.path("journal.jsonl"), files.path("old.jsonl")).expect("it is there");
    run(&files, &filter);
    let (status, output, errors) =
        outcome(&["diff", &files.text("old.jsonl"), &files.text("journal.jsonl")]);
    assert_eq!(status, 0, "{output}{errors}");
    assert!(output.contains("0 regressed"), "{output}");
}

#[test]
fn a_journal_that_another_run_writes_is_left_alone() {
    let (files, folder) = mine(&[("s/mine/deny.yaml", GOOD)]);
    let path = files.path("run.jsonl");
    fs::write(&path, "of the other run").unwrap();
    let other = fs::File::open(&path).unwrap();
    other.lock().unwrap();
    let journal = path.to_str().unwrap();
    let (status, _, err) = outcome(&["run", "--scenarios", &folder, "--journal", journal]);
    assert_eq!(status, 2);
    assert!(err.contains("another run is writing it"), "{err}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "of the other run");
}

#[test]
fn the_control_arm_alone_shows_duds() {
    let (files, folder) = mine(&[("s/mine/dud.yaml", DUD), ("s/mine/deny.yaml", GOOD)]);
    let (status, journal) =
        run(&files, &["--backend", "confine", "--control-only", "--scenarios", &folder]);
    assert_eq!(status, 1);
    let verdict = |id: &str| journal.records.iter().find(|r| r.id == id).map(|r| r.verdict);
    assert_eq!(verdict("mine/dud"), Some(Verdict::Inconclusive));
    assert_eq!(verdict("mine/deny"), Some(Verdict::Pass));
}

#[test]
fn a_weakened_sandbox_is_red() {
    let files = Files::new(&[]);
    let filter = ["--backend", "confine", "--without", "mounts", "fs/deny-survives-rename"];
    let (status, journal) = run(&files, &filter);
    assert_eq!(status, 1);
    assert!(journal.records.iter().all(|record| record.simulated.is_some()));
    assert!(journal.records.iter().any(|record| record.verdict == Verdict::Fail));
}

#[test]
fn a_new_scenario_is_right_as_it_stands() {
    let files = Files::new(&[]);
    let folder = files.text("s");
    let (status, _, errors) = outcome(&["new", "fs/my-promise", "--dir", &folder]);
    assert_eq!(status, 0, "{errors}");
    assert_eq!(outcome(&["lint", &folder]).0, 0);
    let (status, _, _) = outcome(&["new", "fs/my-promise", "--dir", &folder]);
    assert_eq!(status, 2, "an existing file must be left alone");
}
