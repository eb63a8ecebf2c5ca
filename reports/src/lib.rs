//! Floor 2: how a result is recorded, compared and shown. Everything is a function of the journal:
//! nothing here reads a clock, an environment or a terminal.
//!
//! In reading order: a run is a [`Journal`] of one [`Header`], [`Record`]s and a [`Footer`];
//! [`tally`] counts its [`Verdict`]s and decides the exit code; [`render()`] shows it;
//! [`compare`] sets two side by side.

pub mod diff;
pub mod escape;
pub mod journal;
mod provenance;
pub mod record;
pub mod render;
#[cfg(test)]
mod sample;
pub mod schema;
pub mod tally;
mod text;
pub mod verdict;
pub mod waive;

pub use diff::{Diff, compare};
pub use journal::{Journal, JournalError, JournalWriter};
pub use record::{Arms, Footer, Header, Reason, Record, SubjectId, Totals};
pub use render::{Format, Options, render};
pub use schema::journal_schema;
pub use tally::exit_code;
pub use verdict::{Detail, Verdict};
