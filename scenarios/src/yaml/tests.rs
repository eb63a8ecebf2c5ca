//! Text to types: what is taken as what, and where mistakes are told.

use std::collections::{BTreeMap, BTreeSet};

use rstest::rstest;
use serde::Deserialize;

use super::*;
use crate::rules::place;

fn first<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> (usize, usize, String) {
    let complaint = &read::<T>(text, "x.yaml").unwrap_err()[0];
    (complaint.line, complaint.column, complaint.word.clone())
}

#[rstest]
#[case("1", "1")]
#[case("0600", "0600")]
#[case("no", "no")]
#[case("true", "true")]
#[case("1e3", "1e3")]
#[case("'null'", "null")]
#[case("\"a\\tb\"", "a\tb")]
#[case("a b  c", "a b  c")]
fn text_is_taken_as_it_is_written(#[case] yaml: &str, #[case] expected: &str) {
    assert_eq!(read::<Vec<String>>(&format!("- {yaml}\n"), "x"), Ok(vec![expected.to_owned()]));
}

#[test]
fn block_texts_keep_their_lines() {
    let text = "- |\n  a\n  b\n- >\n  a\n  b\n";
    let expected = vec!["a\nb\n".to_owned(), "a b\n".to_owned()];
    assert_eq!(read::<Vec<String>>(text, "x"), Ok(expected));
}

#[rstest]
#[case("- yes")]
#[case("- on")]
#[case("- 'true'")]
#[case("- True")]
#[case("- [true]")]
fn only_true_and_false_are_booleans(#[case] yaml: &str) {
    assert!(read::<Vec<bool>>(yaml, "x").is_err());
    assert_eq!(read::<Vec<bool>>("[true, false]", "x"), Ok(vec![true, false]));
}

#[test]
fn numbers_are_checked_for_their_type() {
    assert_eq!(read::<Vec<i8>>("[-128, 0x7f]", "x"), Ok(vec![-128, 127]));
    assert_eq!(read::<Vec<u64>>("[18446744073709551615]", "x"), Ok(vec![u64::MAX]));
    assert_eq!(first::<Vec<i8>>("[1,\n 128]"), (2, 2, "128".to_owned()));
    assert_eq!(first::<Vec<u64>>("[1, -1]"), (1, 5, "-1".to_owned()));
    assert_eq!(read::<Vec<f64>>("[1.5, 2]", "x"), Ok(vec![1.5, 2.0]));
    assert!(read::<Vec<f64>>("['1.5']", "x").is_err());
}

#[test]
fn nothing_is_no_value() {
    assert_eq!(first::<BTreeMap<String, Option<String>>>("a: 1\nb:\nc: 2\n"), (2, 1, "b".into()));
    assert_eq!(first::<Vec<Option<String>>>("- a\n- ~\n"), (2, 3, "~".into()));
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Inner {
    name: String,
    size: u8,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Plain,
    Sized(Inner),
    Pair(String, u8),
    Named { a: bool },
}

#[test]
fn one_of_several_is_a_word_or_a_map_of_one() {
    let text = "[plain, { sized: { name: n, size: 1 } }, { pair: [a, 2] }, { named: { a: true } }]";
    let expected = vec![
        Kind::Plain,
        Kind::Sized(Inner { name: "n".into(), size: 1 }),
        Kind::Pair("a".into(), 2),
        Kind::Named { a: true },
    ];
    assert_eq!(read::<Vec<Kind>>(text, "x"), Ok(expected));
}

#[rstest]
#[case("- plane", (1, 3, "plane"))]
#[case("- plain: 1", (1, 3, "plain"))]
#[case("- sized", (1, 3, "sized"))]
#[case("- sized:", (1, 3, "sized"))]
#[case("- sized: { name: n }", (1, 10, "size"))]
#[case("- sized: { name: n, size: 300 }", (1, 27, "300"))]
#[case("- sized: { name: n, size: 1, more: 2 }", (1, 30, "more"))]
#[case("- plain: 1\n  sized: 2", (2, 3, "sized"))]
#[case("- []", (1, 3, "[]"))]
fn a_wrong_choice_is_told_at_its_place(
    #[case] text: &str,
    #[case] (line, column, word): (usize, usize, &str),
) {
    assert_eq!(first::<Vec<Kind>>(text), (line, column, word.to_owned()));
    assert_eq!(read::<Vec<Kind>>(text, "x").unwrap_err().len(), 1);
}

#[test]
fn what_was_left_out_is_known() {
    let tree =
        parse("- { name: a, size: 1 }\n- { name: b, size: x }\n- { name: c, size: 3 }\n").unwrap();
    let decoded = decode::<Vec<Inner>>(&tree);
    let names: Vec<String> = decoded.value.unwrap().into_iter().map(|inner| inner.name).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(decoded.faults.len(), 1);
    // The second that is left stands in the third line.
    assert_eq!(tree.locate(&place![1], "", &decoded.dropped).line, 3);
    assert!(tree.tainted(&[], &decoded.dropped));
    assert!(!tree.tainted(&place![1], &decoded.dropped));
}

#[test]
fn paths_lead_to_keys_and_values() {
    let tree = parse("a:\n  - b: { c: d }\n").unwrap();
    let none = BTreeSet::new();
    let at = |path: &[Seg], word: &str| {
        let mark = tree.locate(path, word, &none);
        (mark.line, mark.column)
    };
    assert_eq!(at(&place!["a"], ""), (1, 1));
    assert_eq!(at(&place!["a", 0, "b", "c"], "d"), (2, 13));
    assert_eq!(at(&place!["a", 0, "b", "c"], "c"), (2, 10));
    assert_eq!(at(&place!["a", 0, "none"], ""), (2, 5));
    assert!(tree.holds(&place!["a", 0, "b"], &none));
    assert!(!tree.holds(&place!["a", 1], &none));
    assert!(!tree.holds(&place!["a", "b"], &none));
}

#[test]
fn a_mark_at_the_start_and_crlf_are_fine() {
    assert_eq!(
        read::<Vec<String>>("\u{feff}- a\r\n- b\r\n", "x"),
        Ok(vec!["a".into(), "b".into()])
    );
}

#[test]
fn the_deepest_file_that_is_read_is_read() {
    let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(&deep(MAX_DEPTH)).is_ok());
    assert!(parse(&deep(MAX_DEPTH + 1)).is_err());
    let mixed = format!("{}{}", "- ".repeat(20), deep(13));
    assert!(parse(&mixed).is_err(), "brackets and blocks count together");
    assert!(parse(&mixed.replacen("- ", "", 1)).is_ok());
}

#[test]
fn the_longest_list_that_is_read_is_read() {
    let long = |items: usize| "- a\n".repeat(items);
    assert!(parse(&long(MAX_NODES - 1)).is_ok());
    assert!(parse(&long(MAX_NODES)).is_err());
}
