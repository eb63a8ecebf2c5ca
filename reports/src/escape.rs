//! Makes untrusted text harmless to show: what a hostile command printed must not move a cursor,
//! change a colour, hide or reorder letters, or look like a line of the report.
//!
//! Escaping twice changes nothing, so that evidence may be escaped when recorded and when shown.

use crate::record::EVIDENCE_LIMIT;

/// One line: every control and invisible character as an escape, line breaks too.
#[must_use]
pub fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        push(&mut out, c);
    }
    out
}

/// Many lines: as [`inline`], but line feeds divide lines.
pub fn lines(text: &str) -> impl Iterator<Item = String> {
    text.trim_end_matches('\n').split('\n').map(inline)
}

/// Evidence for a record from bytes nobody vouches for: escaped, line feeds kept, at most
/// [`EVIDENCE_LIMIT`] bytes; what was cut off is counted.
#[must_use]
pub fn evidence(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '\n' {
                text.push('\n');
            } else {
                push(&mut text, c);
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    clip(text)
}

/// JSON in which every control and invisible character is an escape, not only those below a space.
/// Such characters stand in its strings only, where an escape means the same.
#[must_use]
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c >= '\x7f' && (c.is_control() || invisible(c)) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Cuts at a character boundary, and says how much is gone.
fn clip(text: String) -> String {
    // Room for the note about what was cut.
    const KEPT: usize = EVIDENCE_LIMIT - 40;
    if text.len() <= EVIDENCE_LIMIT {
        return text;
    }
    let end = (0..=KEPT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}\n... {} more bytes", &text[..end], text.len() - end)
}

/// Appends `c`, escaped when it must not be printed.
fn push(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0'..='\x1f' | '\x7f' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
        _ if c.is_control() || invisible(c) => {
            out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
        }
        _ => out.push(c),
    }
}

/// Letters that show nothing, reorder others, break lines, or are no characters at all.
fn invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fdd0}'..='\u{fdef}' | '\u{e0000}'..='\u{e0fff}'
    ) || u32::from(c) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("plain ümlaut", "plain ümlaut")]
    #[case("a\x1b[31mb", "a\\x1b[31mb")]
    #[case("a\r\nb\tc\x07", "a\\r\\nb\\tc\\x07")]
    #[case("\u{9b}31m", "\\u{9b}31m")]
    #[case("x\u{202e}y\u{200b}", "x\\u{202e}y\\u{200b}")]
    #[case("\u{ffff}", "\\u{ffff}")]
    fn escapes(#[case] raw: &str, #[case] shown: &str) {
        assert_eq!(inline(raw), shown);
    }

    #[test]
    fn evidence_shows_bytes_that_are_no_text() {
        assert_eq!(evidence(b"one\ntwo \xff\x1b"), "one\ntwo \\xff\\x1b");
    }

    #[test]
    fn long_evidence_is_cut_and_counted() {
        let cut = evidence("ü".repeat(4000).as_bytes());
        assert!(cut.len() <= EVIDENCE_LIMIT);
        assert!(cut.ends_with("\n... 3944 more bytes"), "{}", &cut[cut.len() - 30..]);
    }

    proptest! {
        #[test]
        fn escaping_twice_changes_nothing(text in any::<String>()) {
            let once = inline(&text);
            prop_assert!(!once.contains(char::is_control));
            prop_assert_eq!(inline(&once), once);
        }

        #[test]
        fn evidence_fits(bytes in prop::collection::vec(any::<u8>(), 0..6000)) {
            let text = evidence(&bytes);
            prop_assert!(text.len() <= EVIDENCE_LIMIT);
            prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
        }
    }
}
