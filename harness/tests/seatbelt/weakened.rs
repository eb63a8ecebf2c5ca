//! Weakened profiles: each must break a cell that holds under the whole one. What none of them
//! shows is not tested.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};

use super::play::{Cell, Shown};

/// What is taken away, which scenario notices, and how it is done.
type Weakening = (&'static str, &'static str, fn(&str) -> String);

const WEAKENINGS: [Weakening; 19] = [
    ("deny is not written", "fs/deny-blocks-every-reader", |text| without(text, DENY)),
    ("deny covers reading alone", "fs/deny-survives-rename", |text| in_denies(text, &WRITING, "")),
    ("deny covers writing alone", "fs/deny-inside-added-root", |text| {
        in_denies(text, &READING, "")
    }),
    ("deny covers no hard links", "fs/deny-survives-hard-link", |text| {
        in_denies(text, &["file-link"], "")
    }),
    ("deny covers the path alone", "fs/deny-folder-hides-children", |text| {
        in_denies(text, &["(subpath"], "(literal")
    }),
    ("deny stands before the grants", "fs/deny-inside-added-root", denies_first),
    ("globs are left out", "fs/deny-glob-finds-every-match", |text| {
        lines(text, |line| !(line.starts_with(DENY) && line.contains(".pem$")))
    }),
    ("globs hold for what is there", "fs/deny-glob-covers-late-file", |text| {
        text.replace("[^/]*\\.pem$", "early\\.pem$")
    }),
    ("a glob needs a folder between", "fs/deny-glob-finds-every-match", |text| {
        text.replace("(.*/)?", ".*/")
    }),
    ("a glob knows no classes", "fs/deny-glob-finds-every-match", |text| {
        text.replace("[a-c]", "a-c")
    }),
    ("targets of links are left out", "fs/deny-glob-finds-every-match", |text| {
        without(text, "real.txt")
    }),
    ("nothing is pinned", "fs/deny-pins-its-parents", |text| without(text, PIN)),
    ("protected folders are not pinned", "fs/hooks-parent-is-pinned", |text| without(text, PIN)),
    ("protect is not written", "fs/hooks-file-stays", |text| without(text, PROTECT)),
    ("protect covers data alone", "fs/protect-keeps-the-file", |text| {
        let lines = text.lines().map(|line| match line.strip_prefix(PROTECT) {
            Some(rest) => {
                format!("(deny file-write-data {}\n", &rest[rest.find('(').unwrap_or(0)..])
            }
            None => format!("{line}\n"),
        });
        lines.collect()
    }),
    ("hard links of everything", "fs/outside-file-stays", |text| {
        after_grants(text, "(allow file-link)\n")
    }),
    ("home is written", "fs/home-takes-nothing-new", |text| {
        after_grants(text, "(allow file-write* (regex #\"^.*/home/.*$\"))\n")
    }),
    ("strict reads everything", "fs/strict-hides-home-and-outside", |text| {
        after_grants(text, "(allow file-read* (subpath \"/\"))\n")
    }),
    ("every socket is reached", "net/unix-socket-outside-is-unreachable", |text| {
        after_grants(text, "(allow network-outbound)\n")
    }),
];

/// How the rules begin that deny, protect, and pin.
const DENY: &str = "(deny file-read* ";
const PROTECT: &str = "(deny file-write* ";
const PIN: &str = "(deny file-write-unlink ";

const READING: [&str; 4] =
    ["file-read*", "file-read-data", "file-read-metadata", "file-read-xattr"];

const WRITING: [&str; 11] = [
    "file-write*",
    "file-write-data",
    "file-write-create",
    "file-write-unlink",
    "file-write-mode",
    "file-write-owner",
    "file-write-flags",
    "file-write-times",
    "file-write-setugid",
    "file-write-xattr",
    "file-link",
];

/// A trial for each.
pub(crate) fn trials(cells: &Arc<Vec<Cell>>) -> Vec<Trial> {
    let trial = |(name, id, weaken): Weakening| {
        let cells = Arc::clone(cells);
        Trial::test(format!("weakened: {name}"), move || noticed(&cells, id, weaken))
    };
    WEAKENINGS.into_iter().map(trial).collect()
}

/// A cell of this scenario that holds under the whole profile is broken.
fn noticed(cells: &[Cell], id: &str, weaken: fn(&str) -> String) -> Result<(), Failed> {
    let held = cells.iter().filter(|cell| cell.scenario.id == id && *cell.whole() == Shown::Held);
    let results: Vec<Shown> = held.map(|cell| cell.play(&weaken)).collect();
    if results.iter().any(|result| matches!(result, Shown::Broken(_))) {
        return Ok(());
    }
    Err(Failed::from(format!("{id} does not notice it: {results:?}")))
}

fn lines(text: &str, keep: impl Fn(&str) -> bool) -> String {
    text.lines().filter(|line| keep(line)).map(|line| format!("{line}\n")).collect()
}

/// The text without the lines that hold this.
fn without(text: &str, part: &str) -> String {
    lines(text, |line| !line.contains(part))
}

/// Words of the deny rules replaced.
fn in_denies(text: &str, words: &[&str], by: &str) -> String {
    let change = |line: &str| {
        if !line.starts_with(DENY) {
            return format!("{line}\n");
        }
        let changed = line.split(' ').map(|word| if words.contains(&word) { by } else { word });
        changed.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ") + "\n"
    };
    text.lines().map(change).collect()
}

/// The deny rules before everything but the default.
fn denies_first(text: &str) -> String {
    let deny = |line: &str| line.starts_with(DENY);
    let (head, rest): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.contains("(version 1)") || line.ends_with(" default)"));
    let head = head.iter().map(|line| format!("{line}\n")).collect::<String>();
    let rest = rest.iter().map(|line| format!("{line}\n")).collect::<String>();
    head + &lines(&rest, deny) + &lines(&rest, |line| !deny(line))
}

/// One more grant behind the others, before anything is denied.
fn after_grants(text: &str, grant: &str) -> String {
    let covers =
        |line: &&str| line.starts_with("(deny file-") || line.starts_with("(deny network-bind");
    let at = text.lines().position(|line| covers(&line)).unwrap_or(text.lines().count());
    let part = |from: usize, to: usize| -> String {
        text.lines().skip(from).take(to - from).map(|line| format!("{line}\n")).collect()
    };
    part(0, at) + grant + &part(at, text.lines().count())
}
