//! Seeded random words: markers, tokens and nonces. Same seed and same name, same word.

use sha2::{Digest as _, Sha256};

/// 32 hex digits that depend on the seed and on every part of the name.
#[must_use]
pub fn word(seed: u64, parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize()[..16])
}

/// A seed nobody chose.
#[must_use]
pub fn fresh_seed() -> u64 {
    let mut bytes = [0_u8; 8];
    let filled = std::fs::File::open("/dev/urandom")
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes));
    if filled.is_err() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        return now.map(|d| d.as_nanos() as u64).unwrap_or(1) ^ u64::from(std::process::id());
    }
    u64::from_le_bytes(bytes)
}

/// Lower-case hex.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        use std::fmt::Write as _;
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// SHA-256 in lower-case hex.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
