//! Edits of the text of a profile.

/// How the rules begin that deny, protect, and pin.
pub(super) const DENY: &str = "(deny file-read* ";
pub(super) const PROTECT: &str = "(deny file-write* ";
pub(super) const PIN: &str = "(deny file-write-unlink ";

pub(super) const READING: [&str; 4] =
    ["file-read*", "file-read-data", "file-read-metadata", "file-read-xattr"];

pub(super) const WRITING: [&str; 11] = [
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

/// Protected paths keep their data and nothing else.
pub(super) fn data_alone(text: &str) -> String {
    let lines = text.lines().map(|line| match line.strip_prefix(PROTECT) {
        Some(rest) => format!("(deny file-write-data {}\n", &rest[rest.find('(').unwrap_or(0)..]),
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// The lines that stay.
pub(super) fn lines(text: &str, keep: impl Fn(&str) -> bool) -> String {
    text.lines().filter(|line| keep(line)).map(|line| format!("{line}\n")).collect()
}

/// The text without the lines that hold this.
pub(super) fn without(text: &str, part: &str) -> String {
    lines(text, |line| !line.contains(part))
}

/// Words of the deny rules replaced.
pub(super) fn in_denies(text: &str, words: &[&str], by: &str) -> String {
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
pub(super) fn denies_first(text: &str) -> String {
    let deny = |line: &str| line.starts_with(DENY);
    let (head, rest): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.contains("(version 1)") || line.ends_with(" default)"));
    let head = head.iter().map(|line| format!("{line}\n")).collect::<String>();
    let rest = rest.iter().map(|line| format!("{line}\n")).collect::<String>();
    head + &lines(&rest, deny) + &lines(&rest, |line| !deny(line))
}

/// One more grant behind the others, before anything is denied.
pub(super) fn after_grants(text: &str, grant: &str) -> String {
    let covers =
        |line: &&str| line.starts_with("(deny file-") || line.starts_with("(deny network-bind");
    let at = text.lines().position(|line| covers(&line)).unwrap_or(text.lines().count());
    let part = |from: usize, to: usize| -> String {
        text.lines().skip(from).take(to - from).map(|line| format!("{line}\n")).collect()
    };
    part(0, at) + grant + &part(at, text.lines().count())
}
