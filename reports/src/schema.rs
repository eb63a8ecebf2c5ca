//! JSON Schema of one journal line, made from the types that read it.

use schemars::generate::SchemaSettings;
use schemars::json_schema;

use crate::{Footer, Header, Record};

/// The schema as pretty JSON, ended by a line feed; `journal.schema.json` holds the same text.
#[must_use]
pub fn journal_schema() -> String {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let kinds = [
        generator.subschema_for::<Header>(),
        generator.subschema_for::<Record>(),
        generator.subschema_for::<Footer>(),
    ];
    let schema = json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One line of a sandproof journal",
        "description": "First a header, then a record for each cell, last a footer.",
        "oneOf": kinds,
        "$defs": generator.take_definitions(true),
    });
    format!("{:#}\n", schema.as_value())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::sample;

    #[test]
    fn the_committed_file_is_this_schema() {
        let committed = include_str!("../journal.schema.json");
        let fresh = journal_schema();
        assert!(
            committed == fresh,
            "journal.schema.json is old; `sandproof schema journal` prints:\n{fresh}"
        );
    }

    /// What is written has the keys the schema lists, and no others.
    #[test]
    fn a_written_line_has_the_keys_of_the_schema() {
        let schema: Value = serde_json::from_str(&journal_schema()).unwrap();
        for (name, number) in [("Header", 0), ("Record", 1), ("Footer", 22)] {
            let line: Value =
                serde_json::from_str(sample::TEXT.lines().nth(number).unwrap()).unwrap();
            let kind = &schema["$defs"][name];
            assert_eq!(keys(&line), keys(&kind["properties"]), "{name}");
            assert_eq!(line["kind"], kind["properties"]["kind"]["const"]);
            assert_eq!(kind["additionalProperties"], false);
        }
    }

    fn keys(value: &Value) -> BTreeSet<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }
}
