//! The two places where the grammar allows a plain string for a small map.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use crate::fixture::EnvValue;
use crate::step::Written;

/// `PATH`, or `{path, text}`.
pub(crate) fn written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Written, D::Error> {
    struct WrittenVisitor;
    impl<'de> Visitor<'de> for WrittenVisitor {
        type Value = Written;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a path, or a map with `path` and `text`")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Written, E> {
            Ok(Written { path: text.parse().map_err(E::custom)?, text: None })
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Written, A::Error> {
            #[derive(serde::Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Full {
                path: crate::PathArg,
                text: Option<String>,
            }
            let full = Full::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
            Ok(Written { path: full.path, text: full.text })
        }
    }
    deserializer.deserialize_any(WrittenVisitor)
}

/// Text, `secret`, or `{path: ROOM/rel}`.
pub(crate) fn env_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<EnvValue, D::Error> {
    struct EnvVisitor;
    impl<'de> Visitor<'de> for EnvVisitor {
        type Value = EnvValue;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("text, `secret`, or a map with `path`")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<EnvValue, E> {
            Ok(match text {
                "secret" => EnvValue::Secret,
                other => EnvValue::Text(other.to_owned()),
            })
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<EnvValue, A::Error> {
            #[derive(serde::Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Full {
                path: crate::RoomPath,
            }
            let full = Full::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
            Ok(EnvValue::Path(full.path))
        }
    }
    deserializer.deserialize_any(EnvVisitor)
}
