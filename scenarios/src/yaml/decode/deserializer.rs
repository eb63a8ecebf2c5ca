//! [`Decoder`]: the serde deserializer over one node.

use serde::de::{Deserializer, Visitor};

use super::Left;
use super::access::{Choice, Entries, Items};
use super::error::DecodeError;
use crate::complaint::short;
use crate::yaml::{Key, Node, Value, scalar};

/// One node, without what was dropped.
#[derive(Clone, Copy)]
pub(super) struct Decoder<'a> {
    pub(super) node: &'a Node,
    pub(super) left: &'a Left,
}

impl<'de> Decoder<'de> {
    /// Says that something else is wanted here.
    fn wanted(&self, what: &str) -> DecodeError {
        if self.node.value == Value::Reported {
            return DecodeError::silent();
        }
        let (kind, word) = (self.node.kind(), self.node.word());
        let message = match &self.node.value {
            Value::Scalar { .. } => format!("`{word}` is {kind} where {what} is wanted"),
            Value::Sequence(_) | Value::Map(_) | Value::Reported => {
                format!("{kind} (with `{word}`) stands where {what} is wanted")
            }
        };
        DecodeError::new(message, word).at(self.node.at, String::new)
    }

    /// The scalar here and whether it was plain.
    fn scalar(&self, what: &str) -> Result<(&'de str, bool), DecodeError> {
        match &self.node.value {
            Value::Scalar { text, plain } if !self.node.is_null() => Ok((text, *plain)),
            Value::Scalar { .. } | Value::Sequence(_) | Value::Map(_) | Value::Reported => {
                Err(self.wanted(what))
            }
        }
    }

    fn text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let (text, _) = self.scalar("text")?;
        visitor.visit_borrowed_str(text).map_err(|e: DecodeError| self.placed(e))
    }

    fn placed(&self, error: DecodeError) -> DecodeError {
        error.at(self.node.at, || self.node.word())
    }

    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let (text, plain) = self.scalar("a whole number")?;
        let value = scalar::integer(text, plain).map_err(|why| {
            self.placed(DecodeError::new(format!("`{}` {why}", short(text)), text))
        })?;
        let visited: Result<V::Value, DecodeError> =
            match (i64::try_from(value), u64::try_from(value)) {
                (Ok(value), _) => visitor.visit_i64(value),
                (_, Ok(value)) => visitor.visit_u64(value),
                _ => visitor.visit_i128(value),
            };
        // All that a visitor can say against a number is that it does not fit.
        visited.map_err(|_| {
            let message = format!("`{text}` is too small or too large a number here");
            self.placed(DecodeError::new(message, text))
        })
    }

    pub(super) fn list<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Sequence(items) => visitor
                .visit_seq(Items { rest: items.iter(), left: self.left })
                .map_err(|error| self.placed(error)),
            Value::Scalar { .. } | Value::Map(_) | Value::Reported => Err(self.wanted("a list")),
        }
    }

    pub(super) fn map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Map(entries) => visitor
                .visit_map(Entries { rest: entries.iter(), left: self.left, current: None })
                .map_err(|error| self.placed(self.excused(error))),
            Value::Scalar { .. } | Value::Sequence(_) | Value::Reported => {
                Err(self.wanted("a map"))
            }
        }
    }

    /// A missing key is not told when its entry was left out, or one that was no key here: most
    /// likely that one was meant for it.
    fn excused(&self, mut error: DecodeError) -> DecodeError {
        if let (Some(missing), Value::Map(entries), None) =
            (&error.0.missing, &self.node.value, error.0.place)
        {
            error.0.silent |= entries.iter().any(|entry| {
                let id = entry.value.id;
                self.left.unknown.contains(&id)
                    || (self.left.out.contains(&id) && entry.key.text == *missing)
            });
        }
        error
    }

    /// The chosen variant: a word, or the only key of a map.
    fn choice(
        self,
        name: &str,
        variants: &'static [&'static str],
    ) -> Result<Choice<'de>, DecodeError> {
        let noun = spaced(name);
        let (key, value) = match &self.node.value {
            Value::Scalar { text, .. } if !self.node.is_null() => {
                (Key { text: text.clone(), at: self.node.at }, None)
            }
            Value::Map(entries) if entries.len() == 1 => {
                (entries[0].key.clone(), Some(&entries[0].value))
            }
            Value::Map(entries) if entries.len() > 1 => {
                let (first, second) = (&entries[0].key, &entries[1].key);
                let message = format!(
                    "`{}` stands beside `{}`; one {noun} has one word, begin a new item or indent it",
                    short(&second.text),
                    short(&first.text)
                );
                let error = DecodeError::new(message, short(&second.text));
                return Err(error.at(second.at, String::new));
            }
            Value::Scalar { .. } | Value::Map(_) | Value::Sequence(_) | Value::Reported => {
                return Err(self.wanted(&format!("a {noun}")));
            }
        };
        Ok(Choice { noun, variants, key, value, left: self.left })
    }
}

/// `ListenerKind` as `listener kind`, to name the list a word is not on.
fn spaced(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// All integer types by way of one function; the visitor checks the range.
macro_rules! integers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            self.integer(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Decoder<'de> {
    type Error = DecodeError;

    /// Scalars are text: nothing is guessed from how they look.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Scalar { .. } => self.text(visitor),
            Value::Sequence(_) => self.list(visitor),
            Value::Map(_) => self.map(visitor),
            Value::Reported => Err(DecodeError::silent()),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let (text, plain) = self.scalar("true or false")?;
        let value = scalar::boolean(text, plain).map_err(|why| {
            self.placed(DecodeError::new(format!("`{}` {why}", short(text)), text))
        })?;
        visitor.visit_bool(value)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let (text, plain) = self.scalar("a number")?;
        match text.parse::<f64>() {
            Ok(value) if plain && value.is_finite() => visitor.visit_f64(value),
            Ok(_) | Err(_) => Err(self.wanted("a number")),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.list(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.list(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let choice = self.choice(name, variants)?;
        visitor.visit_enum(choice).map_err(|error| self.placed(error))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }

    fn deserialize_unit<V: Visitor<'de>>(self, _: V) -> Result<V::Value, DecodeError> {
        Err(self.wanted("nothing"))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor)
    }

    serde::forward_to_deserialize_any! { char bytes byte_buf }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }
}
