//! How a failed system call becomes an [`Outcome`]: with the name of the call and its errno.

use crate::Outcome;

/// What a part of an attempt answers: a value, or how the attempt ended.
pub(super) type Tried<T> = Result<T, Outcome>;

/// Names the system call whose failure this would be.
pub(super) trait Named<T> {
    /// The value, or an outcome that names `call`.
    fn named(self, call: &str) -> Tried<T>;
}

impl<T> Named<T> for Result<T, rustix::io::Errno> {
    fn named(self, call: &str) -> Tried<T> {
        self.map_err(|errno| failed(call, errno.raw_os_error()))
    }
}

impl<T> Named<T> for Result<T, nix::errno::Errno> {
    fn named(self, call: &str) -> Tried<T> {
        self.map_err(|errno| failed(call, errno as i32))
    }
}

impl<T> Named<T> for std::io::Result<T> {
    fn named(self, call: &str) -> Tried<T> {
        self.map_err(|error| match error.raw_os_error() {
            Some(number) => failed(call, number),
            None => unavailable(format!("{call}: {error}")),
        })
    }
}

/// The outcome of a call that failed with this errno.
pub(super) fn failed(call: &str, number: i32) -> Outcome {
    Outcome::Errno { call: call.to_owned(), number }
}

/// The outcome of what cannot be tried here.
pub(super) fn unavailable(why: impl Into<String>) -> Outcome {
    Outcome::Unavailable { why: why.into() }
}
