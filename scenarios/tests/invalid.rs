//! Malformed files with one mistake each: told once, at its line, with its word.
//!
//! The first line of a file in `tests/invalid` says what is expected: `# line LINE: WORD`.

use std::fs;
use std::path::Path;

use rstest::rstest;
use sandproof_scenarios::load;

/// The line may be off by one: a mistake can lie between two lines.
fn near(found: usize, expected: usize) -> bool {
    found.abs_diff(expected) <= 1
}

/// What is wrong with the answer to one file, or nothing.
fn verdict(name: &str, bytes: &[u8], line: usize, word: &str) -> Option<String> {
    let complaints = match load::bytes(bytes, name, Some("a/b")) {
        Ok(_) => return Some(format!("{name}: loaded")),
        Err(complaints) => complaints,
    };
    let shown: Vec<String> = complaints.iter().map(ToString::to_string).collect();
    let [only] = complaints.as_slice() else {
        return Some(format!("{name}: {} complaints\n{}", complaints.len(), shown.join("\n")));
    };
    let text = only.to_string();
    let good = near(only.line, line)
        && only.word == word
        && only.message.contains(word)
        && text.starts_with(&format!("{name}:{}:{}: ", only.line, only.column));
    (!good)
        .then(|| format!("{name}: expected line {line} and `{word}`, not `{}`\n{text}", only.word))
}

fn expectation(text: &str) -> Option<(usize, String)> {
    let (line, word) = text.lines().next()?.strip_prefix("# line ")?.split_once(": ")?;
    Some((line.parse().ok()?, word.to_owned()))
}

#[test]
fn every_malformed_file_is_told_at_its_line_with_its_word() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/invalid");
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    let mut wrong = Vec::new();
    for path in &names {
        let text = fs::read_to_string(path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some((line, word)) = expectation(&text) else {
            wrong.push(format!("{name}: no expectation in its first line"));
            continue;
        };
        wrong.extend(verdict(name, text.as_bytes(), line, &word));
    }
    assert!(wrong.is_empty(), "{} of {}\n\n{}", wrong.len(), names.len(), wrong.join("\n\n"));
    assert!(names.len() >= 60, "only {} files", names.len());
}

/// Sixteen names, each for two of the one before: 65,536 scalars when written out.
fn alias_bomb() -> String {
    let mut text = "tags:\n  - &a0 [x, x]\n".to_owned();
    for level in 1..16 {
        text.push_str(&format!("  - &a{level} [*a{}, *a{}]\n", level - 1, level - 1));
    }
    text
}

#[rstest]
#[case::empty("", 1, "")]
#[case::blank("  \n\n", 1, "")]
#[case::only_comments("# nothing\n# here\n", 1, "")]
#[case::only_a_document_start("---\n", 1, "")]
#[case::too_big("title: a\n# b\n".repeat(90_000), 1, "1170000")]
#[case::lists_in_a_line(format!("tags: {}", "[".repeat(5000)), 1, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[")]
#[case::closed_lists(format!("tags: {}{}", "[".repeat(5000), "]".repeat(5000)), 1, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[")]
#[case::lists_in_a_block(format!("tags:\n{}x", "- ".repeat(5000)), 2, "-")]
#[case::maps_in_maps((0..400).map(|i| format!("{}a:\n", " ".repeat(i))).collect::<String>(), 32, "a:")]
#[case::too_many_values(format!("tags:\n{}", "- a\n".repeat(20_001)), 20_000, "a")]
#[case::nul("schema: 1\nid: a\0b\n", 2, "\\0")]
#[case::escape("schema: 1\nid: a\u{1b}[31mb\n", 2, "\\u{1b}")]
#[case::key_alias("schema: 1\n*a : b\n", 2, "*a")]
fn a_text_that_is_no_scenario(
    #[case] text: impl AsRef<str>,
    #[case] line: usize,
    #[case] word: &str,
) {
    assert_eq!(verdict("bad.yaml", text.as_ref().as_bytes(), line, word), None);
}

