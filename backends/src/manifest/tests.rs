//! What the loader refuses, what a launch becomes, and what its receipt says.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rstest::rstest;
use sandproof_scenarios::complaint::Complaint;
use sandproof_scenarios::{Policy, PolicySpec, Profile, Rooms};

use super::values::{Subject, deny_now};
use super::{ManifestBackend, embedded_manifests, load_manifest, manifest_schema, parse_manifest};
use crate::{Backend, Express, Launch, Unsupported};

/// All complaints as one text.
pub(super) fn shown(complaints: &[Complaint]) -> String {
    complaints.iter().map(|c| format!("{c}\n")).collect()
}

/// The smallest manifest there is.
const SMALL: &str = "\
schema: 1
name: box
title: a box
platforms: [linux, macos]
detect: { command: [sh, -c, echo box 1.2], version: \"box ([0-9.]+)\" }
install: { apt: box }
can: [write-scope, deny-list]
argv: |
  sh
  {% for p in deny %}--deny={{ p }}
  {% endfor %}
  {{ command }}
";

fn load(text: &str) -> Result<ManifestBackend, String> {
    parse_manifest(text, "box.yaml").map_err(|complaints| shown(&complaints))
}

#[rstest]
#[case("schema: 1", "schema: 2", 1, "schema 2 is not known")]
#[case("schema: 1\n", "", 1, "`schema` is missing")]
#[case("name: box", "nmae: box", 2, "nmae")]
#[case("name: box", "name: My Box", 2, "kebab case")]
#[case("name: box", "name: confine", 2, "of sandproof itself")]
#[case("name: box", "name: deny-all", 2, "of sandproof itself")]
#[case("title: a box", "title: a box\ntitle: again", 4, "title")]
#[case("[linux, macos]", "[linus]", 4, "linus")]
#[case("[linux, macos]", "[]", 4, "empty")]
#[case("box ([0-9.]+)", "box [0-9.]+", 5, "no group")]
#[case("box ([0-9.]+)", "box ([0-9.+", 5, "no regular expression")]
#[case("[sh, -c, echo box 1.2]", "[]", 5, "command is empty")]
#[case("apt: box", "brew: box", 6, "brew")]
#[case("deny-list]", "deny-lists]", 7, "deny-lists")]
#[case("deny-list]", "landlock]", 7, "landlock")]
#[case("deny-list]", "deny-list, deny-list]", 7, "listed twice")]
#[case("deny-list]", "agent-tools]", 7, "needs `drive: agent`")]
#[case("argv: |", "approximates: { deny-glob: x }\nargv: |", 8, "not listed under `can`")]
#[case("argv: |", "approximates: { deny: x }\nargv: |", 8, "no capability")]
#[case("argv: |", "gaps: [{ id: fs, link: \"https://a\", says: b }]\nargv: |", 8, "no scenario id")]
#[case("argv: |", "gaps: [{ id: fs/a, link: ours, says: b }]\nargv: |", 8, "no https address")]
#[case("argv: |", "drive: remote\nargv: |", 8, "remote")]
#[case("argv: |", "ready: []\nargv: |", 8, "command is empty")]
#[case("argv: |", "env: { A: \"{{ wrok }}\" }\nargv: |", 8, "`wrok` is no variable")]
#[case("argv: |", "cleanup: [\"rel/{{ uid }}\"]\nargv: |", 8, "absolute path")]
#[case("argv: |", "files: [{ path: rel, text: a }]\nargv: |", 8, "absolute path")]
#[case("argv: |", "files: [{ path: /a, text: \"{{ command }}\" }]\nargv: |", 8, "`argv` only")]
#[case("--deny={{ p }}", "--deny={{ q }}", 10, "`q` is no variable")]
#[case("{% for p in deny %}", "{% for p in dney %}", 10, "did you mean `deny`?")]
#[case("{% endfor %}", "", 12, "end of")]
#[case("{% endfor %}", "{% endfor %}{{ work | frob }}", 11, "frob")]
#[case("  {{ command }}\n", "", 9, "is missing, nothing would run")]
#[case("{{ command }}", "-c={{ command }}", 12, "stand alone")]
#[case("argv: |", "comand: |", 8, "comand")]
fn refuses(#[case] old: &str, #[case] new: &str, #[case] line: usize, #[case] why: &str) {
    load(SMALL).unwrap();
    assert!(SMALL.contains(old), "{old}");
    let message = load(&SMALL.replacen(old, new, 1)).unwrap_err();
    assert!(message.contains(why), "{message}");
    assert!(message.contains(&format!("box.yaml:{line}:")), "{message}");
}

#[test]
fn a_manifest_is_read_from_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("box.yaml");
    let missing = shown(&load_manifest(&file).unwrap_err());
    assert!(missing.contains("box.yaml") && missing.contains("cannot read"), "{missing}");
    fs::write(&file, SMALL).unwrap();
    assert_eq!(load_manifest(&file).unwrap().name(), "box");
    fs::write(&file, b"schema: 1\nname: \xff\n").unwrap();
    assert!(shown(&load_manifest(&file).unwrap_err()).contains("box.yaml:2:"));
}

