//! The journal of a run: JSON Lines, a header, a record per cell, a footer. Read strictly, because
//! every report trusts it: what is unknown, doubled or does not add up is refused with its line.

use std::collections::BTreeMap;
use std::path::Path;

use sandproof_scenarios::Platform;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::record::SCHEMA;
use crate::tally::{all_zero, totals};
use crate::{Footer, Header, Record, Totals};

mod fault;
#[cfg(test)]
mod tests;
mod writer;

pub use fault::{Fault, JournalError};
pub use writer::JournalWriter;

/// A run as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    /// What was run, on what.
    pub header: Header,
    /// One for each cell, in the order of the run.
    pub records: Vec<Record>,
    /// Absent when the run was cut short.
    pub footer: Option<Footer>,
}

/// What makes a cell one of its kind.
type Key = (String, String, String, String, Platform);

fn key(record: &Record) -> Key {
    let Record { id, route, profile, backend, platform, .. } = record;
    (id.clone(), route.clone(), profile.clone(), backend.clone(), *platform)
}

impl Journal {
    /// The journal of a run that came to its end.
    #[must_use]
    pub fn complete(header: Header, records: Vec<Record>, planned: u64) -> Journal {
        let totals = totals(&records);
        Journal { header, records, footer: Some(Footer { kind: "footer".into(), planned, totals }) }
    }

    /// True when the run did not come to its end; nobody knows what it would have found.
    #[must_use]
    pub fn cut_short(&self) -> bool {
        self.footer.is_none()
    }

    /// Planned cells that have no record.
    #[must_use]
    pub fn unrecorded(&self) -> u64 {
        let planned = self.footer.as_ref().map_or(0, |footer| footer.planned);
        planned.saturating_sub(self.records.len() as u64)
    }
}

/// Reads the journal in this file.
///
/// # Errors
/// The file cannot be read, or [`parse`] refuses it.
pub fn read(path: &Path) -> Result<Journal, JournalError> {
    let bytes = std::fs::read(path)
        .map_err(|source| JournalError::Read { path: path.to_path_buf(), source })?;
    parse(&bytes)
}

/// Reads a journal. One without a footer was cut short; the half line that a killed run may leave
/// at its end is left out. Everything else that is odd is refused.
///
/// # Errors
/// The first line that is wrong, and how.
pub fn parse(bytes: &[u8]) -> Result<Journal, JournalError> {
    let mut reader = Reader::default();
    let mut rest = bytes;
    let mut line = 0;
    while !rest.is_empty() {
        line += 1;
        let end = rest.iter().position(|b| *b == b'\n');
        let (text, after) = end.map_or((rest, &[][..]), |at| (&rest[..at], &rest[at + 1..]));
        rest = after;
        match reader.line(text, line) {
            Ok(()) => {}
            Err(Fault::Half(_)) if end.is_none() && reader.tearable() => break,
            Err(fault) => return Err(JournalError::Line { line, fault }),
        }
    }
    reader.finish()
}

/// What has been read so far.
#[derive(Default)]
struct Reader {
    header: Option<Header>,
    records: Vec<Record>,
    seen: BTreeMap<Key, usize>,
    footer: Option<Footer>,
}

/// The part that every line has.
#[derive(Deserialize)]
struct Kind {
    kind: String,
    schema: Option<u64>,
}

impl Reader {
    /// True where a half line can be the end of a killed run.
    fn tearable(&self) -> bool {
        self.header.is_some() && self.footer.is_none()
    }

    fn line(&mut self, bytes: &[u8], number: usize) -> Result<(), Fault> {
        let text = std::str::from_utf8(bytes).map_err(|error| match error.error_len() {
            None => Fault::Half("the line ends within a character".into()),
            Some(_) => Fault::NotText,
        })?;
        let Kind { kind, schema } = typed(text)?;
        match kind.as_str() {
            _ if self.footer.is_some() => Err(Fault::AfterFooter),
            "header" => self.header(text, schema),
            _ if self.header.is_none() => Err(Fault::HeaderFirst),
            "record" => self.record(typed(text)?, number),
            "footer" => self.footer(typed(text)?),
            _ => Err(Fault::Kind(crate::escape::inline(&kind))),
        }
    }

    fn header(&mut self, text: &str, schema: Option<u64>) -> Result<(), Fault> {
        if self.header.is_some() {
            return Err(Fault::SecondHeader);
        }
        if let Some(version) = schema
            && version != u64::from(SCHEMA)
        {
            // Before the fields: another version may have others.
            return Err(Fault::Version(version));
        }
        self.header = Some(typed(text)?);
        Ok(())
    }

    fn record(&mut self, record: Record, number: usize) -> Result<(), Fault> {
        record.check().map_err(Fault::Shape)?;
        if let Some(first) = self.seen.insert(key(&record), number) {
            return Err(Fault::Duplicate { cell: crate::escape::inline(&record.cell()), first });
        }
        self.records.push(record);
        Ok(())
    }

    fn footer(&mut self, footer: Footer) -> Result<(), Fault> {
        agree(&footer.totals, &totals(&self.records))?;
        let records = self.records.len() as u64;
        if footer.planned < records {
            return Err(Fault::Planned { planned: footer.planned, records });
        }
        self.footer = Some(footer);
        Ok(())
    }

    fn finish(self) -> Result<Journal, JournalError> {
        let Reader { header, records, footer, .. } = self;
        let header = header.ok_or(JournalError::Line { line: 1, fault: Fault::HeaderFirst })?;
        Ok(Journal { header, records, footer })
    }
}

/// The line as one of our types; serde's own words say what is wrong and in which column.
fn typed<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|error| {
        // Its line number is always 1 here: a journal line is all the text it sees.
        let words = error.to_string().replace(" at line 1 column ", ", column ");
        let words = crate::escape::inline(&words);
        if error.is_eof() { Fault::Half(words) } else { Fault::Shape(words) }
    })
}

/// Refuses totals that are not those of the records, or lack a word.
fn agree(footer: &Totals, records: &Totals) -> Result<(), Fault> {
    for verdict in crate::Verdict::ALL {
        if !footer.contains_key(verdict.word()) {
            return Err(Fault::TotalsWord(verdict.word()));
        }
    }
    for (word, count) in footer {
        let records = records.get(word).copied().unwrap_or(0);
        if *count != records || !all_zero().contains_key(word) {
            let word = crate::escape::inline(word);
            return Err(Fault::Totals { word, footer: *count, records });
        }
    }
    Ok(())
}
