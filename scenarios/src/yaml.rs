//! YAML as this project reads it: text to a tree that knows where everything stands, and from
//! there to types. Nothing is guessed.
//!
//! The dialect is narrow. One document, at most [`MAX_BYTES`], [`MAX_DEPTH`] and [`MAX_NODES`];
//! no anchors, aliases, merge keys, tags or directives; no key twice; no empty value.
//! A boolean is `true` or `false`, unquoted. An integer is decimal or `0x` hexadecimal, unquoted,
//! without leading zeros. Where text is meant, an unquoted scalar is taken as it is written, so
//! `1`, `no` and `0600` are text there and lose nothing.
//!
//! The event parser below `serde-saphyr` is used rather than its serde front: only events say
//! whether a scalar was quoted and where a key stands, and `0600` or `yes` would otherwise be
//! interpreted before it can be refused. This module is the only one that names the crate.

mod decode;
mod node;
mod parse;
mod scalar;
mod spot;

pub use decode::{Decoded, decode};
pub use node::{Entry, Key, Node, Seg, Tree, Value};
pub use parse::parse;

use serde::de::DeserializeOwned;

use crate::complaint::{Complaint, Fault, Level, Mark};

/// Largest file, in bytes.
pub const MAX_BYTES: usize = 1 << 20;
/// Deepest nesting of lists and maps.
pub const MAX_DEPTH: usize = 32;
/// Most nodes: scalars, lists and maps, keys not counted.
pub const MAX_NODES: usize = 20_000;
/// Most mistakes told about one file; the rest is only counted.
pub const MAX_FAULTS: usize = 50;

/// Reads one document as a `T`; `origin` is how the user names the file.
///
/// # Errors
/// Every mistake found, in the order of the text.
pub fn read<T: DeserializeOwned>(text: &str, origin: &str) -> Result<T, Vec<Complaint>> {
    let complaints = |faults| complaints(origin, text, Level::Error, faults);
    let tree = parse(text).map_err(complaints)?;
    let decoded = decode(&tree);
    match decoded.value {
        Some(value) if decoded.faults.is_empty() => Ok(value),
        Some(_) | None => Err(complaints(decoded.faults)),
    }
}

/// Bytes as text.
///
/// # Errors
/// The first byte that is not UTF-8, with its place.
pub fn utf8<'a>(bytes: &'a [u8], origin: &str) -> Result<&'a str, Vec<Complaint>> {
    std::str::from_utf8(bytes).map_err(|error| {
        let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let word = format!("0x{:02x}", bytes[error.valid_up_to()]);
        let message = format!("byte `{word}` is not UTF-8; save the file as UTF-8 text");
        let (line, column) = end_of(&good);
        let fault = Fault::new(Mark { line, column }, message, word);
        complaints(origin, &String::from_utf8_lossy(bytes), Level::Error, vec![fault])
    })
}

/// The place just behind a text.
fn end_of(text: &str) -> (usize, usize) {
    let last = text.rsplit('\n').next().unwrap_or_default();
    (text.matches('\n').count() + 1, last.chars().count() + 1)
}

/// Ties faults to their file, sorted, at most [`MAX_FAULTS`].
pub fn complaints(
    origin: &str,
    text: &str,
    level: Level,
    mut faults: Vec<Fault>,
) -> Vec<Complaint> {
    faults.sort_by_key(|fault| fault.at);
    faults.dedup();
    let more = faults.len().saturating_sub(MAX_FAULTS);
    faults.truncate(MAX_FAULTS);
    if let (Some(last), true) = (faults.last_mut(), more > 0) {
        last.message = format!("{} (and {more} more mistakes)", last.message);
    }
    faults.into_iter().map(|fault| Complaint::new(level, origin, text, fault)).collect()
}

#[cfg(test)]
mod tests;
