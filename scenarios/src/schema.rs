//! The JSON Schema of a scenario file, generated from the types that decode it.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::file::ScenarioFile;
use crate::names;

/// The schema, for editors and other tools.
#[must_use]
pub fn scenario_schema() -> Value {
    let generator = SchemaSettings::draft07().into_generator();
    let mut schema = generator.into_root_schema_for::<ScenarioFile>().to_value();
    tidy(&mut schema);
    schema
}

/// The text of the committed schema file.
#[must_use]
pub fn scenario_schema_text() -> String {
    format!("{:#}\n", scenario_schema())
}

/// A list of these words.
fn list_of(words: &[&str]) -> Schema {
    json_schema!({ "type": "array", "items": { "enum": words } })
}

/// Words of types that the probe crate defines, which knows no schemas.
pub(crate) fn open_flags(_: &mut SchemaGenerator) -> Schema {
    list_of(&names::OPEN_FLAGS)
}

pub(crate) fn namespaces(_: &mut SchemaGenerator) -> Schema {
    list_of(&names::NAMESPACES)
}

pub(crate) fn mount_flags(_: &mut SchemaGenerator) -> Schema {
    list_of(&names::MOUNT_FLAGS)
}

pub(crate) fn node_kind(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": names::NODE_KINDS })
}

pub(crate) fn abi(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": names::ABIS })
}

pub(crate) fn send_call(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": names::SEND_CALLS })
}

pub(crate) fn socket_type(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": names::SOCKET_TYPES })
}

/// What types say that a file must not: empty values. And one list of verbs instead of one schema
/// per verb, which editors complete far better.
fn tidy(value: &mut Value) {
    match value {
        Value::Object(object) => {
            no_null(object);
            one_of_keys(object);
            describe(object);
            object.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Descriptions are for people who see no code: no links, no pointers to it.
fn describe(object: &mut Map<String, Value>) {
    let Some(Value::String(text)) = object.get_mut("description") else { return };
    if text.starts_with("See [`") {
        match text.split_once("; ") {
            Some((_, rest)) => *text = rest.to_owned(),
            None => drop(object.remove("description")),
        }
    } else {
        *text = without_links(text).replace('\n', " ");
    }
}

/// Links to code as plain words.
fn without_links(text: &str) -> String {
    let Some((before, rest)) = text.split_once("[`") else { return text.to_owned() };
    let name = |c: char| c.is_alphanumeric() || c == ':' || c == '_';
    match rest.split_once("`]") {
        Some((word, after)) if word.chars().all(name) && !word.is_empty() => {
            format!("{before}`{word}`{}", without_links(after))
        }
        _ => format!("{before}[`{}", without_links(rest)),
    }
}

/// `null` is no value anywhere.
fn no_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|word| word != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    if let Some(Value::Array(options)) = object.get_mut("anyOf") {
        options.retain(|option| *option != json!({ "type": "null" }));
        if let [only] = options.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            // A reference stands alone in this draft, a description beside it would be ignored.
            object.insert("allOf".to_owned(), json!([only]));
        }
    }
}

/// Alternatives that are closed objects with one key each, as one object with one of these keys.
fn one_of_keys(object: &mut Map<String, Value>) {
    let Some(Value::Array(options)) = object.get("oneOf") else { return };
    let mut properties = Map::new();
    for option in options {
        let Some(Value::Object(own)) = option.get("properties") else { return };
        let Some((key, value)) = own.iter().next().filter(|_| own.len() == 1) else { return };
        let mut value = value.clone();
        if let Some(description) = option.get("description") {
            value = match value.get("$ref") {
                Some(_) => json!({ "allOf": [value] }),
                None => value,
            };
            value["description"] = description.clone();
        }
        properties.insert(key.clone(), value);
    }
    object.remove("oneOf");
    object.insert("type".to_owned(), json!("object"));
    object.insert("properties".to_owned(), Value::Object(properties));
    object.insert("additionalProperties".to_owned(), json!(false));
    object.insert("minProperties".to_owned(), json!(1));
    object.insert("maxProperties".to_owned(), json!(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_words_and_brackets_stay() {
        assert_eq!(
            without_links("see [`Step::Read`] or `[`, [`Mode`]."),
            "see `Step::Read` or `[`, `Mode`."
        );
    }

    #[test]
    fn every_object_is_closed_and_nothing_is_null() {
        fn walk(value: &Value, path: &str) {
            match value {
                Value::Object(object) => {
                    let properties = object.get("properties").is_some_and(Value::is_object);
                    if properties && object.contains_key("type") {
                        assert_eq!(
                            object.get("additionalProperties"),
                            Some(&json!(false)),
                            "{path}"
                        );
                    }
                    assert!(
                        object.get("type").is_none_or(|t| t.is_object() || t.is_string()),
                        "{path}"
                    );
                    assert_ne!(object.get("type"), Some(&json!("null")), "{path}");
                    object.iter().for_each(|(key, value)| walk(value, &format!("{path}/{key}")));
                }
                Value::Array(items) => items.iter().for_each(|item| walk(item, path)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        let schema = scenario_schema();
        walk(&schema, "");
        let required: Vec<&str> =
            schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(
            required,
            ["schema", "id", "title", "why", "claim", "severity", "policy", "routes"]
        );
    }

    #[test]
    fn verbs_are_one_list() {
        let step = &scenario_schema()["definitions"]["Step"];
        assert_eq!(step["maxProperties"], json!(1));
        assert!(step["properties"].as_object().is_some_and(|verbs| verbs.len() > 30));
    }
}
