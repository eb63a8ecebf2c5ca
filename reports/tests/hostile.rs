//! Whatever a subject, a scenario or a manifest puts into a record, no report breaks: it shows the
//! same lines, rows and elements as for harmless text.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use quick_junit::Report;
use sandproof_reports::record::EVIDENCE_LIMIT;
use sandproof_reports::{
    Format, Journal, Options, Reason, Record, SubjectId, escape, journal, render,
};
use serde_json::{Value, json};

static GOLDEN: LazyLock<Journal> = LazyLock::new(|| {
    let text = include_str!("golden/journal.jsonl");
    journal::parse(text.as_bytes()).expect("the golden journal can be read")
});

/// The golden journal with `text` wherever a record or the header has free text.
fn infested(text: &str) -> Journal {
    let mut journal = GOLDEN.clone();
    journal.header.provenance = BTreeMap::from([
        ("kernel".to_string(), Value::from(text)),
        ("lsms".to_string(), json!([text, text])),
        ("subjects".to_string(), json!({ "confine": { "version": text } })),
    ]);
    for record in &mut journal.records {
        infest(record, text);
    }
    journal
}

/// Ids and names stay apart by their old names, so that rows can be counted.
fn infest(record: &mut Record, text: &str) {
    record.id += text;
    record.route += text;
    record.profile += text;
    record.backend += text;
    record.title = text.to_string();
    record.claim = text.to_string();
    record.user = text.to_string();
    record.layer = Some(text.to_string());
    record.waiver = Some(text.to_string());
    record.simulated = Some(text.to_string());
    record.arms.control = text.to_string();
    record.arms.subject = text.to_string();
    record.arms.twin = Some(text.to_string());
    record.evidence = escape::evidence(format!("{text}\nend").as_bytes());
    record.subject =
        Some(SubjectId { name: text.into(), version: text.into(), sha256: text.into() });
    let verdict_needs_one = record.reason.is_some();
    let reason = Reason::new(text, text).mended_by(text).lacking(text);
    record.reason = verdict_needs_one.then_some(reason);
}

fn shown(text: &str, format: Format) -> String {
    render(&infested(text), format, &Options::default()).expect("every journal can be shown")
}

/// Any text, rich in what means something to some format.
fn hostile() -> impl Strategy<Value = String> {
    let morsel = prop_oneof![
        any::<char>().prop_map(String::from),
        prop::sample::select(
            &[
                "\x1b[2J",
                "\x1b]0;x\x07",
                "\r",
                "\n",
                "\u{9b}1A",
                "\u{202e}",
                "\u{2028}",
                "\0",
                "]]>",
                "</failure>",
                "<!--",
                "&amp;",
                "&#10;",
                "\"",
                "'",
                "|",
                "\\",
                "\\|",
                "`",
                "```\n",
                "~~~",
                "# x",
                "\n\n## x",
                "<script>",
                "[x](y)",
                "**",
                "__",
                "- ",
                "1. ",
                "red: ",
                "green\n",
                "a long word and another ",
            ][..]
        )
        .prop_map(String::from),
    ];
    prop::collection::vec(morsel, 0..12).prop_map(|morsels| morsels.concat())
}

/// Lines outside fences, without escaped characters, reduced to what is markup.
fn markup(markdown: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open: Option<String> = None;
    for line in markdown.lines() {
        let ticks: String = line.trim_start().chars().take_while(|c| *c == '`').collect();
        match &open {
            Some(fence) if line.trim() == fence => open = None,
            Some(_) => continue,
            None if ticks.len() >= 3 => open = Some(ticks),
            None => {}
        }
        lines.push(bare_markup(line.trim_start_matches([' ', '`'])));
    }
    assert_eq!(open, None, "a fence stays open");
    lines
}

fn bare_markup(line: &str) -> String {
    let mut bare = String::new();
    let mut letters = line.chars();
    while let Some(c) = letters.next() {
        match c {
            '\\' => {
                letters.next();
            }
            _ if "`*_{}[]<>#~|&!$".contains(c) => bare.push(c),
            _ => {}
        }
    }
    bare
}

/// Number and verdicts of the cases of each suite.
fn skeleton(xml: &str) -> Vec<(usize, usize, usize)> {
    let report = Report::deserialize_from_str(xml).expect("the report is XML");
    report.test_suites.iter().map(|suite| (suite.tests, suite.failures, suite.skipped)).collect()
}

/// The lines a terminal shows at its margin, which are those of the report itself.
fn at_margin(text: &str) -> usize {
    text.lines().filter(|line| !line.starts_with(' ')).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn terminal(text in hostile()) {
        let report = shown(&text, Format::Terminal);
        for line in report.lines() {
            prop_assert_eq!(&escape::inline(line), line, "nothing moves a cursor");
        }
        prop_assert_eq!(at_margin(&report), at_margin(&shown("x", Format::Terminal)));
    }

    #[test]
    fn markdown(text in hostile()) {
        let report = shown(&text, Format::Markdown);
        prop_assert_eq!(markup(&report), markup(&shown("x", Format::Markdown)));
    }

    #[test]
    fn junit(text in hostile()) {
        let report = shown(&text, Format::Junit);
        prop_assert_eq!(skeleton(&report), skeleton(&shown("x", Format::Junit)));
        let parsed = Report::deserialize_from_str(&report).unwrap();
        let case = &parsed.test_suites[0].test_cases[0];
        let title = case.properties.iter().find(|property| property.name.as_str() == "title");
        prop_assert_eq!(title.unwrap().value.as_str(), escape::inline(&text), "nothing is lost");
    }

    #[test]
    fn json(text in hostile()) {
        let report = shown(&text, Format::Json);
        for line in report.lines() {
            prop_assert_eq!(&escape::inline(line), line);
        }
        let parsed: Value = serde_json::from_str(&report).unwrap();
        prop_assert_eq!(&parsed["records"], &serde_json::to_value(infested(&text).records).unwrap());
    }

    /// What is written is read again, letter by letter.
    #[test]
    fn journal_lines(text in hostile()) {
        let journal = infested(&text);
        let mut writer = journal::JournalWriter::new(Vec::new(), &journal.header).unwrap();
        for record in &journal.records {
            writer.record(record).unwrap();
        }
        let bytes = writer.footer(journal.records.len() as u64).unwrap();
        prop_assert_eq!(journal::parse(&bytes).unwrap(), journal);
    }
}

#[test]
fn evidence_of_four_kibibytes_is_shown_to_its_end() {
    let mut journal = infested("x");
    let evidence = format!("{}END", "<|`".repeat(2000));
    journal.records[3].evidence = escape::evidence(&evidence.as_bytes()[evidence.len() - 4000..]);
    assert!(journal.records[3].evidence.len() < EVIDENCE_LIMIT);
    for format in [Format::Terminal, Format::Markdown, Format::Junit] {
        let report = render(&journal, format, &Options::default()).unwrap();
        assert!(report.contains("END"), "{}", format.name());
    }
}
