//! The executable on a small workspace: green as it is, red for each violation planted in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Crates and what each imports.
const CRATES: [(&str, &str, &str); 6] = [
    ("probes", "sandproof-probes", ""),
    ("scenarios", "sandproof-scenarios", "probes"),
    ("backends", "sandproof-backends", "scenarios"),
    ("reports", "sandproof-reports", "scenarios"),
    ("harness", "sandproof", "reports"),
    ("ci", "sandproof-ci", ""),
];

const WORKFLOW: &str = "on: push\npermissions:\n  contents: read\njobs:\n";

/// The real table, for which the small workspace has tests of the right names.
const CONFORMANCE: &str = include_str!("../../backends/CONFORMANCE.md");

/// A function for every name in the table.
fn named_tests() -> String {
    let rows = CONFORMANCE.lines().filter(|line| line.starts_with("| "));
    let names: BTreeSet<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    let functions = names.iter().map(|name| format!("fn {name}() {{}}\n"));
    format!("//! Doc.\n{}", functions.collect::<String>())
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a new folder");
    fs::write(path, text).expect("a new file");
}

/// A workspace in which nothing is to mend.
fn workspace() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a temporary folder");
    let members: Vec<String> = CRATES.iter().map(|(folder, ..)| format!("\"{folder}\"")).collect();
    let members = members.join(", ");
    write(root.path(), "Cargo.toml", &format!("[workspace]\nmembers = [{members}]\n"));
    for (folder, name, import) in CRATES {
        let mut text = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\n");
        if !import.is_empty() {
            text +=
                &format!("\n[dependencies]\nsandproof-{import} = {{ path = \"../{import}\" }}\n");
        }
        write(root.path(), &format!("{folder}/Cargo.toml"), &text);
        write(root.path(), &format!("{folder}/src/lib.rs"), "//! Doc.\n");
    }
    write(root.path(), "backends/CONFORMANCE.md", CONFORMANCE);
    write(root.path(), "backends/src/tests.rs", &named_tests());
    write(root.path(), "scenarios/fs/good.yaml", "schema: 1\nid: fs/good\n");
    write(root.path(), ".github/workflows/ci.yml", WORKFLOW);
    root
}

/// Exit code and stderr of `sandproof-ci CHECK`.
fn run(root: &Path, check: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sandproof-ci"));
    let output = command.arg("--root").arg(root).arg(check).output().expect("it starts");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_good_workspace_is_green() {
    assert_eq!(run(workspace().path(), "all"), (Some(0), String::new()));
}

#[test]
fn every_violation_is_red_in_its_check_and_in_all() {
    let upwards = "[package]\nname = \"sandproof-probes\"\nversion = \"0.1.0\"\n\n[dev-dependencies]\n\
                   sandproof-reports = { path = \"../reports\" }\n";
    let asking = "//! Doc.\n#[cfg(target_os = \"linux\")]\nmod a;\n";
    let unpinned = format!("{WORKFLOW}      - uses: actions/checkout@v6\n");
    let open = CONFORMANCE.replacen("| 3.21 | mended |", "| 3.21 | open |", 1);
    let planted = [
        ("tidy", "reports/src/a.rs", "fn f() {}\n", "no module doc"),
        ("tidy", "scenarios/fs/bad.yaml", "id: fs/other\n", "the path says `fs/bad`"),
        ("floors", "probes/Cargo.toml", upwards, "imports sandproof-reports"),
        ("cfg", "reports/src/a.rs", asking, "reports/src/a.rs:2: `target_os`"),
        ("unsafe", "reports/src/a.rs", "//! Doc.\nunsafe fn f() {}\n", "a.rs:2: `unsafe`"),
        ("conformance", "backends/CONFORMANCE.md", &open, "3.21 is `open`"),
        ("workflows", ".github/workflows/a.yml", &unpinned, "not pinned"),
    ];
    for (check, path, text, words) in planted {
        let root = workspace();
        write(root.path(), path, text);
        for check in [check, "all"] {
            let (code, said) = run(root.path(), check);
            assert_eq!(code, Some(1), "{check}: {said}");
            assert!(said.contains(words), "{check}: {said}");
            assert!(said.ends_with("1 to mend\n"), "{check}: {said}");
        }
    }
}

#[test]
fn a_check_of_nothing_is_an_error() {
    let root = tempfile::tempdir().expect("a temporary folder");
    for check in ["all", "tidy", "floors", "cfg", "unsafe", "workflows"] {
        let (code, said) = run(root.path(), check);
        assert_eq!(code, Some(2), "{check}: {said}");
        assert!(said.starts_with("cannot check: "), "{check}: {said}");
    }
}
