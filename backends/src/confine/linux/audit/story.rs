//! [`Story`]: puts the records of one event together, and notes those of our domain.

use super::record::Record;
use crate::confine::events::{Event, Events, Violation};
use crate::confine::linux::notice::MOST;

/// A denied access.
const ACCESS: u16 = 1423;
/// A domain: that it was made, by whom; or that it is gone.
const DOMAIN: u16 = 1424;
/// The call that an event belongs to.
const CALL: u16 = 1300;
/// All records of an event have come.
const END: u16 = 1320;

/// What was heard so far.
#[derive(Debug)]
pub(super) struct Story {
    maker: u32,
    events: Events,
    noted: usize,
    /// Our domain, once it was named.
    domain: Option<String>,
    mark: Option<String>,
    now: Pending,
}

/// The event whose records are coming.
#[derive(Debug, Default)]
struct Pending {
    serial: String,
    accesses: Vec<Access>,
    command: String,
    pid: Option<u32>,
}

#[derive(Debug)]
struct Access {
    domain: String,
    blockers: String,
    target: String,
}

impl Story {
    /// Of the domain that this process makes.
    pub(super) fn of(maker: u32, events: Events) -> Self {
        Self { maker, events, noted: 0, domain: None, mark: None, now: Pending::default() }
    }

    /// The last message will hold this.
    pub(super) fn end_at(&mut self, mark: &str) {
        self.mark = Some(mark.to_owned());
    }

    /// Takes one message; true for the last one.
    pub(super) fn hear(&mut self, kind: u16, text: &str) -> bool {
        let last = self.mark.as_ref().is_some_and(|mark| text.contains(mark));
        let Some(record) = Record::of(text) else { return last };
        if record.serial != self.now.serial || last {
            self.flush();
            self.now.serial = record.serial.to_owned();
        }
        match kind {
            ACCESS => self.now.accesses.extend(access(&record)),
            DOMAIN => self.know(&record),
            CALL => {
                self.now.command = record.text("comm").unwrap_or_default();
                self.now.pid = record.raw("pid").and_then(|pid| pid.parse().ok());
            }
            END => self.flush(),
            _ => {}
        }
        last
    }

    fn know(&mut self, record: &Record<'_>) {
        let maker = record.raw("pid").and_then(|pid| pid.parse().ok());
        if record.raw("status") == Some("allocated") && maker == Some(self.maker) {
            self.domain = record.raw("domain").map(str::to_owned);
        }
    }

    /// Notes what was denied, if it was in our domain.
    fn flush(&mut self) {
        let now = std::mem::take(&mut self.now);
        for access in now.accesses {
            if self.domain.as_ref() == Some(&access.domain) && self.noted < MOST {
                self.noted += 1;
                let more = if self.noted == MOST { ", and more that are not noted" } else { "" };
                let violation = Violation {
                    operation: access.blockers.clone(),
                    target: format!("{}{more}", access.target),
                    command: now.command.clone(),
                    pid: now.pid,
                };
                let network = access.blockers.starts_with("net.");
                // Denied is denied, noted or not.
                let _ = self.events.note(if network {
                    Event::NetViolation(violation)
                } else {
                    Event::FsViolation(violation)
                });
            }
        }
    }
}

/// What was denied to a file or a port; other scopes have no kind of event.
fn access(record: &Record<'_>) -> Option<Access> {
    let blockers = record.raw("blockers")?;
    let target = if blockers.starts_with("fs.") {
        record.text("path")?
    } else if blockers.starts_with("net.") {
        let port = record.raw("dest").or_else(|| record.raw("src"))?;
        format!("port {port}")
    } else {
        return None;
    };
    Some(Access { domain: record.raw("domain")?.to_owned(), blockers: blockers.to_owned(), target })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::confine::events::Line;
    use crate::confine::state::LOG;

    use super::*;

    /// Records as this kernel writes them.
    const TOLD: [(u16, &str); 9] = [
        (
            ACCESS,
            "audit(1.0:11): domain=19a blockers=fs.read_file path=\"/secret\" dev=\"vda\" ino=1",
        ),
        (
            DOMAIN,
            "audit(1.0:11): domain=19a status=allocated mode=enforcing pid=42 uid=0 comm=\"x\"",
        ),
        (CALL, "audit(1.0:11): arch=c000003e syscall=257 pid=43 comm=\"cat\" exe=\"/bin/cat\""),
        (END, "audit(1.0:11): "),
        // Of somebody else.
        (ACCESS, "audit(1.0:12): domain=77b blockers=fs.read_file path=\"/other\""),
        (END, "audit(1.0:12): "),
        (ACCESS, "audit(1.0:13): domain=19a blockers=net.connect_tcp daddr=127.0.0.1 dest=80"),
        (ACCESS, "audit(1.0:14): domain=19a blockers=scope.signal opid=1 ocomm=\"init\""),
        (1005, "audit(1.0:15): pid=1 msg='op=confine-end maker=42'"),
    ];

    #[test]
    fn grok_8_5_denials_of_our_domain_are_noted() {
        let dir = tempfile::tempdir().unwrap();
        let mut story = Story::of(42, Events::of("p", Path::new("/w"), Some(dir.path())));
        story.end_at("op=confine-end maker=42");
        let last: Vec<bool> = TOLD.iter().map(|(kind, text)| story.hear(*kind, text)).collect();
        assert_eq!(last.iter().position(|last| *last), Some(8));
        let text = std::fs::read_to_string(dir.path().join(LOG)).unwrap();
        let events: Vec<Event> =
            text.lines().map(|line| serde_json::from_str::<Line>(line).unwrap().event).collect();
        let violation = |operation: &str, target: &str, command: &str, pid| Violation {
            operation: operation.to_owned(),
            target: target.to_owned(),
            command: command.to_owned(),
            pid,
        };
        let wanted = [
            Event::FsViolation(violation("fs.read_file", "/secret", "cat", Some(43))),
            Event::NetViolation(violation("net.connect_tcp", "port 80", "", None)),
        ];
        assert_eq!(events, wanted);
    }
}
