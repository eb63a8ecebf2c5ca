//! What a test is, and how it fails.

use crate::world::World;

/// A failure, in words.
pub(crate) type Outcome = Result<(), String>;

/// One test.
#[derive(Clone, Copy)]
pub(crate) struct Test {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&World) -> Outcome,
}

/// Shorthand for tables of tests.
pub(crate) const fn test(name: &'static str, run: fn(&World) -> Outcome) -> Test {
    Test { name, run }
}

/// Fails with `what` unless it holds.
pub(crate) fn ensure(holds: bool, what: &str) -> Outcome {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}
