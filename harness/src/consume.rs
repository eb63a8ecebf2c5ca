//! [`Consumer`]: takes the engine's events, keeps the records in plan order, writes the journal.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use sandproof_reports::journal::{Journal, JournalError, JournalWriter};
use sandproof_reports::{Header, Record};

use crate::engine::{Absent, Event};
use crate::progress::Progress;

/// Changes all records at the end, as waivers do: one may cover several cells.
pub type Settle = Box<dyn Fn(Vec<Record>) -> Vec<Record>>;

/// Takes events.
#[expect(missing_debug_implementations, reason = "it holds a closure")]
pub struct Consumer {
    journal: Option<JournalWriter<Box<dyn Write>>>,
    file: Option<Box<dyn Write>>,
    header: Option<Header>,
    records: Vec<Record>,
    done: Vec<bool>,
    written: usize,
    /// Backends that could not be started, and required things that are not there.
    pub absent: Vec<Absent>,
    settle: Option<Settle>,
    progress: Progress,
    error: Option<JournalError>,
}

impl Consumer {
    /// Writes the journal to this file, if any.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(journal: Option<&Path>, settle: Option<Settle>) -> io::Result<Self> {
        let file = match journal {
            Some(path) => Some(Box::new(BufWriter::new(own(path)?)) as Box<dyn Write>),
            None => None,
        };
        Ok(Self {
            journal: None,
            file,
            header: None,
            records: Vec::new(),
            done: Vec::new(),
            written: 0,
            absent: Vec::new(),
            settle,
            progress: Progress::new(),
            error: None,
        })
    }

    /// Takes one event.
    pub fn take(&mut self, event: Event) {
        match event {
            Event::Planned { header, cells, not_ready } => self.planned(header, cells, not_ready),
            Event::Record(place, record) => {
                if let Some(slot) = self.records.get_mut(place) {
                    *slot = *record;
                    self.done[place] = true;
                    self.progress.record(slot);
                    // With waivers a verdict is known only when all are.
                    if self.settle.is_none() {
                        self.write_ready();
                    }
                }
            }
            Event::Note(text) => self.progress.note(&text),
        }
    }

    /// Ends: what has no record stays missing. Answers the whole journal.
    ///
    /// # Errors
    /// The journal file could not be written.
    pub fn finish(mut self) -> Result<(Option<Journal>, Vec<Absent>), JournalError> {
        self.progress.finish();
        self.done.fill(true);
        if let Some(settle) = self.settle.take() {
            self.records = settle(std::mem::take(&mut self.records));
        }
        self.write_ready();
        let planned = self.records.len() as u64;
        if let Some(error) = self.error {
            return Err(error);
        }
        if let Some(journal) = self.journal {
            journal.footer(planned)?;
        }
        let journal = self.header.map(|header| Journal::complete(header, self.records, planned));
        Ok((journal, self.absent))
    }

    fn planned(&mut self, header: Header, cells: Vec<Record>, absent: Vec<Absent>) {
        if let Some(file) = self.file.take() {
            match JournalWriter::new(file, &header) {
                Ok(writer) => self.journal = Some(writer),
                Err(error) => self.error = Some(error),
            }
        }
        self.progress.begin(cells.len());
        self.done = vec![false; cells.len()];
        self.records = cells;
        self.header = Some(header);
        self.absent = absent;
    }

    /// Writes the records that are next in order.
    fn write_ready(&mut self) {
        while self.written < self.records.len() && self.done[self.written] {
            if let Some(journal) = &mut self.journal
                && let Err(error) = journal.record(&self.records[self.written])
            {
                self.error.get_or_insert(error);
            }
            self.written += 1;
        }
    }
}

/// An empty file for this run alone: what another run is writing is not touched.
fn own(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let what = "another run is writing it; name another file";
            return Err(io::Error::new(ErrorKind::WouldBlock, what));
        }
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // A pipe or /dev/stdout has no length.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}
