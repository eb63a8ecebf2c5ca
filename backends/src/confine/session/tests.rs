//! Records: written, found again, and refused when they cannot be trusted.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use clap::Parser;
use rstest::rstest;
use sandproof_scenarios::Profile;
use tempfile::TempDir;

use super::{Record, Session};
use crate::confine::args::Args;
use crate::confine::config::Custom;
use crate::confine::selection::{Chooser, Chosen, Saved};
use crate::confine::surroundings::Surroundings;

struct World {
    dir: TempDir,
}

impl World {
    fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join("grok").join(path)
    }

    fn open(&self, options: &[&str]) -> Result<Option<Session>, String> {
        let around = Surroundings {
            grok_home: self.at(""),
            workspace: "/w".into(),
            ..Surroundings::default()
        };
        let line = ["confine"].iter().chain(options).chain(&["--", "true"]);
        let args = Args::try_parse_from(line).unwrap();
        Session::open(&args, &around).map_err(|refusal| refusal.to_string())
    }

    fn id(&self, options: &[&str]) -> String {
        self.open(options).unwrap().unwrap().record.id
    }

    fn refused(&self, options: &[&str]) -> String {
        self.open(options).expect_err("not refused")
    }

    /// Puts a record there, changed by `change`.
    fn put(&self, id: &str, change: impl FnOnce(&mut Record)) {
        let mut record = Record::new(id, Path::new("/w"));
        change(&mut record);
        self.text(id, &serde_json::to_string(&record).unwrap());
    }

    fn text(&self, id: &str, text: &str) {
        let folder = self.at("sessions").join(id);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("summary.json"), text).unwrap();
    }
}

fn chosen(profile: Profile) -> Chosen {
    Chosen {
        name: profile.name().to_owned(),
        custom: Custom::built_in(profile),
        by: Chooser::CommandLine,
        notes: Vec::new(),
    }
}

fn at(seconds: i64) -> Option<String> {
    Some(jiff::Timestamp::from_second(seconds).unwrap().to_string())
}

#[test]
fn grok_10_1_the_resolved_name_is_stored_and_never_rewritten() {
    for profile in Profile::ALL {
        let world = World::new();
        let mut session = world.open(&["--session", "s"]).unwrap().unwrap();
        assert_eq!(session.saved(), None);
        session.begin(&chosen(profile)).unwrap();
        session.end(false).unwrap();
        let file = world.at("sessions/s/summary.json");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let wanted =
            Saved { profile: profile.name().to_owned(), sha256: Some(chosen(profile).sha256()) };
        let mut again = world.open(&["--resume", "s"]).unwrap().unwrap();
        assert_eq!(again.saved(), Some(&wanted));
        // A requirement may have chosen another: the record still is of the first.
        again.begin(&chosen(Profile::Devbox)).unwrap();
        again.end(false).unwrap();
        assert_eq!(world.open(&["--resume", "s"]).unwrap().unwrap().saved(), Some(&wanted));
        assert_eq!(fs::read_dir(world.at("sessions/s")).unwrap().count(), 1);
    }
}

#[test]
fn grok_10_1_a_child_keeps_the_profile_of_its_parent() {
    let world = World::new();
    world.put("old", |record| record.sandbox_profile = Some("strict".to_owned()));
    let options = ["--session", "new", "--session-parent", "old"];
    let mut session = world.open(&options).unwrap().unwrap();
    assert_eq!(session.saved().unwrap().profile, "strict");
    session.begin(&chosen(Profile::Strict)).unwrap();
    session.end(false).unwrap();
    assert_eq!(
        world.open(&["--resume", "new"]).unwrap().unwrap().saved().unwrap().profile,
        "strict"
    );
}

#[test]
fn a_start_that_is_refused_leaves_nothing() {
    let world = World::new();
    let mut session = world.open(&["--session", "s"]).unwrap().unwrap();
    assert!(!world.at("").exists());
    session.begin(&chosen(Profile::Strict)).unwrap();
    assert!(world.at("sessions/s/summary.json").exists());
    session.end(true).unwrap();
    assert_eq!(fs::read_dir(world.at("sessions")).unwrap().count(), 0);
    // A record that was there stays.
    world.put("t", |_| {});
    let mut session = world.open(&["--resume", "t"]).unwrap().unwrap();
    session.begin(&chosen(Profile::Strict)).unwrap();
    session.end(true).unwrap();
    assert!(world.open(&["--resume", "t"]).is_ok());
}

#[test]
fn a_session_begins_once() {
    let world = World::new();
    world.put("s", |_| {});
    assert!(world.refused(&["--session", "s"]).contains("--resume"));
}

#[rstest]
#[case("../s")]
#[case("a/b")]
#[case("..")]
#[case(".")]
#[case("")]
#[case("-x")]
#[case("a b")]
#[case("a\nb")]
#[case("ä")]
fn a_name_is_one_ordinary_segment(#[case] id: &str) {
    let world = World::new();
    let option = format!("--session={id}");
    assert!(world.refused(&[&option]).contains("no name of a session"));
    let long = format!("--session={}", "x".repeat(201));
    assert!(world.refused(&[&long]).contains("no name of a session"));
}

