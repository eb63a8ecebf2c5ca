//! [`Tree`] to any type with a serde decoder, telling every mistake with its place.
//!
//! Serde stops at the first error. To tell all of them, the value in which decoding failed is
//! dropped (the innermost list item or map entry) and decoding starts again without it, until it
//! succeeds or fails at the root. What is only a consequence of dropping is not told.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::{MAX_FAULTS, Node, Tree, Value};
use crate::complaint::Fault;

mod access;
mod deserializer;
mod error;

use deserializer::Decoder;

/// What came of decoding.
#[derive(Clone, Debug)]
pub struct Decoded<T> {
    /// The value; with `faults`, one from which the faulty parts are missing.
    pub value: Option<T>,
    /// Every mistake, those of the tree first.
    pub faults: Vec<Fault>,
    /// Ids of the nodes that were left out.
    pub dropped: BTreeSet<usize>,
}

/// Ids of what is left out, and of those the entries whose key is none.
struct Left {
    out: BTreeSet<usize>,
    unknown: BTreeSet<usize>,
}

/// Decodes a tree.
#[must_use]
pub fn decode<T: DeserializeOwned>(tree: &Tree) -> Decoded<T> {
    let mut faults = tree.faults.clone();
    let mut left = Left { out: reported(&tree.root), unknown: BTreeSet::new() };
    loop {
        let error = match T::deserialize(Decoder { node: &tree.root, left: &left }) {
            Ok(value) => return Decoded { value: Some(value), faults, dropped: left.out },
            Err(error) => *error.0,
        };
        faults.extend(error.fault(&tree.root));
        left.unknown.extend(error.place.filter(|_| error.unknown_key));
        let again = error.place.is_some_and(|place| left.out.insert(place));
        if !again || faults.len() > MAX_FAULTS {
            return Decoded { value: None, faults, dropped: left.out };
        }
    }
}

/// The nodes that parsing has complained about already: left out from the start.
fn reported(node: &Node) -> BTreeSet<usize> {
    match &node.value {
        Value::Scalar { .. } => BTreeSet::new(),
        Value::Sequence(items) => items.iter().flat_map(reported).collect(),
        Value::Map(entries) => entries.iter().flat_map(|entry| reported(&entry.value)).collect(),
        Value::Reported => BTreeSet::from([node.id]),
    }
}
