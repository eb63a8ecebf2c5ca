//! The journal of a run: JSON Lines, a header, a record per cell, a footer. Read strictly, because
//! every report trusts it: what is unknown, doubled or does not add up is refused with its line.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sandproof_scenarios::Platform;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::record::SCHEMA;
use crate::tally::{all_zero, totals};
use crate::{Footer, Header, Record, Totals};

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
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    out.write_all(&text)?;
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::sample::{TEXT, journal, record};
    use crate::{Verdict, tally};

    /// The sample without its last line.
    fn unfinished() -> &'static str {
        TEXT.trim_end().rsplit_once('\n').map(|(head, _)| head).unwrap()
    }

    fn complaint(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn written_and_read_again() {
        let journal = journal();
        let mut writer = JournalWriter::new(Vec::new(), &journal.header).unwrap();
        for record in &journal.records {
            writer.record(record).unwrap();
        }
        let bytes = writer.footer(journal.records.len() as u64).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), TEXT);
    }

    #[test]
    fn without_a_footer_it_was_cut_short() {
        let whole = parse(TEXT.as_bytes()).unwrap();
        assert!(!whole.cut_short());
        let cut = parse(unfinished().as_bytes()).unwrap();
        assert!(cut.cut_short());
        assert_eq!(cut.records, whole.records);
    }

    /// Whatever byte a kill strikes, the journal can be read and is red.
    #[test]
    fn a_kill_may_strike_anywhere() {
        let header = TEXT.find('\n').unwrap();
        for end in (header..TEXT.len() - 1).step_by(7) {
            let cut = parse(&TEXT.as_bytes()[..end]).unwrap();
            assert!(cut.cut_short(), "cut at {end}");
            assert_eq!(tally::exit_code(&cut, &[]), 1, "cut at {end}");
        }
    }

    #[rstest]
    #[case::empty("", "line 1: a journal begins with a header")]
    #[case::blank("\n", "line 1: EOF while parsing")]
    #[case::no_header("{\"kind\":\"footer\"}", "line 1: a journal begins with a header")]
    #[case::half_header("{\"kind\":\"head", "line 1: EOF while parsing")]
    #[case::version(
        "{\"kind\":\"header\",\"schema\":2,\"novelty\":1}",
        "line 1: schema 2 is unknown; this sandproof reads 1"
    )]
    #[case::key(
        "{\"kind\":\"header\",\"schema\":1,\"provenance\":{},\"novelty\":1}",
        "line 1: unknown field `novelty`"
    )]
    #[case::kind(
        "{\"kind\":\"header\",\"schema\":1,\"provenance\":{}}\n{\"kind\":\"x\\u001b\"}\n",
        "line 2: unknown kind `x\\x1b`"
    )]
    #[case::text("hello\n", "line 1: expected value, column 1")]
    fn refused(#[case] text: &str, #[case] words: &str) {
        let complaint = complaint(text);
        assert!(complaint.starts_with(&format!("journal {words}")), "{complaint}");
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let error = parse(b"{\"kind\":\"\xff\"}\n").unwrap_err().to_string();
        assert_eq!(error, "journal line 1: not UTF-8");
    }

    #[rstest]
    #[case::verdict("\"verdict\":\"pass\"", "\"verdict\":\"passed\"", "unknown variant `passed`")]
    #[case::missing_key("\"exceeds\":false,", "", "missing field `exceeds`")]
    #[case::double_key(
        "\"exceeds\":false,",
        "\"exceeds\":false,\"exceeds\":false,",
        "duplicate field"
    )]
    #[case::detail("\"detail\":null", "\"detail\":\"escape\"", "a pass has no detail")]
    #[case::reason("\"verdict\":\"pass\"", "\"verdict\":\"skip\"", "a skip needs a reason")]
    #[case::promise("\"promise\":\"enforced\"", "\"promise\":\"kept\"", "promise is `kept`")]
    fn a_bad_record_is_refused_with_its_line(
        #[case] old: &str,
        #[case] new: &str,
        #[case] words: &str,
    ) {
        let complaint = complaint(&TEXT.replacen(old, new, 1));
        assert!(complaint.starts_with("journal line 2: "), "{complaint}");
        assert!(complaint.contains(words), "{complaint}");
    }

    #[test]
    fn a_bad_record_in_the_middle_is_not_a_torn_end() {
        let half = &TEXT[..TEXT.find('\n').unwrap() + 100];
        assert!(complaint(&format!("{half}\n")).starts_with("journal line 2: EOF"));
        let complete = TEXT.lines().nth(1).unwrap().replace("enforced", "kept");
        let odd = format!("{}\n{complete}", TEXT.lines().next().unwrap());
        assert!(complaint(&odd).contains("promise is `kept`"), "whole, though without line feed");
    }

    #[test]
    fn a_cell_has_one_record() {
        let twice = format!("{}\n{}\n", unfinished(), TEXT.lines().nth(3).unwrap());
        assert_eq!(
            complaint(&twice),
            "journal line 23: [confine/workspace] fs/deny-survives-rename/shell has a record \
             already, in line 4"
        );
        let mut writer = JournalWriter::new(Vec::new(), &journal().header).unwrap();
        writer.record(&record("a", Verdict::Pass)).unwrap();
        let error = writer.record(&record("a", Verdict::Fail)).unwrap_err().to_string();
        assert!(error.ends_with("has a record already, in line 2"), "{error}");
    }

    #[rstest]
    #[case::count("\"skip\":4", "\"skip\":3", "counts 3 skip, the records are 4")]
    #[case::word("\"skip\":4,", "", "does not count `skip`")]
    #[case::novelty("\"skip\":4", "\"skip\":4,\"maybe\":0", "counts 0 maybe")]
    #[case::planned("\"planned\":21", "\"planned\":20", "plans 20 cells, there are 21 records")]
    fn a_footer_must_add_up(#[case] old: &str, #[case] new: &str, #[case] words: &str) {
        let complaint = complaint(&TEXT.replacen(old, new, 1));
        assert!(complaint.starts_with("journal line 23: "), "{complaint}");
        assert!(complaint.contains(words), "{complaint}");
    }

    #[test]
    fn nothing_follows_the_footer() {
        let record = TEXT.lines().nth(1).unwrap();
        assert!(complaint(&format!("{TEXT}{record}\n")).contains("nothing may follow the footer"));
        assert!(complaint(&format!("{TEXT}{{\"ki")).contains("line 24: EOF"));
    }

    #[test]
    fn the_writer_refuses_what_the_reader_would() {
        let mut writer = JournalWriter::new(Vec::new(), &journal().header).unwrap();
        let long = Record { evidence: "x".repeat(4097), ..record("a", Verdict::Pass) };
        let error = writer.record(&long).unwrap_err().to_string();
        assert!(error.contains("evidence has 4097 bytes, more than 4096"), "{error}");
    }
}
