//! Translates a deny glob to the regular expressions of a profile, which also match what appears
//! later.

use std::path::{Path, PathBuf};

use super::TextError;
use crate::glob::segment::{Segment, Token};
use crate::glob::{parse, walk_root};

/// One expression for each spelling of the folder the glob begins in. What lies below a match is
/// meant as well, as below an exact path.
pub(super) fn regexes(
    glob: &str,
    other: fn(&Path) -> Option<PathBuf>,
    folded: bool,
) -> Result<Vec<String>, TextError> {
    if glob.chars().any(char::is_control) {
        return Err(TextError::Path { path: glob.to_owned(), why: "a control character" });
    }
    let segments = parse(glob)?;
    let root = walk_root(glob);
    let depth = root.components().count() - 1;
    let tail = translate(&segments[depth..], folded);
    let roots = std::iter::once(root.clone()).chain(other(&root));
    Ok(roots
        .map(|root| {
            let root = plain(root.to_string_lossy().trim_end_matches('/'), folded);
            format!("^{root}/{tail}(/.*)?$")
        })
        .collect())
}

/// Segments after the root.
fn translate(segments: &[Segment], folded: bool) -> String {
    let last = segments.len() - 1;
    let translated = segments.iter().enumerate().map(|(index, segment)| {
        let slash = if index == last { "" } else { "/" };
        match segment {
            Segment::Any if index == last => ".+".to_owned(),
            Segment::Any => "(.*/)?".to_owned(),
            Segment::Plain(name) => {
                format!("{}{slash}", plain(&String::from_utf8_lossy(name), folded))
            }
            Segment::Wild(tokens) => {
                let inner: String = tokens.iter().map(|token| piece(token, folded)).collect();
                format!("{inner}{slash}")
            }
        }
    });
    translated.collect()
}

fn piece(token: &Token, folded: bool) -> String {
    match token {
        Token::Star => "[^/]*".to_owned(),
        Token::One => "[^/]".to_owned(),
        Token::Literal(c) => plain(c.encode_utf8(&mut [0; 4]), folded),
        Token::Class { negated, ranges } => class(*negated, ranges, folded),
    }
}

/// A class that no slash can match, as no name holds one.
fn class(negated: bool, ranges: &[(char, char)], folded: bool) -> String {
    let mut set: Vec<(char, char)> = ranges.to_vec();
    if folded {
        set.extend(ranges.iter().flat_map(|&range| other_case(range)));
    }
    let mut body = Body::default();
    if negated {
        body.add('/', '/');
    }
    for (low, high) in set {
        // What means something in a class is taken out of its range and put where it is itself.
        let mut from = Some(low);
        for special in (low..=high).filter(|c| ODD.contains(*c)) {
            if let Some(start) = from
                && start < special
            {
                body.add(start, before(special));
            }
            if negated || special != '/' {
                body.odd.push(special);
            }
            from = after(special).filter(|next| *next <= high);
        }
        if let Some(start) = from {
            body.add(start, high);
        }
    }
    body.print(negated)
}

/// Characters that a class reads in its own way, and the slash.
const ODD: &str = "-/[\\]^\"";

fn before(c: char) -> char {
    char::from_u32(c as u32 - 1).unwrap_or(c)
}

fn after(c: char) -> Option<char> {
    char::from_u32(c as u32 + 1)
}

/// The content of a class before it is put in order.
#[derive(Default)]
struct Body {
    ranges: String,
    odd: Vec<char>,
}

impl Body {
    fn add(&mut self, low: char, high: char) {
        self.ranges.push(low);
        if low < high {
            self.ranges.push('-');
            self.ranges.push(high);
        }
    }

    /// `]` first, `^` not first, `-` last: there each is itself. A backslash is doubled, which is
    /// one to whom it escapes, and the same twice to whom it does not.
    fn print(self, negated: bool) -> String {
        let has = |c: char| self.odd.contains(&c);
        let mut inner = String::new();
        if has(']') {
            inner.push(']');
        }
        inner.push_str(&self.ranges);
        for (c, text) in [('[', "["), ('"', "\\\""), ('\\', "\\\\"), ('^', "^"), ('-', "-")] {
            if has(c) {
                inner.push_str(text);
            }
        }
        match (negated, inner.as_str()) {
            (true, _) => format!("[^{inner}]"),
            (false, "") => NOTHING.to_owned(),
            (false, "^") => "\\^".to_owned(),
            (false, "^-") => "[-^]".to_owned(),
            (false, _) => format!("[{inner}]"),
        }
    }
}

/// Matches no name: what is left of a class of slashes.
const NOTHING: &str = "/";

/// The letters of a range in the other case.
fn other_case((low, high): (char, char)) -> Vec<(char, char)> {
    let letters = |first: char, last: char| {
        let (from, to) = (low.max(first), high.min(last));
        let turn = |c: char| {
            if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
        };
        (from <= to).then(|| (turn(from), turn(to)))
    };
    let mut others: Vec<_> = letters('a', 'z').into_iter().chain(letters('A', 'Z')).collect();
    if low == high && !low.is_ascii() {
        others.extend(cases(low).map(|c| (c, c)));
    }
    others
}

/// Text that stands for itself.
fn plain(text: &str, folded: bool) -> String {
    text.chars().map(|c| fold(c).filter(|_| folded).unwrap_or_else(|| escape(c))).collect()
}

/// A letter in both cases; nothing for what has no case.
pub(super) fn fold(c: char) -> Option<String> {
    let others: Vec<char> = cases(c).collect();
    (!others.is_empty()).then(|| format!("[{c}{}]", others.into_iter().collect::<String>()))
}

/// The single characters that are this one in another case.
fn cases(c: char) -> impl Iterator<Item = char> {
    let one = |mut chars: Box<dyn Iterator<Item = char>>| match (chars.next(), chars.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    };
    let lower = one(Box::new(c.to_lowercase())).filter(move |other| *other != c);
    let upper = one(Box::new(c.to_uppercase())).filter(move |other| *other != c);
    lower.into_iter().chain(upper)
}

/// A character that stands for itself.
pub(super) fn escape(c: char) -> String {
    let special = r#".+*?()|[]{}^$\""#.contains(c);
    if special { format!("\\{c}") } else { c.to_string() }
}
