//! A crate imports only from lower floors. Asked of cargo, since a table in a document rots.

use std::path::Path;

use cargo_metadata::{Metadata, MetadataCommand};

use crate::finding::{CheckError, Finding};

/// Every crate of the workspace, and those it may import.
const FLOORS: [(&str, &[&str]); 6] = [
    ("sandproof-probes", &[]),
    ("sandproof-scenarios", &["sandproof-probes"]),
    ("sandproof-backends", &["sandproof-scenarios", "sandproof-probes"]),
    ("sandproof-reports", &["sandproof-scenarios", "sandproof-probes"]),
    (
        "sandproof",
        &["sandproof-backends", "sandproof-reports", "sandproof-scenarios", "sandproof-probes"],
    ),
    ("sandproof-ci", &[]),
];

/// Imports that go up or sideways, crates that no floor is known for, and floors without a crate.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, CheckError> {
    let metadata =
        MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    Ok(judge(&imports(&metadata)))
}

/// Crates of the workspace with those of the workspace that each imports, for tests and building
/// too.
fn imports(metadata: &Metadata) -> Vec<(String, Vec<String>)> {
    let packages = metadata.workspace_packages();
    let names: Vec<String> = packages.iter().map(|package| package.name.to_string()).collect();
    let of = |package: &&cargo_metadata::Package| {
        let mut imports: Vec<String> = package
            .dependencies
            .iter()
            .map(|dependency| dependency.name.clone())
            .filter(|name| names.contains(name))
            .collect();
        imports.sort();
        imports.dedup();
        (package.name.to_string(), imports)
    };
    packages.iter().map(of).collect()
}

fn judge(crates: &[(String, Vec<String>)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, imports) in crates {
        let Some((_, allowed)) = FLOORS.iter().find(|(known, _)| known == name) else {
            findings.push(Finding::whole(name, "has no floor: add it to ci/src/floors.rs"));
            continue;
        };
        let beyond = imports.iter().filter(|import| !allowed.contains(&import.as_str()));
        findings.extend(beyond.map(|import| {
            Finding::whole(name, format!("imports {import}, which is not on a floor below it"))
        }));
    }
    let absent = FLOORS.iter().filter(|(floor, _)| !crates.iter().any(|(name, _)| name == floor));
    findings.extend(absent.map(|(floor, _)| Finding::whole(floor, "is not in the workspace")));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    /// A workspace with the six crates, in which `from` imports `to` (as a table of its manifest).
    fn workspace(from: &str, table: &str, to: &str) -> Vec<String> {
        let mut files = vec![(
            "Cargo.toml".to_string(),
            "[workspace]\nresolver = \"3\"\nmembers = [\"sand*\"]\n".to_string(),
        )];
        for (name, _) in FLOORS {
            let import = if name == from {
                format!("[{table}]\n{to} = {{ path = \"../{to}\" }}\n")
            } else {
                String::new()
            };
            let package = "[package]\nname = \"NAME\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
            let package = package.replace("NAME", name);
            files.push((format!("{name}/Cargo.toml"), format!("{package}{import}")));
            files.push((format!("{name}/src/lib.rs"), String::new()));
        }
        let files: Vec<_> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let root = planted(&files);
        check(root.path()).unwrap().iter().map(Finding::to_string).collect()
    }

    #[test]
    fn downwards_is_allowed() {
        assert_eq!(workspace("sandproof", "dependencies", "sandproof-probes"), [""; 0]);
        assert_eq!(workspace("sandproof-reports", "dependencies", "sandproof-scenarios"), [""; 0]);
    }

    #[test]
    fn upwards_and_sideways_are_found() {
        for (from, table, to) in [
            ("sandproof-reports", "dependencies", "sandproof-backends"),
            ("sandproof-backends", "dependencies", "sandproof-reports"),
            ("sandproof-probes", "dependencies", "sandproof-scenarios"),
            ("sandproof-scenarios", "dev-dependencies", "sandproof-reports"),
            ("sandproof-ci", "dependencies", "sandproof-probes"),
            ("sandproof-backends", "build-dependencies", "sandproof"),
            ("sandproof-backends", "target.'cfg(windows)'.dependencies", "sandproof-reports"),
        ] {
            let what = format!("{from}: imports {to}, which is not on a floor below it");
            assert_eq!(workspace(from, table, to), [what]);
        }
    }

    #[test]
    fn unknown_and_absent_crates_are_found() {
        let some = [("sandproof-extra".to_string(), Vec::new())];
        let findings = judge(&some);
        assert_eq!(findings.len(), 1 + FLOORS.len());
        assert!(findings[0].to_string().starts_with("sandproof-extra: has no floor"));
    }
}
