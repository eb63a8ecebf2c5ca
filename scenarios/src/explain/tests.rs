//! Every word that a file or a report may hold is explained.

use super::*;
use crate::{Profile, Severity};

#[test]
fn every_key_verb_and_fixture_is_explained() {
    let schema = scenario_schema();
    let mut missing = Vec::new();
    let mut need = |word: &str| {
        if explain(word).is_none() {
            missing.push(word.to_owned());
        }
    };
    for key in schema["properties"].as_object().unwrap().keys() {
        need(key);
    }
    for key in schema["properties"]["policy"]["properties"].as_object().unwrap().keys() {
        need(key);
    }
    for definition in schema["definitions"].as_object().unwrap().values() {
        for key in definition["properties"].as_object().into_iter().flat_map(|p| p.keys()) {
            need(key);
        }
        for option in definition["oneOf"].as_array().into_iter().flatten() {
            if let Some(word) = option["const"].as_str() {
                need(word);
            }
        }
    }
    for profile in Profile::ALL {
        need(profile.name());
    }
    for capability in Capability::ALL {
        need(capability.word());
    }
    for severity in [Severity::Critical, Severity::High, Severity::Medium, Severity::Low] {
        need(&format!("{severity:?}"));
    }
    for verdict in "pass fail best-effort skip inconclusive known-fail stale-waiver missing escape \
                    overblock started residue"
        .split(' ')
    {
        need(verdict);
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn a_word_with_two_meanings_has_two_lines() {
    let text = explain("symlink").unwrap();
    assert!(text.lines().count() >= 2, "{text}");
    let text = explain("best-effort").unwrap();
    assert!(text.contains("verdict") && text.contains("strength of a promise"), "{text}");
}

#[test]
fn verbs_name_their_arguments() {
    let text = explain("rename").unwrap();
    assert!(text.contains("(from, to, exchange?)"), "{text}");
    assert!(explain("open-file").unwrap().contains("(path, fd, flags)"));
}

#[test]
fn words_are_found_however_they_are_written() {
    assert_eq!(explain("`still-works`"), explain("Still Works"));
    assert!(explain("landlock>=6").is_some_and(|text| text.contains("Landlock")));
    assert_eq!(explain("banana"), None);
    assert_eq!(nearest("stil-works").as_deref(), Some("still-works"));
}

#[test]
fn no_meaning_is_empty_or_speaks_of_code() {
    for word in words() {
        let text = explain(&word).unwrap();
        assert!(
            text.lines().all(|line| line.split_once("): ").is_some_and(|(_, m)| m.len() > 3)),
            "{text}"
        );
        assert!(!text.contains("See ") && !text.contains("`]"), "{text}");
    }
}

#[test]
fn the_vocabulary_has_no_word_twice() {
    let mut words: Vec<_> = vocabulary::WORDS.iter().map(|(word, kind, _)| (word, kind)).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), vocabulary::WORDS.len());
}