/// What somebody writes who knows the grammar only.
const EXAMPLE: &str = r#"
schema: 1
name: my-sandbox
title: one line
platforms: [linux, macos]
drive: wrap                          # wrap | agent
detect: { command: [my-sandbox, --version], version: "([0-9.]+)" }
helpers: { rg: [rg, --version] }
ready: [my-sandbox, --check]
install: { npm: pkg }
can: [write-scope, read-scope, deny-list, deny-glob, protect, network-block]
gaps:
  - { id: fs/deny-glob-covers-late-file, platforms: [linux], link: https://example.org/doc, says: expanded at launch }
files:
  - { path: "{{ config }}/settings.json", text: "{{ {'deny': deny} | tojson }}" }
env: { MY_HOME: "{{ config }}" }
argv: |
  my-sandbox
  {% for p in write %}--write={{ p }}
  {% endfor %}
  --
  {{ command }}
cleanup: ["{{ temp }}/my-sandbox-*"]
"#;

#[test]
fn the_example_of_the_grammar_works() {
    let (_dir, rooms) = arena();
    let example = load(EXAMPLE).unwrap();
    let policy = resolve(PLAIN, Profile::Workspace, &rooms);
    let text = told(launch(&example, &policy, &rooms), &rooms);
    let expected = "my-sandbox\n--write=/arena/work\n--write=/arena/home/.grok\n\
                    --write=/arena/temp\n--\n/probe/sandproof\nprobe\n\nMY_HOME=/arena/config\n\n\
                    /arena/config/settings.json:\n  {\"deny\": []}\n\nwrite-scope: expressed\n";
    assert_eq!(text, expected);
    let not_ready = example.detect().unwrap_err();
    assert_eq!(not_ready.mend, "npm install -g pkg");
}

#[test]
fn every_mistake_is_told_at_once() {
    let text = SMALL
        .replace("box ([", "box [(")
        .replace("name: box", "name: Box")
        .replace("{{ p }}", "{{ q }}");
    let message = load(&text).unwrap_err();
    for word in ["kebab", "regular expression", "`q` is no variable"] {
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn an_agent_is_accepted_and_never_ready() {
    let agent = load(&SMALL.replace("argv: |", "drive: agent\nargv: |")).unwrap();
    assert_eq!(agent.detect().unwrap_err().why, "driving agents is not built yet");
}

#[test]
fn detection_asks_the_product() {
    let subject = load(SMALL).unwrap().detect().unwrap();
    assert_eq!((subject.name.as_str(), subject.version.as_str()), ("box", "1.2"));
    assert_eq!(subject.sha256.len(), 64);
    let missing = SMALL.replace("[sh, -c, echo box 1.2]", "[no-such-program-anywhere]");
    let not_ready = load(&missing).unwrap().detect().unwrap_err();
    assert_eq!(not_ready.mend, "apt-get install box");
    let mute = SMALL.replace("echo box 1.2", "echo 1.2");
    assert!(load(&mute).unwrap().detect().unwrap_err().why.contains("nothing in it matches"));
}

#[test]
fn readiness_is_a_real_start() {
    let ready = "ready: [sh, -c, \"test -s $BOX_HOME/box.toml\"]
env: { BOX_HOME: \"{{ config }}\" }
files: [{ path: \"{{ config }}/box.toml\", text: \"a = {{ work | tojson }}\" }]
argv: |";
    load(&SMALL.replace("argv: |", ready)).unwrap().detect().unwrap();
    let unready = SMALL.replace("argv: |", "ready: [sh, -c, echo cannot >&2; exit 4]\nargv: |");
    let not_ready = load(&unready).unwrap().detect().unwrap_err();
    assert!(not_ready.why.contains("exit status: 4"), "{}", not_ready.why);
    assert!(not_ready.why.contains("cannot"), "{}", not_ready.why);
}

/// An arena with a few files.
fn arena() -> (tempfile::TempDir, Rooms) {
    let dir = tempfile::tempdir().unwrap();
    let rooms = Rooms::below(&dir.path().canonicalize().unwrap());
    for file in ["work/secret.txt", "work/keys/k.pem", "work/app/hooks/pre", "work/vault/a/b.pem"] {
        let path = rooms.arena.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    for room in [&rooms.home, &rooms.outside, &rooms.temp, &rooms.config] {
        fs::create_dir_all(room).unwrap();
    }
    (dir, rooms)
}

/// A policy that names everything there is.
const FULL: &str = r#"{"profiles":["workspace"],"network":"blocked",
    "deny":["work/secret.txt","work/vault","work/vault/a","work/late.txt","work/**/*.pem"],
    "protect":["work/app/hooks"]}"#;
/// One that names nothing.
const PLAIN: &str = r#"{"profiles":["workspace"]}"#;

fn resolve(spec: &str, profile: Profile, rooms: &Rooms) -> Policy {
    let spec: PolicySpec = serde_json::from_str(spec).unwrap();
    spec.resolve(profile, rooms, Path::new("/probe"))
}

fn launch(
    backend: &ManifestBackend,
    policy: &Policy,
    rooms: &Rooms,
) -> Result<Launch, Unsupported> {
    let deny_now = deny_now(&policy.deny_globs)?;
    let program = Path::new("/opt/lib/node_modules/@vendor/product/bin/product");
    let subject = Subject { policy, rooms, program, deny_now: &deny_now };
    backend.launch_as(subject, &["/probe/sandproof".into(), "probe".into()])
}

/// A launch as text, the arena and the uid replaced.
fn told(launch: Result<Launch, Unsupported>, rooms: &Rooms) -> String {
    let launch = match launch {
        Ok(launch) => launch,
        Err(unsupported) => return format!("{unsupported}\n"),
    };
    let mut out = String::new();
    for word in &launch.argv {
        writeln!(out, "{}", word.display()).unwrap();
    }
    for (name, value) in &launch.env {
        writeln!(out, "\n{}={}", name.display(), value.display()).unwrap();
    }
    for (path, text) in &launch.files {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let text: String = lines.map(|line| format!("  {line}\n")).collect();
        write!(out, "\n{}:\n{text}", path.display()).unwrap();
    }
    writeln!(out).unwrap();
    for item in &launch.receipt {
        let how = match &item.express {
            Express::Expressed => "expressed".to_owned(),
            Express::Approximated(how) => format!("nearly: {how}"),
        };
        writeln!(out, "{}: {how}", item.item).unwrap();
    }
    out.replace(rooms.arena.to_str().unwrap(), "/arena")
}

#[rstest]
fn command_lines(
    #[values("bwrap", "codex")] name: &str,
    #[values(
        Profile::Workspace,
        Profile::ReadOnly,
        Profile::Strict,
        Profile::Devbox,
        Profile::WorkspaceWrite,
        Profile::Off
    )]
    profile: Profile,
    #[values(("plain", PLAIN), ("full", FULL))] spec: (&str, &str),
) {
    let (_dir, rooms) = arena();
    let backends = embedded_manifests().unwrap();
    let backend = backends.iter().find(|backend| backend.name() == name).unwrap();
    let policy = resolve(spec.1, profile, &rooms);
    let text = told(launch(backend, &policy, &rooms), &rooms);
    insta::assert_snapshot!(format!("{name}-{}-{}", profile.name(), spec.0), text);
}

#[test]
fn what_a_manifest_cannot_is_unsupported() {
    let (_dir, rooms) = arena();
    let small = load(SMALL).unwrap();
    let plain = resolve(PLAIN, Profile::Workspace, &rooms);
    launch(&small, &plain, &rooms).unwrap();
    let strict = launch(&small, &resolve(PLAIN, Profile::Strict, &rooms), &rooms).unwrap_err();
    assert_eq!(strict.item, "read-scope");
    let full = launch(&small, &resolve(FULL, Profile::Workspace, &rooms), &rooms).unwrap_err();
    assert_eq!(full.item, "deny work/**/*.pem");
}

#[test]
fn a_path_that_is_no_line_is_unsupported() {
    let (_dir, rooms) = arena();
    let small = load(SMALL).unwrap();
    for odd in ["new\nline", "tab\u{9}", "return\r"] {
        let mut policy = resolve(PLAIN, Profile::Workspace, &rooms);
        policy.deny = vec![rooms.work.join(odd)];
        let why = launch(&small, &policy, &rooms).unwrap_err().why;
        assert!(why.contains("control character"), "{why}");
    }
    let mut policy = resolve(PLAIN, Profile::Workspace, &rooms);
    policy.deny = vec![rooms.work.join(" two words "), rooms.work.join("--option")];
    let argv = launch(&small, &policy, &rooms).unwrap().argv;
    let deny = format!("--deny={}", rooms.work.join(" two words ").display());
    assert_eq!(argv[1], OsString::from(deny));
}

#[test]
fn a_missing_path_cannot_be_protected_by_bwrap() {
    let (_dir, rooms) = arena();
    let backends = embedded_manifests().unwrap();
    let bwrap = backends.iter().find(|backend| backend.name() == "bwrap").unwrap();
    let mut policy = resolve(PLAIN, Profile::Workspace, &rooms);
    policy.protect = vec![rooms.work.join("missing")];
    assert!(launch(bwrap, &policy, &rooms).unwrap_err().item.starts_with("protect "));
}

#[test]
fn leftovers_are_patterns_of_this_arena() {
    let (_dir, rooms) = arena();
    let text = SMALL.replace("argv: |", "cleanup: [\"{{ temp }}/box-{{ uid }}-*\"]\nargv: |");
    let uid = rustix::process::geteuid().as_raw();
    let expected: PathBuf = rooms.temp.join(format!("box-{uid}-*"));
    assert_eq!(load(&text).unwrap().leaves(&rooms), [expected]);
}

#[test]
fn committed_schema_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifest.schema.json");
    let current = format!("{}\n", serde_json::to_string_pretty(&manifest_schema()).unwrap());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&file, &current).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(committed, current, "write it anew with UPDATE_SCHEMA=1");
}
