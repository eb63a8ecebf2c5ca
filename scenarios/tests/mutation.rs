//! A valid file with one change never panics the loader: it loads, or the complaint lies in it.

use proptest::prelude::*;
use sandproof_scenarios::{catalogue, load};

/// Every construct of the grammar in one file.
const FILE: &str = r#"schema: 1
id: a/b
title: Everything at once
why: >
  More than one line
  of reasons.
claim: kernel document
severity: high
tags: [one, two]
needs: [deny-list, landlock>=3, tty]
policy:
  profiles: [workspace, strict]
  deny: [work/secret.txt, "work/**/*.pem"]
  protect: [work/conf]
  network: blocked
  env: { inherit: core, exclude: ["*_TOKEN"], set: { A: "1" } }
promise:
  macos: { best-effort: the document says so }
given:
  - file: { path: work/secret.txt, holds: secret, mode: "0600" }
  - file: { path: work/plain.txt, holds: { literal: "a\nb" } }
  - symlink: { path: work/way, to: outside/x }
  - env: { A_TOKEN: secret, B: { path: home/x } }
  - listener: { kind: tcp }
  - listener: { name: bus, kind: unix, type: datagram }
  - victim: { holds: secret }
  - open-file: { path: work/plain.txt, fd: 9, flags: r }
  - tree: { path: work/tree, files: 10, depth: 2, seed: 7 }
routes:
  calls:
    - open: { path: work/secret.txt, flags: [r], then-read: true }
    - rename: { from: work/secret.txt, to: work/m.txt, exchange: true }
    - syscall: { abi: native, number: 0x27, args: [-1, 2] }
    - signal: { to: victim, signal: TERM }
  shell:
    tools: [cat]
    steps:
      - host: { write: { path: work/late.pem, holds: secret } }
      - shell: |
          cat secret.txt
          cat late.pem
      - again: [{ read: work/late.pem }]
    then: { network: silent }
then:
  secrets: kept
  paths: { work/secret.txt: unchanged, work/x: { holds: "y" } }
still-works:
  - write: { path: work/new.txt, text: hello }
"#;

/// Pieces that are likely to hurt.
const TOKENS: [&str; 30] = [
    "",
    " ",
    "\n",
    "\t",
    ":",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&a ",
    "*a",
    "!!int ",
    "<<: ",
    "#",
    "\"",
    "'",
    "|\n",
    "? ",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "~",
    "null",
    "yes",
    "0777",
    "../",
    "\u{feff}",
    "\r\n",
    "ünïcödé",
];

/// Loads, or every complaint lies in the text.
fn holds(bytes: &[u8]) -> Result<(), TestCaseError> {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    let Err(complaints) = load::bytes(bytes, "a/b.yaml", Some("a/b")) else { return Ok(()) };
    prop_assert!(!complaints.is_empty());
    for complaint in &complaints {
        let shown = complaint.to_string();
        prop_assert!(complaint.line >= 1 && complaint.line <= lines.len().max(1), "{shown}");
        let width = lines.get(complaint.line - 1).map_or(0, |line| line.chars().count());
        prop_assert!(complaint.column >= 1 && complaint.column <= width + 1, "{shown}");
        prop_assert!(shown.starts_with("a/b.yaml:"), "{shown}");
        prop_assert!(!complaint.message.is_empty());
    }
    Ok(())
}

#[test]
fn the_file_itself_loads() {
    let checked = load::checked(FILE, "a/b.yaml", Some("a/b"));
    assert!(checked.scenario.is_some(), "{:?}", checked.complaints);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_byte_replaced(at in 0..FILE.len(), byte: u8) {
        let mut bytes = FILE.as_bytes().to_vec();
        bytes[at] = byte;
        holds(&bytes)?;
    }

    #[test]
    fn a_piece_removed(at in 0..FILE.len(), length in 1..40usize) {
        let mut bytes = FILE.as_bytes().to_vec();
        bytes.drain(at..(at + length).min(FILE.len()));
        holds(&bytes)?;
    }

    #[test]
    fn a_token_put_in(at in 0..FILE.len(), token in proptest::sample::select(&TOKENS[..])) {
        let (before, after) = FILE.as_bytes().split_at(at);
        holds(&[before, token.as_bytes(), after].concat())?;
    }

    #[test]
    fn a_word_replaced(at in 0..200usize, token in proptest::sample::select(&TOKENS[..])) {
        let words: Vec<&str> = FILE.split_inclusive([' ', '\n']).collect();
        let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        let at = at % words.len();
        words[at] = format!("{token} ");
        holds(words.concat().as_bytes())?;
    }

    #[test]
    fn two_lines_swapped(a in 0..60usize, b in 0..60usize) {
        let mut lines: Vec<&str> = FILE.lines().collect();
        let (a, b) = (a % lines.len(), b % lines.len());
        lines.swap(a, b);
        holds(lines.join("\n").as_bytes())?;
    }

    #[test]
    fn a_scenario_of_the_catalogue(which in 0..1000usize, at in 0..10_000usize, byte: u8) {
        let all = catalogue::embedded();
        let (_, text) = all[which % all.len()];
        let mut bytes = text.as_bytes().to_vec();
        let at = at % bytes.len();
        bytes[at] = byte;
        holds(&bytes)?;
    }

    #[test]
    fn anything(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        holds(&bytes)?;
    }

    #[test]
    fn any_text_of_tokens(tokens in proptest::collection::vec(proptest::sample::select(&TOKENS[..]), 0..60)) {
        holds(tokens.concat().as_bytes())?;
    }
}