#[rstest]
#[case::at_once(b"\xff\xfe", 1, "0xff")]
#[case::later("schema: 1\nid: ä\ntitle: ".as_bytes(), 3, "0xe4")]
fn bytes_that_are_no_text(#[case] start: &[u8], #[case] line: usize, #[case] word: &str) {
    let mut bytes = start.to_vec();
    bytes.extend(b"\xe4\n");
    assert_eq!(verdict("bad.yaml", &bytes, line, word), None);
}

#[test]
fn an_alias_bomb_does_not_go_off() {
    let complaints = load::scenario(&alias_bomb(), "bomb.yaml", None).unwrap_err();
    assert_eq!((complaints[0].line, complaints[0].word.as_str()), (2, "&a0"));
    assert!(complaints.len() < 60, "{}", complaints.len());
    assert!(complaints.iter().any(|complaint| complaint.word == "*a0"));
}

#[rstest]
#[case("[{ read: wrok/a }]", "work/a")]
#[case("[{ expect: { ok: true } }]", "stands in `then`")]
#[case("[{ raed: work/a }]", "did you mean `read`?")]
#[case("[{ read: work/a, then-read: true }]", "begin a new item")]
#[case("[read work/a]", "is no step")]
fn messages_say_what_to_do(#[case] route: &str, #[case] advice: &str) {
    let text = format!(
        "schema: 1\nid: a\ntitle: t\nwhy: w\nclaim: c\nseverity: low\n\
         policy: {{ profiles: [off] }}\nroutes: {{ one: {route} }}\nworks: true\n"
    );
    let complaints = load::scenario(&text, "a.yaml", None).unwrap_err();
    assert_eq!(complaints.len(), 1);
    assert!(complaints[0].to_string().contains(advice), "{}", complaints[0]);
}

#[test]
fn there_are_at_most_fifty_complaints() {
    let text = format!("tags: x\n{}", "a: 1\n".repeat(500));
    let complaints = load::scenario(&text, "long.yaml", None).unwrap_err();
    assert_eq!(complaints.len(), 50);
    assert!(complaints[49].message.contains("more mistakes"), "{}", complaints[49]);
}

#[test]
fn every_mistake_of_a_file_is_told_at_once() {
    let text = "\
schema: 1
id: a/b
titel: t
why: w
claim: ours
severity: hihg
needs: [deny-lits, root, deny-lits]
policy:
  profiles: [workspase, strict]
  deny: [work/../x, work/ok]
  netwrok: open
given:
  - fiel: { path: work/a, holds: text }
  - file: { path: works/a, holds: txt, mode: rwx }
  - listener: { kind: tcp }
routes:
  one:
    - raed: work/a
    - read: work/../a
    - connect: defualt
    - chmod: { path: /root, mode: 9, more: 1 }
  two: { steps: [{ shell: '' }], tool: [x] }
then: { secrets: keep, paths: { work/x: gone } }
works: yes
";
    let told: Vec<(usize, String)> = load::scenario(text, "many.yaml", Some("a/b"))
        .unwrap_err()
        .into_iter()
        .map(|complaint| (complaint.line, complaint.word))
        .collect();
    let expected = [
        (3, "titel"),
        (6, "hihg"),
        (7, "deny-lits"),
        (7, "deny-lits"),
        (9, "workspase"),
        (10, "work/../x"),
        (11, "netwrok"),
        (13, "fiel"),
        (14, "works/a"),
        (14, "txt"),
        (14, "rwx"),
        (18, "raed"),
        (19, "work/../a"),
        (21, "/root"),
        (21, "9"),
        (21, "more"),
        (22, "shell"),
        (22, "tool"),
        (23, "keep"),
        (23, "gone"),
        (24, "works"),
        (24, "yes"),
    ];
    let expected: Vec<(usize, String)> = expected.map(|(l, w)| (l, w.to_owned())).to_vec();
    assert_eq!(told, expected);
}
