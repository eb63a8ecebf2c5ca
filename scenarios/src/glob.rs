//! Globs of `deny`: which are accepted, and what they match.
//!
//! The first segment is a room, so a glob never leaves it. `*` and `?` stay within a segment and
//! match leading dots, `**` is a whole segment for zero or more, `[...]` is one character, negated
//! by `!` or `^`. There is no escape.

use crate::Room;
use crate::policy::is_glob;

/// Says what is wrong with a glob.
///
/// # Errors
/// A lower-case fragment that names the glob and the mistake.
pub fn check(glob: &str) -> Result<(), String> {
    let because = |why: &str| Err(format!("glob `{glob}`: {why}"));
    let (room, rest) = glob.split_once('/').unwrap_or((glob, ""));
    if !Room::ALL.iter().any(|known| known.name() == room) {
        return because("it does not begin with a room: work/ home/ outside/ temp/");
    }
    if rest.is_empty() {
        return because("it names a room and nothing in it");
    }
    if let Some(found) = glob.chars().find(|c| matches!(c, '{' | '}' | '\\' | '\0')) {
        return because(&format!("`{}` is not supported; write two globs", found.escape_debug()));
    }
    for segment in rest.split('/') {
        match segment {
            "" => return because("it has an empty path segment"),
            "." | ".." => return because("a `.` or `..` segment could leave its room"),
            "**" => {}
            _ if segment.contains("**") => {
                return because("`**` must be a path segment of its own");
            }
            _ => classes(segment).or_else(because)?,
        }
    }
    Ok(())
}

/// Checks every `[...]` of a segment.
fn classes(segment: &str) -> Result<(), &'static str> {
    let mut rest = segment;
    while let Some(open) = rest.find('[') {
        let inside = &rest[open + 1..];
        let inside = inside.strip_prefix(['!', '^']).unwrap_or(inside);
        let Some(close) = inside.find(']') else {
            return Err("a `[` class is not closed by `]`");
        };
        let class = &inside[..close];
        if class.is_empty() {
            return Err("a `[` class is empty or begins with `]`");
        }
        if class.contains('[') {
            return Err("a `[` stands inside a class");
        }
        if ranges(class).any(|(low, high)| low > high) {
            return Err("a range in a `[` class is reversed");
        }
        rest = &inside[close + 1..];
    }
    Ok(())
}

/// The ranges of a class; a single character is a range of itself.
fn ranges(class: &str) -> impl Iterator<Item = (char, char)> + '_ {
    let chars: Vec<char> = class.chars().collect();
    let mut index = 0;
    std::iter::from_fn(move || {
        let low = *chars.get(index)?;
        let high = match (chars.get(index + 1), chars.get(index + 2)) {
            (Some('-'), Some(high)) => {
                index += 3;
                *high
            }
            _ => {
                index += 1;
                low
            }
        };
        Some((low, high))
    })
}

/// True when the glob (or exact path) matches this path or a folder above it.
#[must_use]
pub fn covers(entry: &str, path: &str) -> bool {
    let segments: Vec<&str> = path.split('/').collect();
    let pattern: Vec<&str> = entry.split('/').collect();
    if !is_glob(entry) {
        return segments.starts_with(&pattern);
    }
    (1..=segments.len()).any(|end| path_matches(&pattern, &segments[..end]))
}

fn path_matches(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.first(), path.first()) {
        // A trailing `**` matches what is below, not the folder itself.
        (Some(&"**"), None) => false,
        (Some(&"**"), Some(_)) => {
            (pattern.len() > 1 && path_matches(&pattern[1..], path))
                || pattern.len() == 1
                || path_matches(pattern, &path[1..])
        }
        (Some(segment), Some(name)) => {
            let (segment, name): (Vec<char>, Vec<char>) =
                (segment.chars().collect(), name.chars().collect());
            segment_matches(&segment, &name) && path_matches(&pattern[1..], &path[1..])
        }
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn segment_matches(pattern: &[char], name: &[char]) -> bool {
    match (pattern.first(), name.first()) {
        (None, None) => true,
        (Some('*'), _) => {
            segment_matches(&pattern[1..], name)
                || (!name.is_empty() && segment_matches(pattern, &name[1..]))
        }
        (Some('?'), Some(_)) => segment_matches(&pattern[1..], &name[1..]),
        (Some('['), Some(c)) => match pattern.iter().position(|p| *p == ']') {
            Some(close) => {
                class_matches(&pattern[1..close], *c)
                    && segment_matches(&pattern[close + 1..], &name[1..])
            }
            None => false,
        },
        (Some(p), Some(c)) => p == c && segment_matches(&pattern[1..], &name[1..]),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn class_matches(class: &[char], c: char) -> bool {
    let negated = matches!(class.first(), Some('!' | '^'));
    let class: String = class.iter().skip(usize::from(negated)).collect();
    ranges(&class).any(|(low, high)| (low..=high).contains(&c)) != negated
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("work/*.pem")]
    #[case("work/**/.env")]
    #[case("home/a/**/b/[a-z]?[!0-9]*")]
    #[case("work/secrets/**")]
    #[case("work/[^x]")]
    fn accepted(#[case] glob: &str) {
        assert_eq!(check(glob), Ok(()));
    }

    #[rstest]
    #[case("*/x", "begin with a room")]
    #[case("**/.env", "begin with a room")]
    #[case("[w]ork/x", "begin with a room")]
    #[case("work", "nothing in it")]
    #[case("work/{a,b}", "not supported")]
    #[case("work/a\\*", "not supported")]
    #[case("work//x*", "empty path segment")]
    #[case("work/x*/", "empty path segment")]
    #[case("work/../*", "`..` segment")]
    #[case("work/a**", "segment of its own")]
    #[case("work/***", "segment of its own")]
    #[case("work/[]a]", "begins with `]`")]
    #[case("work/[a", "not closed")]
    #[case("work/[[:alpha:]]", "inside a class")]
    #[case("work/[z-a]", "reversed")]
    fn refused(#[case] glob: &str, #[case] why: &str) {
        let message = check(glob).unwrap_err();
        assert!(message.contains(why) && message.contains(glob), "{message}");
    }

    #[rstest]
    #[case("work/secret.txt", "work/secret.txt", true)]
    #[case("work/secrets", "work/secrets/a/b", true)]
    #[case("work/secret", "work/secrets", false)]
    #[case("work/**/.env", "work/.env", true)]
    #[case("work/**/.env", "work/a/b/.env", true)]
    #[case("work/**/.env", "work/a/.envrc", false)]
    #[case("work/secrets/**", "work/secrets", false)]
    #[case("work/secrets/**", "work/secrets/x", true)]
    #[case("work/*.pem", "work/.pem", true)]
    #[case("work/*.pem", "work/a/x.pem", false)]
    #[case("work/*.pem", "work/x.PEM", false)]
    #[case("work/d*", "work/dir/below", true)]
    #[case("work/[a-c]?[!0-9]", "work/bxy", true)]
    #[case("work/[a-c]?[!0-9]", "work/bx1", false)]
    fn covering(#[case] entry: &str, #[case] path: &str, #[case] expected: bool) {
        assert_eq!(covers(entry, path), expected);
    }
}
