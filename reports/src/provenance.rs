//! Facts of the run in words.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Journal;
use crate::escape::inline;

/// Facts as `name value`, those that are known: each key is a path as in [`flat`].
pub(crate) fn facts(journal: &Journal, keys: &[(&str, &str)]) -> String {
    let flat = flat(&journal.header.provenance);
    let known = keys.iter().filter_map(|(key, name)| {
        let text = flat.get(*key).filter(|text| !text.is_empty())?;
        Some(format!("{name} {text}").trim_start().to_string())
    });
    known.collect::<Vec<_>>().join(", ")
}

/// A value without the quotes and braces of JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_string(),
        Value::Bool(false) => "no".to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => inline(text),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        Value::Object(fields) => {
            let fields =
                fields.iter().map(|(key, value)| format!("{} {}", inline(key), plain(value)));
            fields.collect::<Vec<_>>().join(" ")
        }
    }
}

/// Subjects of the run, `name version (helper version, ...)`.
pub(crate) fn subjects(journal: &Journal) -> Vec<String> {
    let Some(Value::Object(subjects)) = journal.header.provenance.get("subjects") else {
        return Vec::new();
    };
    let line = |(name, subject): (&String, &Value)| {
        let helpers = match subject.get("helpers") {
            Some(Value::Object(helpers)) if !helpers.is_empty() => {
                let named = helpers.iter().map(|(name, helper)| version(name, helper));
                format!(" (with {})", named.collect::<Vec<_>>().join(", "))
            }
            _ => String::new(),
        };
        version(name, subject) + &helpers
    };
    subjects.iter().map(line).collect()
}

/// `name version`; the version of a helper is its value, without the hash behind it.
fn version(name: &str, subject: &Value) -> String {
    let version = plain(subject.get("version").unwrap_or(subject));
    let version = version.split(" sha256:").next().unwrap_or_default();
    format!("{} {version}", inline(name)).trim_end().to_string()
}

/// Every fact by its path (`subjects.codex.version`), for tables and comparison.
pub(crate) fn flat(provenance: &BTreeMap<String, Value>) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for (key, value) in provenance {
        flatten(&mut facts, inline(key), value);
    }
    facts
}

fn flatten(facts: &mut BTreeMap<String, String>, path: String, value: &Value) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                flatten(facts, format!("{path}.{}", inline(key)), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            facts.insert(path, plain(value));
        }
    }
}
