//! Walking lists, maps and one-entry maps (enums), leaving out what was dropped.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};

use super::Left;
use super::deserializer::Decoder;
use super::error::DecodeError;
use crate::complaint::short;
use crate::yaml::{Entry, Key, Node};

/// The items of a list.
pub(super) struct Items<'a> {
    pub(super) rest: std::slice::Iter<'a, Node>,
    pub(super) left: &'a Left,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = DecodeError;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, DecodeError> {
        let Some(node) = self.rest.find(|node| !self.left.out.contains(&node.id)) else {
            return Ok(None);
        };
        let decoder = Decoder { node, left: self.left };
        let value = seed.deserialize(decoder);
        value.map(Some).map_err(|error| error.at(node.at, || node.word()).place(node.id))
    }
}

/// The entries of a map.
pub(super) struct Entries<'a> {
    pub(super) rest: std::slice::Iter<'a, Entry>,
    pub(super) left: &'a Left,
    pub(super) current: Option<&'a Entry>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = DecodeError;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, DecodeError> {
        self.current = self.rest.find(|entry| !self.left.out.contains(&entry.value.id));
        let Some(entry) = self.current else {
            return Ok(None);
        };
        let key = seed.deserialize(StrDeserializer::new(&entry.key.text));
        let told = |error: DecodeError| {
            error.at(entry.key.at, || short(&entry.key.text)).place(entry.value.id)
        };
        key.map(Some).map_err(told)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, DecodeError> {
        let Some(Entry { key, value }) = self.current else {
            return Err(DecodeError::new("a value was asked for before its key", ""));
        };
        let result = no_null(key, value)
            .and_then(|()| seed.deserialize(Decoder { node: value, left: self.left }));
        result.map_err(|error| error.at(value.at, || value.word()).place(value.id))
    }
}

/// An empty value is told at its key: it has no place of its own.
fn no_null(key: &Key, value: &Node) -> Result<(), DecodeError> {
    if !value.is_null() {
        return Ok(());
    }
    let word = short(&key.text);
    let message = format!("key `{word}` has no value; write one or leave the key out");
    Err(DecodeError::new(message, word.clone()).at(key.at, || word))
}

/// One of several: a bare word, or a map with one entry.
pub(super) struct Choice<'a> {
    pub(super) noun: String,
    pub(super) variants: &'static [&'static str],
    pub(super) key: Key,
    pub(super) value: Option<&'a Node>,
    pub(super) left: &'a Left,
}

impl<'de> EnumAccess<'de> for Choice<'de> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self), DecodeError> {
        let word = &self.key.text;
        if !self.variants.contains(&word.as_str()) {
            let error = DecodeError::unknown(&self.noun, word, self.variants);
            return Err(error.at(self.key.at, || short(word)));
        }
        let chosen = seed.deserialize(StrDeserializer::<DecodeError>::new(word));
        chosen.map(|chosen| (chosen, self))
    }
}

impl<'de> Choice<'de> {
    /// The value, or a complaint that there is none.
    fn needed(&self) -> Result<&'de Node, DecodeError> {
        let word = &self.key.text;
        match self.value {
            Some(value) => no_null(&self.key, value).map(|()| value),
            None => {
                let message = format!("`{word}` needs a value: `{word}: ...`");
                Err(DecodeError::new(message, word).at(self.key.at, String::new))
            }
        }
    }
}

impl<'de> VariantAccess<'de> for Choice<'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        if self.value.is_none() {
            return Ok(());
        }
        let word = &self.key.text;
        let message = format!("`{word}` takes no value; write the word alone");
        Err(DecodeError::new(message, word).at(self.key.at, String::new))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<S::Value, DecodeError> {
        let node = self.needed()?;
        let value = seed.deserialize(Decoder { node, left: self.left });
        value.map_err(|error| error.at(node.at, || node.word()))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        let node = self.needed()?;
        Decoder { node, left: self.left }.list(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let node = self.needed()?;
        Decoder { node, left: self.left }.map(visitor)
    }
}
