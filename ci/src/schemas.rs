//! Committed schemas equal those that the executable prints: editors read the committed ones.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::finding::{CheckError, Finding};

/// Word of `sandproof schema`, and the file that holds what it prints.
const SCHEMAS: [(&str, &str); 3] = [
    ("scenario", "scenarios/scenario.schema.json"),
    ("manifest", "backends/manifest.schema.json"),
    ("journal", "reports/journal.schema.json"),
];

/// Files that are absent or old. Without an executable, cargo builds and runs it.
pub(crate) fn check(root: &Path, sandproof: Option<&Path>) -> Result<Vec<Finding>, CheckError> {
    let mut findings = Vec::new();
    for (word, path) in SCHEMAS {
        let printed = print(root, sandproof, word)?;
        let committed = fs::read_to_string(root.join(path)).unwrap_or_default();
        findings.extend(compare(word, path, &committed, &printed));
    }
    Ok(findings)
}

fn print(root: &Path, sandproof: Option<&Path>, word: &str) -> Result<String, CheckError> {
    let mut command = match sandproof {
        Some(path) => Command::new(path),
        None => {
            let mut cargo = Command::new("cargo");
            cargo.args(["run", "-q", "-p", "sandproof", "--"]);
            cargo
        }
    };
    command.args(["schema", word]).current_dir(root);
    let shown = format!("{command:?}");
    let fail = |what: String| CheckError::Command { command: shown.clone(), what };
    let output = command.output().map_err(|error| fail(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(fail(format!("{}: {}", output.status, said.trim())));
    }
    String::from_utf8(output.stdout).map_err(|error| fail(error.to_string()))
}

fn compare(word: &str, path: &str, committed: &str, printed: &str) -> Option<Finding> {
    let mend = format!("`sandproof schema {word} > {path}`");
    if committed == printed {
        // Nothing printed and nothing committed would be equal as well.
        let empty = printed.trim().is_empty();
        return empty.then(|| Finding::whole(path, format!("is empty: {mend}")));
    }
    if committed.is_empty() {
        return Some(Finding::whole(path, format!("is absent: {mend}")));
    }
    let same = committed.lines().zip(printed.lines()).take_while(|(old, new)| old == new).count();
    Some(Finding::at(path, same, format!("is not what the executable prints: {mend}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    /// An executable that prints the word it is asked for, in a workspace with these schemas.
    fn found(script: &str, files: &[(&str, &str)]) -> Result<Vec<String>, CheckError> {
        let root = planted(files);
        let fake = root.path().join("fake");
        // Written by a child: a file that this process wrote may still be open for writing in
        // a child of another test, and could not be executed then.
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\" && chmod 755 \"$2\"";
        let status = Command::new("sh").args(["-c", write, "sh", script]).arg(&fake).status();
        assert!(status.expect("a shell").success());
        let findings = check(root.path(), Some(&fake))?;
        Ok(findings.iter().map(Finding::to_string).collect())
    }

    const GOOD: [(&str, &str); 3] = [
        ("scenarios/scenario.schema.json", "{\nscenario\n"),
        ("backends/manifest.schema.json", "{\nmanifest\n"),
        ("reports/journal.schema.json", "{\njournal\n"),
    ];

    const PRINTS: &str = "echo {; echo $2";

    #[test]
    fn equal_schemas_pass() {
        assert_eq!(found(PRINTS, &GOOD).unwrap(), [""; 0]);
    }

    #[test]
    fn old_and_absent_schemas_are_found() {
        let files = [GOOD[0], ("reports/journal.schema.json", "{\nold\n")];
        let mend = |word, path| format!("`sandproof schema {word} > {path}`");
        assert_eq!(
            found(PRINTS, &files).unwrap(),
            [
                format!(
                    "backends/manifest.schema.json: is absent: {}",
                    mend("manifest", "backends/manifest.schema.json")
                ),
                format!(
                    "reports/journal.schema.json:2: is not what the executable prints: {}",
                    mend("journal", "reports/journal.schema.json")
                ),
            ]
        );
    }

    #[test]
    fn nothing_is_no_schema() {
        let empty = GOOD.map(|(path, _)| (path, ""));
        assert_eq!(found("exit 0", &empty).unwrap().len(), 3);
    }

    #[test]
    fn an_executable_that_fails_is_an_error() {
        let error = found("echo broken >&2; exit 3", &GOOD).unwrap_err().to_string();
        assert!(error.contains("broken") && error.contains("exit status: 3"), "{error}");
    }
}
