//! Floor 2: how a result is recorded, compared and shown. Everything is a function of the journal:
//! nothing here reads a clock, an environment or a terminal.
//!
//! In reading order: a run is a [`Journal`] of one [`Header`], [`Record`]s and a [`Footer`];
//! [`tally`] counts its [`Verdict`]s and decides the exit code; [`render`](render::render) shows it.

pub mod escape;
pub mod journal;
pub mod record;
pub mod render;
#[cfg(test)]
mod sample;
pub mod tally;
pub mod verdict;

pub use journal::{Journal, JournalError, JournalWriter};
pub use record::{Arms, Footer, Header, Reason, Record, SubjectId, Totals};
pub use render::{Format, Options, render};
pub use tally::exit_code;
pub use verdict::{Detail, Verdict};
