//! Floor 2: how a result is recorded, compared and shown. Everything is a function of the journal.

pub mod record;
pub mod verdict;

pub use record::{Arms, Footer, Header, Reason, Record, SubjectId, Totals};
pub use verdict::{Detail, Verdict};