#[test]
fn grok_10_2_a_name_is_found_wherever_its_workspace_is() {
    let world = World::new();
    world.put("s", |record| record.cwd = "/elsewhere".into());
    world.put("hidden", |record| record.hidden = true);
    assert_eq!(world.id(&["--resume", "s"]), "s");
    assert_eq!(world.id(&["--resume", "hidden"]), "hidden");
}

#[test]
fn grok_10_2_else_the_child_of_that_name_in_this_workspace() {
    let world = World::new();
    let of_gone = |record: &mut Record| record.parent_session_id = Some("gone".to_owned());
    world.put("far", |record| {
        of_gone(record);
        record.cwd = "/elsewhere".into();
    });
    assert!(world.refused(&["--resume", "gone"]).contains("`gone`"));
    world.put("near", of_gone);
    assert_eq!(world.id(&["--resume", "gone"]), "near");
}

#[test]
fn grok_10_2_a_title_means_one_session() {
    let world = World::new();
    let titled = |record: &mut Record| record.title = Some("My work".to_owned());
    world.put("a", titled);
    assert_eq!(world.id(&["--resume", "My work"]), "a");
    assert!(world.refused(&["--resume", "My wrk"]).contains("did you mean `My work`?"));
    world.put("b", titled);
    let told = world.refused(&["--resume", "My work"]);
    assert!(told.contains("several") && told.contains("a, b"), "{told}");
}

#[test]
fn grok_10_2_continue_takes_the_newest_of_this_workspace() {
    let world = World::new();
    assert!(world.refused(&["--continue"]).contains("/w"));
    let put = |id: &str, active, updated, cwd: &str| {
        world.put(id, |record| {
            (record.last_active_at, record.updated_at) = (active, updated);
            record.created_at = None;
            record.cwd = cwd.into();
        });
    };
    put("c", at(100), at(900), "/w");
    put("b", at(200), None, "/w");
    put("a", at(200), None, "/w");
    put("z", at(300), None, "/elsewhere");
    assert_eq!(world.id(&["--continue"]), "a");
    put("d", None, at(250), "/w");
    assert_eq!(world.id(&["--continue"]), "d");
    world.put("hidden", |record| record.hidden = true);
    world.text("corrupt", "{");
    fs::create_dir(world.at("sessions/empty")).unwrap();
    assert_eq!(world.id(&["--continue"]), "d");
}

#[rstest]
#[case("{", "EOF")]
#[case("{}", "missing field")]
#[case(r#"{"schema":1,"id":"other","cwd":"/w"}"#, "`other`")]
#[case(r#"{"schema":2,"id":"s","cwd":"/w"}"#, "schema 2")]
#[case(r#"{"schema":1,"id":"s","cwd":"/w","sandbox_profile":1}"#, "invalid type")]
#[case(r#"{"schema":1,"id":"s","cwd":"/w","last_active_at":"soon"}"#, "failed to parse")]
fn a_damaged_record_of_that_name_is_refused(#[case] text: &str, #[case] said: &str) {
    let world = World::new();
    world.text("s", text);
    let told = world.refused(&["--resume", "s"]);
    assert!(told.contains("cannot be trusted") && told.contains(said), "{told}");
    world.text("s", r#"{"schema":1,"id":"s","cwd":"/w","of":"another program"}"#);
    assert_eq!(world.open(&["--resume", "s"]).unwrap().unwrap().saved(), None);
}

#[test]
fn a_record_that_others_could_have_made_is_refused() {
    let world = World::new();
    let refused = |said: &str| {
        let told = world.refused(&["--resume", "s"]);
        assert!(told.contains("cannot be trusted") && told.contains(said), "{told}");
    };
    world.put("s", |_| {});
    let file = world.at("sessions/s/summary.json");
    for path in [file.clone(), world.at("sessions/s"), world.at("sessions")] {
        let old = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, Permissions::from_mode(old.mode() | 0o020)).unwrap();
        refused("others may write");
        fs::set_permissions(&path, old).unwrap();
    }
    assert_eq!(world.id(&["--resume", "s"]), "s");
    fs::hard_link(&file, world.at("alias")).unwrap();
    refused("hard link");
    fs::remove_file(world.at("alias")).unwrap();
    for path in [file, world.at("sessions/s"), world.at("sessions")] {
        fs::rename(&path, world.at("moved")).unwrap();
        symlink(world.at("moved"), &path).unwrap();
        refused("symlink");
        fs::remove_file(&path).unwrap();
        fs::rename(world.at("moved"), &path).unwrap();
    }
    assert_eq!(world.id(&["--resume", "s"]), "s");
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(world.at("sessions/s"), Some(1), None).unwrap();
        refused("another user");
    }
}
