//! [`explain`]: the meaning of every word of scenarios, policies and verdicts. What a file may hold
//! is described by its schema, hence by the docs of the types, so that the two cannot drift.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::Capability;
use crate::complaint;
use crate::schema::scenario_schema;

mod vocabulary;

/// Meanings by word, each line with the place where it has that meaning.
type Dictionary = BTreeMap<String, Vec<String>>;

/// What a word means: one line for each place that uses it.
#[must_use]
pub fn explain(word: &str) -> Option<String> {
    dictionary().get(&spelled(word)).map(|lines| lines.join("\n"))
}

/// Every word that can be explained, sorted.
#[must_use]
pub fn words() -> Vec<String> {
    dictionary().keys().cloned().collect()
}

/// The known word nearest to this one.
#[must_use]
pub fn nearest(word: &str) -> Option<String> {
    complaint::nearest(&spelled(word), dictionary().keys().map(String::as_str)).map(str::to_owned)
}

/// A word as it is looked up: without quotes, number or case.
fn spelled(word: &str) -> String {
    let word = word.trim().trim_matches('`').to_lowercase().replace([' ', '_'], "-");
    match word.split_once(">=") {
        Some((name, _)) => name.to_owned(),
        None => word,
    }
}

/// Built once: it takes the whole schema apart.
fn dictionary() -> &'static Dictionary {
    static DICTIONARY: LazyLock<Dictionary> = LazyLock::new(build);
    &DICTIONARY
}

fn build() -> Dictionary {
    let mut dictionary = Dictionary::new();
    for (word, place, meaning) in vocabulary::WORDS {
        add(&mut dictionary, word, place, meaning);
    }
    for capability in Capability::ALL {
        let kind =
            if capability.of_host() { "capability of a host" } else { "capability of a backend" };
        add(&mut dictionary, capability.word(), kind, capability.sentence());
    }
    let schema = scenario_schema();
    let definitions = &schema["definitions"];
    properties(&mut dictionary, &schema, definitions, "key of a scenario");
    properties(&mut dictionary, &schema["properties"]["policy"], definitions, "key of `policy`");
    variants(&mut dictionary, &schema["properties"]["severity"], "severity");
    for (name, definition) in definitions.as_object().into_iter().flatten() {
        let place = place_of(name);
        properties(&mut dictionary, definition, definitions, &place);
        variants(&mut dictionary, definition, &place);
    }
    dictionary
}

fn add(dictionary: &mut Dictionary, word: &str, place: &str, meaning: &str) {
    let line = format!("{word} ({place}): {meaning}");
    let lines = dictionary.entry(spelled(word)).or_default();
    if !lines.contains(&line) {
        lines.push(line);
    }
}

/// What the words in a definition are, for readers who do not know the types.
fn place_of(definition: &str) -> String {
    match definition {
        "Step" => "step".to_owned(),
        "Fixture" => "fixture, in `given`".to_owned(),
        "HostAct" => "act of the host, in `host`".to_owned(),
        "Effects" => "effect, in `then`".to_owned(),
        "PathEffect" => "effect on a path".to_owned(),
        "Holds" => "content of a file".to_owned(),
        "Strength" => "strength of a promise".to_owned(),
        "LongRoute" => "key of a route".to_owned(),
        "LongTwin" => "key of `twin`".to_owned(),
        "EnvPolicy" => "key of `env` in `policy`".to_owned(),
        "SessionSpec" => "key of `session` in `policy`".to_owned(),
        "Promise" => "key of `promise`".to_owned(),
        "Profile" => "profile".to_owned(),
        "Inherit" => "value of `inherit`".to_owned(),
        "Network" => "value of `network`".to_owned(),
        "Family" => "value of `family`".to_owned(),
        "ListenerKind" => "kind of listener".to_owned(),
        "InheritedFlags" => "flag of `open-file`".to_owned(),
        "VictimHolds" => "what a victim `holds`".to_owned(),
        "HostWrite" => "argument of `write` in `host`".to_owned(),
        "HostPair" => "argument of `rename` in `host`".to_owned(),
        "PairStep" => "argument of `link` and `symlink`".to_owned(),
        "LinkFixture" => "argument of `symlink` and `hardlink`".to_owned(),
        other => {
            let argument = other.strip_suffix("Step").or_else(|| other.strip_suffix("Fixture"));
            match (argument, other.strip_suffix("Effect")) {
                (Some(verb), _) => format!("argument of `{}`", kebab(verb)),
                (None, Some(clause)) => format!("value of `{}`", kebab(clause)),
                (None, None) => format!("in `{}`", kebab(other)),
            }
        }
    }
}

/// `OpenFile` as `open-file`.
fn kebab(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// The keys of an object schema with their descriptions and arguments.
fn properties(dictionary: &mut Dictionary, schema: &Value, definitions: &Value, place: &str) {
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(meaning) = property["description"].as_str() {
            let arguments = arguments(property, definitions);
            add(dictionary, key, place, &format!("{meaning}{arguments}"));
        }
    }
}

/// The keys that a value takes, those that may be left out with a question mark.
fn arguments(property: &Value, definitions: &Value) -> String {
    let target = property["allOf"][0]["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let Some(definition) = target.map(|name| &definitions[name]) else { return String::new() };
    let required = definition["required"].as_array();
    let needed = |key: &String| required.is_some_and(|list| list.iter().any(|word| word == key));
    let mut keys: Vec<&String> =
        definition["properties"].as_object().into_iter().flat_map(|o| o.keys()).collect();
    if keys.is_empty() || definition["maxProperties"] == 1 {
        return String::new();
    }
    keys.sort_by_key(|key| {
        required.and_then(|list| list.iter().position(|word| word == *key)).unwrap_or(usize::MAX)
    });
    let shown: Vec<String> = keys
        .iter()
        .map(|key| if needed(key) { (*key).clone() } else { format!("{key}?") })
        .collect();
    format!(" ({})", shown.join(", "))
}

/// The words of an enumeration with their descriptions.
fn variants(dictionary: &mut Dictionary, schema: &Value, place: &str) {
    for option in schema["oneOf"].as_array().into_iter().flatten() {
        let only_key = option["required"][0].as_str();
        let word = option["const"].as_str().or(only_key);
        if let (Some(word), Some(meaning)) = (word, option["description"].as_str()) {
            add(dictionary, word, place, meaning);
        }
    }
}

#[cfg(test)]
mod tests;
