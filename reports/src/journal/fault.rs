//! What can be wrong with a journal, and where.

use std::io;
use std::path::PathBuf;

use crate::record::SCHEMA;

/// Why a journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read.
    #[error("cannot read the journal {}: {source}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The text is no journal.
    #[error("journal line {line}: {fault}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        fault: Fault,
    },
    /// A record that must not be written.
    #[error("record of {cell} not written: {fault}")]
    Record {
        /// Name of the cell.
        cell: String,
        /// What is wrong.
        fault: Fault,
    },
    /// The journal cannot be written.
    #[error("cannot write the journal: {0}")]
    Write(#[from] io::Error),
    /// A value that JSON cannot express.
    #[error("cannot write the journal: {0}")]
    Json(#[from] serde_json::Error),
}

/// What is wrong with one line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Fault {
    /// Not JSON, or not these fields.
    #[error("{0}")]
    Shape(String),
    /// JSON that ends too early, as the last line of a killed run may.
    #[error("{0}")]
    Half(String),
    /// Not UTF-8.
    #[error("not UTF-8")]
    NotText,
    /// Neither header, record nor footer.
    #[error("unknown kind `{0}`; header, record and footer are known")]
    Kind(String),
    /// Another version of the format.
    #[error("schema {0} is unknown; this sandproof reads {SCHEMA}")]
    Version(u64),
    /// The first line is no header.
    #[error("a journal begins with a header")]
    HeaderFirst,
    /// A second header.
    #[error("a second header")]
    SecondHeader,
    /// Something stands after the footer.
    #[error("nothing may follow the footer")]
    AfterFooter,
    /// A cell that has a record already.
    #[error("{cell} has a record already, in line {first}")]
    Duplicate {
        /// Name of the cell.
        cell: String,
        /// Line of the first.
        first: usize,
    },
    /// The footer counts otherwise.
    #[error("the footer counts {footer} {word}, the records are {records}")]
    Totals {
        /// Verdict word, or one that is none.
        word: String,
        /// What the footer says.
        footer: u64,
        /// What the records say.
        records: u64,
    },
    /// The footer leaves out a verdict.
    #[error("the footer does not count `{0}`")]
    TotalsWord(&'static str),
    /// More records than cells.
    #[error("the footer plans {planned} cells, there are {records} records")]
    Planned {
        /// What the footer says.
        planned: u64,
        /// How many there are.
        records: u64,
    },
}
