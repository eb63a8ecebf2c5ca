//! What is read, what is refused, and with which words.

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
#[case::double_key("\"exceeds\":false,", "\"exceeds\":false,\"exceeds\":false,", "duplicate field")]
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
