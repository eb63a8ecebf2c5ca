//! [`Channel`]: what probe and child tell each other, over two pipes of their own.
//!
//! A line is a random key and one JSON value. Anyone who can look into the child can reopen its
//! pipes and write into them; such lines lack the key and are skipped.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Write as _};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::descriptors::high;
use super::lines::Link;

/// One end.
#[derive(Debug)]
pub(super) struct Channel {
    link: Link,
    key: String,
}

impl Channel {
    /// Both ends: that of the probe and that of the child.
    pub(super) fn pair() -> io::Result<(Self, Self)> {
        let (request, ask) = io::pipe()?;
        let (answer, reply) = io::pipe()?;
        let (request, ask) = (high(request.into())?, high(ask.into())?);
        let (answer, reply) = (high(answer.into())?, high(reply.into())?);
        let key = random();
        let probe = Self { link: Link::new(answer, ask), key: key.clone() };
        Ok((probe, Self { link: Link::new(request, reply), key }))
    }

    /// Sends one value.
    pub(super) fn send(&mut self, value: &impl Serialize) -> io::Result<()> {
        let out = &mut self.link.out;
        out.write_all(self.key.as_bytes())?;
        serde_json::to_writer(&mut *out, value)?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// The next value; `None` when the other end is gone.
    pub(super) fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let key = self.key.as_bytes();
        loop {
            let parsed = self.link.lines.next(|line| {
                let value = value_after(key, line)?;
                Some(serde_json::from_slice(value))
            })?;
            match parsed {
                None => return Ok(None),
                Some(None) => {} // not from the other end
                Some(Some(value)) => return Ok(Some(value?)),
            }
        }
    }
}

/// What follows the last key in a line: whatever stands before it was written by someone else.
fn value_after<'a>(key: &[u8], line: &'a [u8]) -> Option<&'a [u8]> {
    if let Some(value) = line.strip_prefix(key) {
        return Some(value);
    }
    let at = line.windows(key.len()).rposition(|part| part == key)?;
    Some(&line[at + key.len()..])
}

/// 128 random bits, from the keys of std's hasher: no device is needed.
fn random() -> String {
    let word = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}
