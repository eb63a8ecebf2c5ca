//! The log: what is written, what is refused, and that nothing is lost.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

use rstest::rstest;
use tempfile::TempDir;

use super::*;
use crate::confine::state::OLD_LOG;

fn place() -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().canonicalize().unwrap();
    (dir, path)
}

fn lines(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn denied(target: &str) -> Event {
    let target = target.to_owned();
    Event::NetViolation(Violation {
        operation: "socket".to_owned(),
        target,
        ..Violation::default()
    })
}

#[test]
fn grok_8_1_one_object_a_line_is_appended() {
    let (_dir, base) = place();
    let events = Events::of("strict", Path::new("/w"), Some(&base));
    events.note(denied("inet")).unwrap();
    events.note(denied("two\nlines")).unwrap();
    let lines = lines(&base.join(LOG));
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["target"], "two\nlines");
}

#[test]
fn grok_8_3_fields_have_their_names_and_empty_ones_are_left_out() {
    let (_dir, base) = place();
    let events = Events::of("mine", Path::new("/w"), Some(&base));
    let applied = Applied {
        workspace: "/w".to_owned(),
        platform: Platform::Linux,
        enforced: true,
        read_write_paths: vec!["/w".to_owned()],
        ..Applied::default()
    };
    events.note(Event::ProfileApplied(applied)).unwrap();
    let line = &lines(&base.join(LOG))[0];
    let names: Vec<&String> = line.as_object().unwrap().keys().collect();
    let wanted = [
        "enforced",
        "event_type",
        "platform",
        "profile",
        "read_write_paths",
        "restrict_network",
        "timestamp",
        "workspace",
    ];
    assert_eq!(names, wanted);
    assert_eq!(line["platform"], "linux/landlock");
    assert_eq!(line["event_type"], "ProfileApplied");
    let time: jiff::Timestamp = line["timestamp"].as_str().unwrap().parse().unwrap();
    assert!(line["timestamp"].as_str().unwrap().ends_with('Z'));
    assert!(jiff::Timestamp::now().duration_since(time).as_secs() < 60);
}

#[test]
fn grok_8_2_every_type_is_read_back_as_it_was() {
    let (_dir, base) = place();
    let events = Events::of("p", Path::new("/w"), Some(&base));
    let all = [
        Event::ProfileApplied(Applied::default()),
        Event::ApplyFailed {
            workspace: "/w".to_owned(),
            platform: Platform::Macos,
            enforced: false,
            error: "why".to_owned(),
        },
        Event::FsViolation(Violation { pid: Some(7), ..Violation::default() }),
        denied("inet"),
        Event::BypassGranted { operation: "--fail-open".to_owned(), error: "why".to_owned() },
        Event::BypassDenied { error: "why".to_owned() },
    ];
    for event in all.clone() {
        events.note(event).unwrap();
    }
    let text = fs::read_to_string(base.join(LOG)).unwrap();
    let read: Vec<Event> =
        text.lines().map(|line| serde_json::from_str::<Line>(line).unwrap().event).collect();
    assert_eq!(read, all);
}

#[test]
fn grok_8_6_a_refusal_is_noted_where_there_is_a_home_and_makes_none() {
    let (_dir, base) = place();
    let missing = base.join("missing");
    Events::of("p", Path::new("/w"), Some(&missing)).refused(&Refusal::new("what", "mend"));
    assert!(!missing.exists());
    Events::of("p", Path::new("/w"), Some(&base)).refused(&Refusal::new("what", "mend"));
    let line = &lines(&base.join(LOG))[0];
    assert_eq!(line["event_type"], "ApplyFailed");
    assert_eq!(line["enforced"], false);
    assert_eq!(line["error"], "what; mend");
}

#[test]
fn a_request_for_less_that_is_refused_is_noted_as_such() {
    let (_dir, base) = place();
    let refusal = Refusal::new("what", "mend").about_bypass();
    Events::of("p", Path::new("/w"), Some(&base)).refused(&refusal);
    let types: Vec<_> =
        lines(&base.join(LOG)).iter().map(|line| line["event_type"].clone()).collect();
    assert_eq!(types, ["BypassDenied", "ApplyFailed"]);
}

#[rstest]
#[case::symlink(|path: &Path| symlink("elsewhere", path).unwrap())]
#[case::folder(|path: &Path| fs::create_dir(path).unwrap())]
#[case::second_name(|path: &Path| {
    fs::write(path.with_file_name("other"), "").unwrap();
    fs::hard_link(path.with_file_name("other"), path).unwrap();
})]
#[case::pipe(|path: &Path| {
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
})]
fn what_is_no_plain_file_is_refused(#[case] put: fn(&Path)) {
    let (_dir, base) = place();
    put(&base.join(LOG));
    let refusal = Events::of("p", Path::new("/w"), Some(&base)).open().unwrap_err();
    assert!(refusal.to_string().contains("the log of events cannot be written"), "{refusal}");
    assert!(!base.join("elsewhere").exists());
}

#[test]
fn grok_8_1_a_full_log_goes_to_the_old_one_and_both_stay_where_they_are() {
    let (_dir, base) = place();
    let (path, old) = (base.join(LOG), base.join(OLD_LOG));
    fs::write(&old, "older\n").unwrap();
    let log = Log::at(&path).capped(20);
    log.append(b"0123456789\n").unwrap();
    let inodes = || (fs::metadata(&path).unwrap().ino(), fs::metadata(&old).unwrap().ino());
    let before = inodes();
    log.append(b"abcdefghij\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "abcdefghij\n");
    assert_eq!(fs::read_to_string(&old).unwrap(), "0123456789\n");
    assert_eq!(inodes(), before);
}

#[test]
fn grok_8_1_twenty_writers_lose_no_line() {
    let (_dir, base) = place();
    std::thread::scope(|scope| {
        for writer in 0..20 {
            let base = &base;
            scope.spawn(move || {
                let events = Events::of("p", Path::new("/w"), Some(base));
                for line in 0..50 {
                    events.note(denied(&format!("{writer}-{line}"))).unwrap();
                }
            });
        }
    });
    let mut targets: Vec<String> =
        lines(&base.join(LOG)).iter().map(|line| line["target"].to_string()).collect();
    targets.sort();
    targets.dedup();
    assert_eq!(targets.len(), 1000);
}

#[test]
fn rotation_loses_no_line_either() {
    let (_dir, base) = place();
    let path = base.join(LOG);
    std::thread::scope(|scope| {
        for writer in 0..10 {
            let log = Log::at(&path).capped(4096);
            scope.spawn(move || {
                for line in 0..20 {
                    log.append(format!("{{\"line\":\"{writer}-{line:05}-padding\"}}\n").as_bytes())
                        .unwrap();
                }
            });
        }
    });
    // 200 lines of 29 bytes: one rotation.
    assert_eq!(lines(&path).len() + lines(&base.join(OLD_LOG)).len(), 200);
}
