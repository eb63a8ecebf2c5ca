//! One journal, every report of it: golden files under `tests/golden`.

use std::collections::BTreeMap;
use std::path::Path;

use sandproof_reports::{Format, Journal, Options, Reason, Verdict, compare, journal, render};
use serde_json::json;

fn golden() -> Journal {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/journal.jsonl");
    journal::read(&path).expect("the golden journal can be read")
}

fn shown(journal: &Journal, format: Format) -> String {
    render(journal, format, &Options::default()).expect("every journal can be shown")
}

/// Compares with `tests/golden/NAME.snap`.
fn check(name: &str, text: &str) {
    let settings = {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("golden");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings
    };
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn golden_reports() {
    for format in Format::ALL {
        check(format.name(), &shown(&golden(), format));
    }
}

#[test]
fn golden_difference() {
    let (old, mut new) = (golden(), golden());
    new.header.provenance.insert("kernel".into(), json!("6.19.1"));
    let [first, .., last] = &mut new.records[..4] else { panic!("the golden journal has more") };
    std::mem::swap(&mut first.verdict, &mut last.verdict);
    std::mem::swap(&mut first.detail, &mut last.detail);
    std::mem::swap(&mut first.reason, &mut last.reason);
    new.records[6].verdict = Verdict::Skip;
    new.records[6].reason = Some(Reason::new("tool-missing", "the program sh is not on PATH"));
    new.records[20].route = "late".into();
    check("diff", &compare(&old, &new).render(false));
}

#[test]
fn golden_alarms() {
    let mut journal = golden();
    journal.records.retain(|record| record.verdict == Verdict::Skip);
    journal.footer = None;
    let options = Options { required: vec!["x32".into(), "bwrap".into()], ..Options::default() };
    for format in [Format::Terminal, Format::Junit, Format::Markdown] {
        let text = render(&journal, format, &options).unwrap();
        check(&format!("alarms-{}", format.name()), &text);
    }
}

#[test]
fn a_run_cut_short_says_so_everywhere() {
    let whole = golden();
    let cut = Journal { footer: None, ..whole.clone() };
    for format in Format::ALL {
        let words = ["cut short", "cut-short"].map(|words| shown(&cut, format).contains(words));
        assert!(words.contains(&true), "{}", format.name());
        assert!(!shown(&whole, format).contains("cut"), "{}", format.name());
    }
}

#[test]
fn cells_without_a_record_are_told_everywhere() {
    let mut journal = golden();
    journal.footer.as_mut().unwrap().planned = 30;
    for format in [Format::Terminal, Format::Junit, Format::Markdown] {
        assert!(shown(&journal, format).contains("planned cells without a record: 9"));
    }
    assert!(shown(&journal, Format::Json).contains("\"planned\":30"));
}

/// What differs between two equal runs stands in `timing`, and only json repeats that.
#[test]
fn timing_changes_no_report_for_eyes() {
    let mut later = golden();
    for record in &mut later.records {
        record.timing = BTreeMap::from([("control-ms".into(), json!(99999))]);
    }
    for format in [Format::Terminal, Format::Junit, Format::Markdown] {
        assert_eq!(shown(&golden(), format), shown(&later, format), "{}", format.name());
    }
    let json = |journal: &Journal| {
        let mut report: serde_json::Value =
            serde_json::from_str(&shown(journal, Format::Json)).unwrap();
        for record in report["records"].as_array_mut().unwrap() {
            record["timing"].take();
        }
        report
    };
    assert_eq!(json(&golden()), json(&later));
}

#[test]
fn the_json_report_holds_the_records_whole() {
    let report: serde_json::Value = serde_json::from_str(&shown(&golden(), Format::Json)).unwrap();
    let keys: Vec<&String> = report.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["provenance", "records", "schema", "totals"]);
    assert_eq!(report["records"], serde_json::to_value(golden().records).unwrap());
    assert_eq!(report["totals"], serde_json::to_value(golden().footer.unwrap().totals).unwrap());
}

#[test]
fn terminal_lines_fit() {
    let text = shown(&golden(), Format::Terminal);
    let body = text.trim_end().rsplit_once('\n').unwrap().0;
    let long: Vec<&str> = body.lines().filter(|line| line.chars().count() > 100).collect();
    assert_eq!(long, [] as [&str; 0], "all but the last line, which must stay one");
}

#[test]
fn colors_change_no_letter() {
    let options = Options { color: true, ..Options::default() };
    let colored = render(&golden(), Format::Terminal, &options).unwrap();
    assert!(colored.contains("\x1b[31;1mfail(escape)"));
    assert!(colored.contains("\x1b[32mpass"));
    let mut plain = String::new();
    for (index, piece) in colored.split('\x1b').enumerate() {
        plain += if index == 0 { piece } else { piece.split_once('m').unwrap().1 };
    }
    assert_eq!(plain, shown(&golden(), Format::Terminal));
}

#[test]
fn formats_are_known_by_name() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    let error = "xml".parse::<Format>().unwrap_err();
    assert_eq!(error, "`xml` is no report format; known: terminal, json, junit, markdown");
}
