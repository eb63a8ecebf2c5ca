//! What a test is, and how it fails.

use crate::world::{User, World};

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

/// A table of tests, each under the name of its function.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        vec![$($crate::check::test(stringify!($name), $name)),*]
    };
}
pub(crate) use tests;

/// Fails with `what` unless it holds.
pub(crate) fn ensure(holds: bool, what: &str) -> Outcome {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// Whether this user can have no sandbox here at all: for want of Landlock, seccomp or namespaces.
/// Any other refusal is for the tests to find.
pub(crate) fn host_cannot(user: &User) -> bool {
    let ran = World::new(user).and_then(|world| world.confined(&[], "true"));
    let lacks = ["no Landlock", "make namespaces", "cannot be filtered"];
    ran.is_ok_and(|ran| ran.status == 125 && lacks.iter().any(|lack| ran.err.contains(lack)))
}

/// A host that cannot enforce the policy refuses, and does not run the command.
pub(crate) fn refuses(world: &World) -> Outcome {
    world.refused(&[], "refused")
}
