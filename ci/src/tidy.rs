//! Small rules about files that no compiler knows.

use std::path::Path;

use crate::files::{Source, all};
use crate::finding::{CheckError, Finding};
use crate::source::code;
use crate::{machine, scenario};

/// Lines of a Rust file at most: beyond, it holds more than one idea.
const LONGEST: usize = 600;

/// Endings of files that people write; spaces in recorded output are not ours.
const WRITTEN: [&str; 7] = [".rs", ".toml", ".yaml", ".yml", ".md", ".sh", "/run"];

/// Marks of code that is not finished, and what to do instead. Put together here, so that this
/// file does not find itself.
const UNFINISHED: [(&str, &str); 4] = [
    (concat!("to", "do!("), "write it, or return an error that says what is missing"),
    (concat!("unimpl", "emented!("), "write it, or return an error that says what is missing"),
    (
        concat!("#[ig", "nore"),
        "a test that does not run proves nothing: plan a skip with its reason",
    ),
    (concat!("should", "_panic"), "assert the error instead"),
];

/// Every rule on every file.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, CheckError> {
    let sources = all(root)?;
    if !sources.iter().any(Source::is_rust) {
        return Err(CheckError::Nothing { root: root.to_path_buf(), what: "Rust file" });
    }
    let machine = machine::Paths::of(root);
    let mut findings = Vec::new();
    for source in &sources {
        if source.is_rust() {
            findings.extend(rust(source));
        }
        if WRITTEN.iter().any(|ending| source.path.ends_with(ending)) {
            findings.extend(spaces(source));
        }
        findings.extend(machine.find(source));
    }
    findings.extend(scenario::check(&sources));
    Ok(findings)
}

fn rust(source: &Source) -> Vec<Finding> {
    let Source { path, text } = source;
    let mut findings = Vec::new();
    if !text.starts_with("//!") {
        let what = "begins with no module doc: say in `//!` what the file is for";
        findings.push(Finding::at(path, 0, what));
    }
    let lines = text.lines().count();
    if lines > LONGEST {
        let what = format!("has {lines} lines, more than {LONGEST}: divide it by ideas");
        findings.push(Finding::whole(path, what));
    }
    for (index, line) in code(text).iter().enumerate() {
        for (mark, advice) in UNFINISHED {
            if line.contains(mark) {
                findings.push(Finding::at(path, index, format!("`{mark}`: {advice}")));
            }
        }
    }
    findings
}

fn spaces(source: &Source) -> Vec<Finding> {
    let Source { path, text } = source;
    let trailing = text.lines().enumerate().filter(|(_, line)| line.trim_end() != *line);
    let mut findings: Vec<Finding> =
        trailing.map(|(index, _)| Finding::at(path, index, "ends with a space")).collect();
    if !text.is_empty() && (!text.ends_with('\n') || text.ends_with("\n\n")) {
        findings.push(Finding::whole(path, "must end with one line feed"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    const GOOD: (&str, &str) = ("probes/src/lib.rs", "//! Good.\n");

    /// What is found beside good files, without paths of this machine.
    fn found(path: &str, text: &str) -> Vec<String> {
        let scenario = ("scenarios/fs/good.yaml", "schema: 1\nid: fs/good\n");
        let root = planted(&[GOOD, scenario, (path, text)]);
        check(root.path()).unwrap().iter().map(Finding::to_string).collect()
    }

    #[test]
    fn good_files_pass() {
        assert_eq!(found("a/src/b.rs", "//! Doc.\nfn f() {} // to do!\n"), [""; 0]);
        assert_eq!(found("a/golden.snap", "space \n\n"), [""; 0]);
    }

    #[test]
    fn a_file_without_doc() {
        let found = found("a/src/b.rs", "fn f() {}\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a/src/b.rs:1: begins with no module doc"), "{found:?}");
    }

    #[test]
    fn a_long_file() {
        let text = |lines| "//! Doc.\n".repeat(lines);
        assert_eq!(found("a/src/b.rs", &text(600)), [""; 0]);
        let found = found("a/src/b.rs", &text(601));
        assert_eq!(found, ["a/src/b.rs: has 601 lines, more than 600: divide it by ideas"]);
    }

    #[test]
    fn unfinished_code() {
        for (mark, _) in UNFINISHED {
            let found = found("a/src/b.rs", &format!("//! Doc.\nfn f() {{ {mark}) }}\n"));
            assert_eq!(found.len(), 1, "{mark}");
            assert!(found[0].starts_with(&format!("a/src/b.rs:2: `{mark}`")), "{found:?}");
        }
    }

    #[test]
    fn spaces_at_ends() {
        assert_eq!(found("a.md", "one \ntwo\n"), ["a.md:1: ends with a space"]);
        assert_eq!(found("a.yml", "one\t\n"), ["a.yml:1: ends with a space"]);
        assert_eq!(found("a.md", "one"), ["a.md: must end with one line feed"]);
        assert_eq!(found("a.md", "one\n\n"), ["a.md: must end with one line feed"]);
    }

    #[test]
    fn an_empty_folder_is_an_error() {
        assert!(matches!(check(planted(&[]).path()), Err(CheckError::Nothing { .. })));
    }
}
