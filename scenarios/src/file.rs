//! [`ScenarioFile`]: the keys of a scenario file as they are written. Decoding and the JSON Schema
//! both come from this type, so that they cannot drift.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::{Capability, Effects, Fixture, PolicySpec, Promise, Severity, Step};

/// One promise and the routes to break it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(
    title = "sandproof scenario",
    extend("oneOf" = [{ "required": ["then"] }, { "required": ["works"] }])
)]
pub(crate) struct ScenarioFile {
    /// Version of this grammar: 1.
    #[schemars(required, extend("const" = 1))]
    pub(crate) schema: Option<u32>,
    /// The path of this file without `.yaml`, relative to the scenario folder.
    #[schemars(required)]
    pub(crate) id: Option<String>,
    /// One line: what is true when it passes.
    #[schemars(required)]
    pub(crate) title: Option<String>,
    /// Why it matters to a user.
    #[schemars(required)]
    pub(crate) why: Option<String>,
    /// The vendor or kernel document that promises it, or `ours`.
    #[schemars(required)]
    pub(crate) claim: Option<String>,
    /// How much a broken promise hurts.
    #[schemars(required)]
    pub(crate) severity: Option<Severity>,
    /// Free words for `--tag`; `slow` is known to the harness.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// What backend or host must be able to do, beyond what the policy already implies.
    #[serde(default)]
    pub(crate) needs: Vec<Need>,
    /// What is confined.
    #[schemars(required)]
    pub(crate) policy: Option<PolicySpec>,
    /// How strongly it is promised, per platform; absent: enforced everywhere.
    pub(crate) promise: Option<Promise>,
    /// The world before the start.
    #[serde(default)]
    pub(crate) given: Vec<Fixture>,
    /// Ways to the prize; each runs alone.
    #[schemars(required)]
    pub(crate) routes: Option<Routes>,
    /// What must hold afterwards. Exactly one of `then` and `works`.
    pub(crate) then: Option<Effects>,
    /// `true`: every step must succeed, with the same visible result as without a sandbox.
    #[schemars(extend("const" = true))]
    pub(crate) works: Option<bool>,
    /// Attempts that must succeed inside, or blocking everything would pass.
    pub(crate) still_works: Option<Vec<Step>>,
    /// The world in which a refused start must succeed.
    pub(crate) twin: Option<TwinSpec>,
}

/// See [`ScenarioFile::twin`]: a list of fixtures, or a map with the list under `given`.
#[derive(Clone, Debug)]
pub(crate) struct TwinSpec {
    /// Entries that replace those of `given` with the same path or name; the rest is kept.
    pub(crate) given: Vec<Fixture>,
}

/// The long form of a twin.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "LongTwin")]
struct LongTwin {
    /// Entries that replace those of `given` with the same path or name; the rest is kept.
    given: Vec<Fixture>,
}

impl<'de> Deserialize<'de> for TwinSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TwinVisitor;
        impl<'de> Visitor<'de> for TwinVisitor {
            type Value = TwinSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of fixtures, or a map with `given`")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<TwinSpec, A::Error> {
                Ok(TwinSpec { given: listed(items)? })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TwinSpec, A::Error> {
                let map = serde::de::value::MapAccessDeserializer::new(map);
                Ok(TwinSpec { given: LongTwin::deserialize(map)?.given })
            }
        }
        deserializer.deserialize_any(TwinVisitor)
    }
}

impl JsonSchema for TwinSpec {
    fn schema_name() -> Cow<'static, str> {
        "Twin".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "array", "minItems": 1, "items": generator.subschema_for::<Fixture>() },
            generator.subschema_for::<LongTwin>()
        ]})
    }
}

/// All items of a list.
fn listed<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(mut items: A) -> Result<Vec<T>, A::Error> {
    let mut list = Vec::new();
    while let Some(item) = items.next_element()? {
        list.push(item);
    }
    Ok(list)
}

/// One entry of `needs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Need(pub(crate) Capability);

/// Every capability word, for messages and the schema.
const NEEDS: [&str; Capability::ALL.len()] = {
    let mut words = [""; Capability::ALL.len()];
    let mut index = 0;
    while index < words.len() {
        words[index] = Capability::ALL[index].word();
        index += 1;
    }
    words
};

impl<'de> Deserialize<'de> for Need {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.starts_with("landlock>=") {
            return text.parse().map(Need).map_err(D::Error::custom);
        }
        text.parse().map(Need).map_err(|_| D::Error::unknown_variant(&text, &NEEDS))
    }
}

impl JsonSchema for Need {
    fn schema_name() -> Cow<'static, str> {
        "Capability".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "enum": NEEDS },
            { "type": "string", "pattern": "^landlock>=[1-9][0-9]?$" }
        ]})
    }
}

/// Routes by name, in file order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes(pub(crate) Vec<(String, RouteSpec)>);

impl<'de> Deserialize<'de> for Routes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder(PhantomData)).map(Routes)
    }
}

impl JsonSchema for Routes {
    fn schema_name() -> Cow<'static, str> {
        "Routes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "minProperties": 1,
            "propertyNames": { "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$" },
            "additionalProperties": generator.subschema_for::<RouteSpec>()
        })
    }
}

/// Collects map entries in the order of the file.
struct InOrder<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
    type Value = Vec<(String, T)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}

/// A list of steps, or a map with more.
#[derive(Clone, Debug)]
pub(crate) struct RouteSpec {
    pub(crate) tools: Vec<String>,
    pub(crate) steps: Vec<Step>,
    pub(crate) then: Option<Effects>,
}

/// The long form of a route.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "LongRoute")]
struct LongRoute {
    /// Programs that must exist on the host, or the route is skipped.
    #[serde(default)]
    tools: Vec<String>,
    /// What is done, in order.
    steps: Vec<Step>,
    /// Effects of this route alone, added to the common ones.
    then: Option<Effects>,
}

impl<'de> Deserialize<'de> for RouteSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RouteVisitor;
        impl<'de> Visitor<'de> for RouteVisitor {
            type Value = RouteSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of steps, or a map with `tools`, `steps` and `then`")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<RouteSpec, A::Error> {
                Ok(RouteSpec { tools: Vec::new(), steps: listed(items)?, then: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RouteSpec, A::Error> {
                let map = serde::de::value::MapAccessDeserializer::new(map);
                let LongRoute { tools, steps, then } = LongRoute::deserialize(map)?;
                Ok(RouteSpec { tools, steps, then })
            }
        }
        deserializer.deserialize_any(RouteVisitor)
    }
}

impl JsonSchema for RouteSpec {
    fn schema_name() -> Cow<'static, str> {
        "Route".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "array", "minItems": 1, "items": generator.subschema_for::<Step>() },
            generator.subschema_for::<LongRoute>()
        ]})
    }
}
