//! Writes a journal while the run goes on.

use std::collections::BTreeMap;
use std::io::Write;

use super::{Fault, JournalError, Key, key};
use crate::tally::all_zero;
use crate::{Footer, Header, Record, Totals};

/// Writes a journal, a line at a time, so that a killed run leaves what it had found.
#[derive(Debug)]
pub struct JournalWriter<W: Write> {
    out: W,
    totals: Totals,
    seen: BTreeMap<Key, usize>,
}

impl<W: Write> JournalWriter<W> {
    /// Begins with the header.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(mut out: W, header: &Header) -> Result<JournalWriter<W>, JournalError> {
        put(&mut out, header)?;
        Ok(JournalWriter { out, totals: all_zero(), seen: BTreeMap::new() })
    }

    /// Appends the record of one cell.
    ///
    /// # Errors
    /// It contradicts the format, its cell has a record already, or it cannot be written.
    pub fn record(&mut self, record: &Record) -> Result<(), JournalError> {
        let cell = record.cell();
        let refuse = |fault| Err(JournalError::Record { cell: cell.clone(), fault });
        if let Err(what) = record.check() {
            return refuse(Fault::Shape(what));
        }
        // The header is line 1.
        let line = self.seen.len() + 2;
        if let Some(first) = self.seen.get(&key(record)) {
            return refuse(Fault::Duplicate { cell: cell.clone(), first: *first });
        }
        put(&mut self.out, record)?;
        self.seen.insert(key(record), line);
        *self.totals.entry(record.verdict.word().to_string()).or_insert(0) += 1;
        Ok(())
    }

    /// Ends with the footer, which counts what was written.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn footer(mut self, planned: u64) -> Result<W, JournalError> {
        let footer = Footer { kind: "footer".into(), planned, totals: self.totals };
        put(&mut self.out, &footer)?;
        Ok(self.out)
    }
}

/// One line, in one write, flushed.
fn put<W: Write, T: serde::Serialize>(out: &mut W, line: &T) -> Result<(), JournalError> {
    let mut text = crate::escape::json(&serde_json::to_string(line)?);
    text.push('\n');
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
