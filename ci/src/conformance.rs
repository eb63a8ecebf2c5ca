//! `backends/CONFORMANCE.md` is whole: no statement is missing or left open, and every test it
//! names exists. A test that names a statement stands in the table as well.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::files::rust;
use crate::finding::{CheckError, Finding};

/// The table.
const TABLE: &str = "backends/CONFORMANCE.md";

/// Statements of each section, from the first.
const STATEMENTS: [u32; 10] = [13, 14, 27, 24, 10, 8, 21, 6, 9, 4];

/// How a statement is met.
const WORDS: [&str; 3] = ["kept", "mended", "no test"];

/// How the name of a test about a statement begins.
const MARK: &str = "grok_";

/// One row.
struct Row<'a> {
    line: usize,
    word: &'a str,
    tests: Vec<&'a str>,
    note: &'a str,
}

/// What is missing in the table, and what it names that is not there.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, CheckError> {
    let path = root.join(TABLE);
    let text = std::fs::read_to_string(&path).map_err(CheckError::read(&path))?;
    let (rows, mut findings) = rows(&text);
    for number in statements() {
        if !rows.contains_key(&number) {
            findings.push(Finding::whole(TABLE, format!("statement {number} has no row")));
        }
    }
    let known = tests(root)?;
    findings.extend(rows.iter().flat_map(|(number, row)| wrong(number, row, &known)));
    let named: BTreeSet<&str> = rows.values().flat_map(|row| row.tests.iter().copied()).collect();
    let about_statements = known.iter().filter(|test| test.starts_with(MARK));
    for test in about_statements.filter(|test| !named.contains(test.as_str())) {
        findings.push(Finding::whole(TABLE, format!("test `{test}` stands in no row")));
    }
    Ok(findings)
}

fn statements() -> impl Iterator<Item = String> {
    let sections = (1..).zip(STATEMENTS);
    sections.flat_map(|(section, last)| (1..=last).map(move |one| format!("{section}.{one}")))
}

/// The rows by number; a number that stands there twice is a finding.
fn rows(text: &str) -> (BTreeMap<String, Row<'_>>, Vec<Finding>) {
    let mut rows = BTreeMap::new();
    let mut findings = Vec::new();
    for (line, content) in text.lines().enumerate() {
        let cells: Vec<&str> = content.split('|').map(str::trim).collect();
        let [_, number, word, tests, note, ..] = cells[..] else { continue };
        if !number.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let tests = tests.split('`').skip(1).step_by(2).collect();
        if rows.insert(number.to_owned(), Row { line, word, tests, note }).is_some() {
            findings.push(Finding::at(TABLE, line, format!("{number} stands there twice")));
        }
    }
    (rows, findings)
}

fn wrong(number: &str, row: &Row<'_>, known: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |what: String| findings.push(Finding::at(TABLE, row.line, what));
    if !WORDS.contains(&row.word) {
        find(format!("{number} is `{}`: say {}", row.word, WORDS.join(", ")));
    }
    if row.tests.is_empty() && (row.word != "no test" || row.note.is_empty()) {
        find(format!("{number} names no test and no reason"));
    }
    for test in row.tests.iter().filter(|test| !known.contains(**test)) {
        find(format!("{number} names `{test}`, which is no test"));
    }
    findings
}

/// The names of all functions.
fn tests(root: &Path) -> Result<BTreeSet<String>, CheckError> {
    let mut names = BTreeSet::new();
    for source in rust(root)? {
        for line in source.text.lines() {
            let Some((_, rest)) = line.split_once("fn ") else { continue };
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            names.insert(rest[..end.unwrap_or(rest.len())].to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    /// A table in which every statement is met by one test, with one line put in another's place.
    fn found(number: &str, line: &str) -> Vec<String> {
        let mut table = String::new();
        for one in statements() {
            let row = format!("| {one} | kept | `grok_all` | |\n");
            table.push_str(if one == number { line } else { &row });
        }
        // In two pieces, or this file would be found to hold such a test.
        let code = concat!("//! Doc.\nf", "n grok_all() {}\n");
        let root = planted(&[(TABLE, &table), ("backends/src/a.rs", code)]);
        check(root.path()).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_whole_table_has_no_findings() {
        assert_eq!(found("1.1", "| 1.1 | mended | `grok_all` | so |\n"), Vec::<String>::new());
        assert_eq!(found("1.1", "| 1.1 | no test | | nothing shows |\n"), Vec::<String>::new());
    }

    #[test]
    fn holes_are_found() {
        for (line, wanted) in [
            ("", "statement 3.21 has no row"),
            ("| 3.21 | open | | |\n", "3.21 is `open`"),
            ("| 3.21 | kept | | |\n", "names no test"),
            ("| 3.21 | no test | | |\n", "names no test and no reason"),
            ("| 3.21 | kept | `grok_none` | |\n", "which is no test"),
            ("| 3.20 | kept | `grok_all` | |\n", "stands there twice"),
        ] {
            let found = found("3.21", line);
            assert!(found.iter().any(|finding| finding.contains(wanted)), "{line}: {found:?}");
        }
    }
}
