//! The rules of the grammar that types cannot say, told all at once and each at its place.

use std::collections::BTreeSet;

use crate::complaint::{Fault, nearest, short};
use crate::file::ScenarioFile;
use crate::yaml::{Seg, Tree};

mod expectation;
mod given;
mod head;
mod policy;
mod steps;

pub(crate) use expectation::merge;

/// A path into the file, from keys and indices.
macro_rules! place {
    ($($seg:expr),* $(,)?) => { [$($crate::yaml::Seg::from($seg)),*] };
}
pub(crate) use place;

/// Collects faults; knows where everything stands and what was not decoded.
pub(crate) struct Check<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) dropped: &'a BTreeSet<usize>,
    pub(crate) faults: Vec<Fault>,
}

impl Check<'_> {
    /// Complains about `word` at `path`.
    pub(crate) fn wrong(&mut self, path: &[Seg], word: &str, message: impl Into<String>) {
        let at = self.tree.locate(path, word, self.dropped);
        self.faults.push(Fault::new(at, message, short(word)));
    }

    /// Complains about a word that is not among `known`.
    pub(crate) fn unknown<'k>(
        &mut self,
        path: &[Seg],
        word: &str,
        message: impl Into<String>,
        known: impl IntoIterator<Item = &'k str>,
    ) {
        self.wrong(path, word, message);
        if let Some(fault) = self.faults.last_mut() {
            fault.near = nearest(word, known).map(str::to_owned);
        }
    }

    /// True when something at or below this path was left out, so that what is missing there
    /// cannot be told from what was wrong there.
    pub(crate) fn tainted(&self, path: &[Seg]) -> bool {
        self.tree.tainted(path, self.dropped)
    }

    /// True when a missing top-level key has been complained about already.
    pub(crate) fn mistaken(&self, key: &str) -> bool {
        self.tree.mistaken(key, self.dropped)
    }

    /// True when a value was written at this path, wrong or not.
    pub(crate) fn written(&self, path: &[Seg]) -> bool {
        self.tree.holds(path, self.dropped)
    }
}

/// Checks a decoded file.
pub(crate) fn check(file: &ScenarioFile, id: Option<&str>, check: &mut Check<'_>) {
    head::check(file, id, check);
    if let Some(policy) = &file.policy {
        policy::check(policy, check);
    }
    let world = given::check(file, check);
    steps::check(file, &world, check);
    expectation::check(file, check);
}

/// Complains about every entry that equals an earlier one.
fn no_twice<T: PartialEq + std::fmt::Display>(list: &[T], base: &[Seg], check: &mut Check<'_>) {
    for (index, entry) in list.iter().enumerate() {
        if list[..index].contains(entry) {
            let mut path = base.to_vec();
            path.push(index.into());
            let word = entry.to_string();
            check.wrong(&path, &word, format!("`{}` is listed twice", short(&word)));
        }
    }
}
