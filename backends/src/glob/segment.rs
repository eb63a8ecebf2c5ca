//! One segment of a glob: parsed strictly, matched against one name.

use std::iter::Peekable;
use std::str::Chars;

/// What stands between two slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// `**`: any number of segments.
    Any,
    /// A plain name.
    Plain(Vec<u8>),
    /// Something with `*`, `?` or a class.
    Wild(Vec<Token>),
}

/// A piece of a [`Segment::Wild`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// `*`
    Star,
    /// `?`
    One,
    /// `[a-z]`, `[!a]`, `[^a]`: ranges, inclusive.
    Class { negated: bool, ranges: Vec<(char, char)> },
    /// Itself.
    Literal(char),
}

/// What `?` takes: a character, or a byte where the name is not valid UTF-8.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Char(char),
    Byte,
}

impl Segment {
    /// Parses one segment.
    ///
    /// # Errors
    /// What is outside the subset, a lower-case fragment.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        refuse(text)?;
        if text == "**" {
            return Ok(Segment::Any);
        }
        if !text.contains(['*', '?', '[']) {
            return Ok(Segment::Plain(text.as_bytes().to_vec()));
        }
        let mut tokens = Vec::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            tokens.push(match c {
                '*' => Token::Star,
                '?' => Token::One,
                '[' => class(&mut chars)?,
                c => Token::Literal(c),
            });
        }
        Ok(Segment::Wild(tokens))
    }

    /// True when it stands for this name alone (`**` takes any one name).
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        match self {
            Segment::Any => true,
            Segment::Plain(plain) => plain == name,
            Segment::Wild(tokens) => wild(tokens, &units(name)),
        }
    }
}

/// What no segment may hold.
fn refuse(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("has an empty segment, write single slashes and none at the end".to_owned());
    }
    if text == "." || text == ".." {
        return Err(format!("has a `{text}` segment, write the path without it"));
    }
    if let Some(c) = text.chars().find(|c| matches!(c, '{' | '}' | '\\')) {
        return Err(format!("holds `{c}`, which is not supported: write one glob for each choice"));
    }
    if text.contains('\0') {
        return Err("holds a NUL character, which no path can".to_owned());
    }
    if text != "**" && text.contains("**") {
        return Err(format!("has `**` inside `{text}`, it must be a whole segment"));
    }
    Ok(())
}

/// The rest of a class, after its `[`.
fn class(chars: &mut Peekable<Chars<'_>>) -> Result<Token, String> {
    let negated = chars.next_if(|&c| c == '!' || c == '^').is_some();
    let mut ranges = Vec::new();
    loop {
        let low = match chars.next() {
            None => return Err("has a class without its `]`".to_owned()),
            Some(']') if ranges.is_empty() => {
                return Err("has `]` first in a class, or an empty class".to_owned());
            }
            Some(']') => return Ok(Token::Class { negated, ranges }),
            Some('[') => return Err("has `[` inside a class".to_owned()),
            Some(c) => c,
        };
        ranges.push((low, high(low, chars)?));
    }
}

/// The end of a range, or `low` again when there is none; a `-` before `]` is itself.
fn high(low: char, chars: &mut Peekable<Chars<'_>>) -> Result<char, String> {
    let mut ahead = chars.clone();
    if ahead.next() != Some('-') || matches!(ahead.peek(), None | Some(']')) {
        return Ok(low);
    }
    chars.next();
    match chars.next() {
        Some('[') => Err("has `[` inside a class".to_owned()),
        Some(high) if low <= high => Ok(high),
        Some(high) => Err(format!("has the reversed range `{low}-{high}`")),
        None => Err("has a class without its `]`".to_owned()),
    }
}

fn units(name: &[u8]) -> Vec<Unit> {
    let mut units = Vec::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        units.extend(chunk.valid().chars().map(Unit::Char));
        units.extend(chunk.invalid().iter().map(|_| Unit::Byte));
    }
    units
}

/// Matches with one point to come back to: the last star. Linear but for that.
fn wild(tokens: &[Token], name: &[Unit]) -> bool {
    let (mut token, mut at) = (0, 0);
    let mut back = None;
    while at < name.len() {
        match tokens.get(token) {
            Some(Token::Star) => {
                back = Some((token, at));
                token += 1;
            }
            Some(one) if one.takes(name[at]) => {
                token += 1;
                at += 1;
            }
            Some(_) | None => {
                let Some((star, taken)) = back else { return false };
                back = Some((star, taken + 1));
                token = star + 1;
                at = taken + 1;
            }
        }
    }
    tokens[token..].iter().all(|rest| *rest == Token::Star)
}

impl Token {
    /// True when it takes this unit. A byte that is no character is in no class, hence in every
    /// negated one.
    fn takes(&self, unit: Unit) -> bool {
        match (self, unit) {
            (Token::Star | Token::One, _) => true,
            (Token::Literal(own), Unit::Char(c)) => *own == c,
            (Token::Literal(_), Unit::Byte) => false,
            (Token::Class { negated, ranges }, Unit::Char(c)) => {
                ranges.iter().any(|&(low, high)| low <= c && c <= high) != *negated
            }
            (Token::Class { negated, .. }, Unit::Byte) => *negated,
        }
    }
}
