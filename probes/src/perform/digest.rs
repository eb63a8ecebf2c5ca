//! [`Digest`]: everything that was read or printed, as it streams by: its beginning, its length,
//! its hash, and the hash of every word in it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::WORD_LIMIT;
use super::failure::unavailable;
use crate::observation::TEXT_LIMIT;
use crate::{Observation, Outcome};

/// Markers are this many hex digits.
const WORD_LENGTH: usize = 32;

/// What streamed by so far.
#[derive(Debug, Default)]
pub(super) struct Digest {
    text: Vec<u8>,
    length: u64,
    hash: Sha256,
    words: Words,
}

impl Digest {
    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let room = TEXT_LIMIT - self.text.len();
        self.text.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.length += bytes.len() as u64;
        self.hash.update(bytes);
        self.words.take(bytes);
    }

    /// How much streamed by.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// What is known now that all of it is over.
    pub(super) fn observation(mut self, outcome: Outcome) -> Observation {
        if self.length == 0 {
            return Observation::bare(outcome);
        }
        self.words.end();
        let outcome = if self.words.overflow {
            unavailable(format!("the output holds more than {WORD_LIMIT} different words"))
        } else {
            outcome
        };
        Observation {
            outcome,
            text: String::from_utf8_lossy(&self.text).into_owned(),
            length: self.length,
            sha256: hex(&self.hash.finalize()),
            words: self.words.hashes,
        }
    }
}

/// The runs of exactly [`WORD_LENGTH`] hex digits, in order of first appearance.
#[derive(Debug, Default)]
struct Words {
    /// The run of hex digits that may still go on; longer ones only keep their length.
    run: Vec<u8>,
    too_long: bool,
    hashes: Vec<String>,
    known: BTreeSet<String>,
    overflow: bool,
}

impl Words {
    fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if !byte.is_ascii_hexdigit() {
                self.end();
            } else if self.run.len() == WORD_LENGTH {
                self.too_long = true;
            } else {
                self.run.push(byte);
            }
        }
    }

    /// The run is over.
    fn end(&mut self) {
        if self.run.len() == WORD_LENGTH && !self.too_long {
            let hash = hex(&Sha256::digest(&self.run));
            if self.hashes.len() == WORD_LIMIT {
                self.overflow |= !self.known.contains(&hash);
            } else if self.known.insert(hash.clone()) {
                self.hashes.push(hash);
            }
        }
        self.run.clear();
        self.too_long = false;
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
        text
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const WORD: &str = "0123456789abcdef0123456789ABCDEF";

    fn digest(chunks: &[&[u8]]) -> Observation {
        let mut seen = Digest::default();
        for chunk in chunks {
            seen.take(chunk);
        }
        seen.observation(Outcome::Done)
    }

    fn sha(text: &str) -> String {
        hex(&Sha256::digest(text.as_bytes()))
    }

    #[test]
    fn nothing_has_no_hash() {
        assert_eq!(digest(&[]), Observation::bare(Outcome::Done));
        assert_eq!(digest(&[b""]), Observation::bare(Outcome::Done));
    }

    #[test]
    fn known_hashes_come_out() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(&[b"a", b"bc"]).sha256, abc);
        assert_eq!(digest(&[b"abc"]).length, 3);
    }

    #[rstest]
    #[case(WORD.to_owned(), 1)]
    #[case(format!("x{WORD}\n"), 1)]
    #[case(format!("{WORD} {WORD}"), 1)]
    #[case(format!("{WORD}0"), 0)]
    #[case(format!("0{WORD}"), 0)]
    #[case(format!("{WORD}{WORD}"), 0)]
    #[case(WORD[1..].to_owned(), 0)]
    #[case(format!("{WORD}00 {WORD}"), 1)]
    #[case(format!("{WORD} {}", WORD.to_lowercase()), 2)]
    fn words_are_whole_runs(#[case] text: String, #[case] count: usize) {
        let whole = digest(&[text.as_bytes()]);
        assert_eq!(whole.words.len(), count, "{text}");
        let bytewise: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(digest(&bytewise), whole, "splitting must not matter");
        if count > 0 {
            assert_eq!(whole.words[0], sha(WORD));
        }
    }

    #[test]
    fn a_word_behind_the_text_limit_counts() {
        let seen = digest(&[&vec![b' '; TEXT_LIMIT + 10], WORD.as_bytes()]);
        assert_eq!(seen.text.len(), TEXT_LIMIT);
        assert_eq!(seen.length, (TEXT_LIMIT + 10 + WORD_LENGTH) as u64);
        assert_eq!(seen.words, [sha(WORD)]);
    }

    #[test]
    fn too_many_words_are_said_aloud() {
        let mut text = String::new();
        for n in 0..WORD_LIMIT {
            let _ = writeln!(text, "{n:032x}");
        }
        assert_eq!(digest(&[text.as_bytes(), text.as_bytes()]).outcome, Outcome::Done);
        let more = digest(&[text.as_bytes(), WORD.as_bytes()]);
        assert!(matches!(more.outcome, Outcome::Unavailable { .. }), "{:?}", more.outcome);
        assert_eq!(more.words.len(), WORD_LIMIT);
    }
}
