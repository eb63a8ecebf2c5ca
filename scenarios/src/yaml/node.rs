//! [`Tree`]: one YAML document, every key and value with its place.

use std::collections::BTreeSet;

use crate::complaint::{Mark, nearest};

/// One document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Its only node.
    pub root: Node,
    /// Mistakes that did not keep the rest from being read: a key twice, an alias.
    pub faults: Vec<crate::complaint::Fault>,
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Counts up in the order of the text.
    pub id: usize,
    /// Where it begins.
    pub at: Mark,
    /// What it is.
    pub value: Value,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Text, escapes resolved; `plain` when it was written without quotes or block sign.
    Scalar {
        /// The text.
        text: String,
        /// Unquoted.
        plain: bool,
    },
    /// A list.
    Sequence(Vec<Node>),
    /// A map, in file order, no key twice.
    Map(Vec<Entry>),
    /// Something that was complained about already.
    Reported,
}

/// True for a plain scalar that stands for no value at all.
pub(super) fn is_null(plain: &str) -> bool {
    matches!(plain, "" | "~" | "null")
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: Node,
}

/// A key with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key.
    pub text: String,
    /// Where it stands.
    pub at: Mark,
}

/// One step down a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seg {
    /// Into a map.
    Key(String),
    /// Into a list.
    Index(usize),
}

impl From<&str> for Seg {
    fn from(key: &str) -> Self {
        Seg::Key(key.to_owned())
    }
}

impl From<usize> for Seg {
    fn from(index: usize) -> Self {
        Seg::Index(index)
    }
}

impl Node {
    /// The entry with this key.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|entry| entry.key.text == key),
            Value::Scalar { .. } | Value::Sequence(_) | Value::Reported => None,
        }
    }

    /// What it is, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Scalar { .. } if self.is_null() => "nothing",
            Value::Scalar { .. } => "text",
            Value::Sequence(_) => "a list",
            Value::Map(_) => "a map",
            Value::Reported => "a mistake",
        }
    }

    /// No value at all: empty, `~` or `null` without quotes.
    #[must_use]
    pub fn is_null(&self) -> bool {
        match &self.value {
            Value::Scalar { text, plain: true } => is_null(text),
            Value::Scalar { plain: false, .. }
            | Value::Sequence(_)
            | Value::Map(_)
            | Value::Reported => false,
        }
    }

    /// The word to show for it: a scalar's text, else the first key.
    #[must_use]
    pub fn word(&self) -> String {
        match &self.value {
            Value::Scalar { text, .. } => crate::complaint::short(text),
            Value::Map(entries) => {
                entries.first().map_or_else(|| "{}".to_owned(), |entry| entry.key.text.clone())
            }
            Value::Sequence(items) => {
                items.first().map_or_else(|| "[]".to_owned(), |item| item.word())
            }
            Value::Reported => String::new(),
        }
    }
}

impl Tree {
    /// Where `path` leads: at its key if that is `word`, else at its value.
    #[must_use]
    pub fn locate(&self, path: &[Seg], word: &str, dropped: &BTreeSet<usize>) -> Mark {
        self.follow(path, word, dropped).1
    }

    /// True when something at or below `path` is in `dropped`: what is missing there cannot be
    /// told from what was wrong there.
    #[must_use]
    pub fn tainted(&self, path: &[Seg], dropped: &BTreeSet<usize>) -> bool {
        self.follow(path, "", dropped).0.any(dropped)
    }

    /// The node at `path` and where to point for it. Elements of lists whose id is in `dropped` are
    /// not counted, as they were not decoded. A path that leads nowhere ends at the last node on
    /// its way: a shorthand is shorter than the path through its long form.
    fn follow(&self, path: &[Seg], word: &str, dropped: &BTreeSet<usize>) -> (&Node, Mark) {
        let (mut node, mut at) = (&self.root, self.root.at);
        for seg in path {
            match (seg, &node.value) {
                (Seg::Key(key), Value::Map(_)) => match node.entry(key) {
                    Some(entry) => (node, at) = (&entry.value, entry.place(word)),
                    None => break,
                },
                (Seg::Index(index), Value::Sequence(items)) => {
                    let mut kept = items.iter().filter(|item| !dropped.contains(&item.id));
                    match kept.nth(*index) {
                        Some(item) => (node, at) = (item, item.at),
                        None => break,
                    }
                }
                _ => {}
            }
        }
        (node, at)
    }

    /// True when a value was written at exactly this path.
    #[must_use]
    pub fn holds(&self, path: &[Seg], dropped: &BTreeSet<usize>) -> bool {
        let mut node = &self.root;
        for seg in path {
            let next = match (seg, &node.value) {
                (Seg::Key(key), _) => node.entry(key).map(|entry| &entry.value),
                (Seg::Index(index), Value::Sequence(items)) => {
                    items.iter().filter(|item| !dropped.contains(&item.id)).nth(*index)
                }
                _ => None,
            };
            match next {
                Some(found) => node = found,
                None => return false,
            }
        }
        true
    }

    /// True when a top-level key is not there but was meant to be: something was said about it, or
    /// about a key that looks like it.
    #[must_use]
    pub fn mistaken(&self, key: &str, dropped: &BTreeSet<usize>) -> bool {
        let Value::Map(entries) = &self.root.value else { return true };
        entries.iter().any(|entry| {
            entry.key.text == key
                || (dropped.contains(&entry.value.id) && nearest(&entry.key.text, [key]).is_some())
        })
    }
}

impl Entry {
    /// Where to point for `word` in this entry: at a scalar itself, at the key of anything longer.
    #[must_use]
    pub fn place(&self, word: &str) -> Mark {
        match &self.value.value {
            Value::Scalar { .. } if !self.value.is_null() && self.key.text != word => self.value.at,
            Value::Scalar { .. } | Value::Sequence(_) | Value::Map(_) | Value::Reported => {
                self.key.at
            }
        }
    }
}

impl Node {
    /// True when this node or one below it is in `ids`, or was complained about while parsing.
    fn any(&self, ids: &BTreeSet<usize>) -> bool {
        ids.contains(&self.id)
            || match &self.value {
                Value::Scalar { .. } => false,
                Value::Sequence(items) => items.iter().any(|item| item.any(ids)),
                Value::Map(entries) => entries.iter().any(|entry| entry.value.any(ids)),
                Value::Reported => true,
            }
    }
}
