//! Reads a regular expression of a profile: the forms that we print, no others.
//!
//! A dot takes any character. A class takes what stands in it: `]` at its beginning, `-` at its end
//! and `^` behind its beginning are themselves.

use std::iter::Peekable;
use std::str::Chars;

use ::regex::Regex;

/// The expression in the terms of our own library, which is given no character that it could read
/// in its own way.
pub(super) fn read(text: &str) -> Result<Regex, String> {
    let Some(body) = text.strip_prefix('^').and_then(|rest| rest.strip_suffix('$')) else {
        return Err(format!("the expression {text}, which is not anchored"));
    };
    let mut out = String::from("(?s)\\A");
    let mut chars = body.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push_str(&itself(chars.next().ok_or("a lonely backslash")?)),
            '[' => out.push_str(&class(&mut chars)?),
            '(' | ')' | '*' | '+' | '?' | '.' => out.push(c),
            '|' | '{' | '}' | ']' | '^' | '$' | '"' => return Err(format!("{c} in {text}")),
            c => out.push_str(&itself(c)),
        }
    }
    out.push_str("\\z");
    Regex::new(&out).map_err(|error| format!("the expression {text}: {error}"))
}

fn itself(c: char) -> String {
    format!("\\x{{{:x}}}", u32::from(c))
}

/// The rest of a class, after its `[`.
fn class(chars: &mut Peekable<Chars<'_>>) -> Result<String, String> {
    let mut out = String::from("[");
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut first = true;
    loop {
        let low = match chars.next().ok_or("a class without its end")? {
            ']' if !first => break,
            '\\' => escaped(chars)?,
            c => c,
        };
        first = false;
        out.push_str(&itself(low));
        let mut ahead = chars.clone();
        if ahead.next() == Some('-') && ahead.peek().is_some_and(|c| *c != ']') {
            chars.next();
            let high = chars.next().ok_or("a class without its end")?;
            if high < low || "[\\^-".contains(high) {
                return Err(format!("the range {low}-{high}"));
            }
            out.push('-');
            out.push_str(&itself(high));
        }
    }
    out.push(']');
    Ok(out)
}

/// What readers differ in, and only where it comes to the same.
fn escaped(chars: &mut Peekable<Chars<'_>>) -> Result<char, String> {
    match chars.next() {
        Some(c @ ('\\' | '"')) => Ok(c),
        other => Err(format!("\\{other:?} in a class")),
    }
}
