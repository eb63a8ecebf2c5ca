//! Where code asks for its operating system: in `probes`, in `backends`, and where a process is
//! started. Anywhere else, a difference between platforms would hide from whoever ports sandproof.

use std::path::Path;

use crate::files::rust;
use crate::finding::{CheckError, Finding};
use crate::source::{code, has_word};

/// Folders and files that may ask.
const ALLOWED: [&str; 5] = [
    "probes/",
    "backends/",
    "harness/src/supervisor.rs",
    "harness/src/supervisor/",
    "harness/src/victim.rs",
];

/// Words that ask.
const ASKING: [&str; 3] = ["target_os", "target_family", "target_vendor"];

/// Lines that ask and must not.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, CheckError> {
    let sources = rust(root)?;
    let outside = sources.iter().filter(|s| !ALLOWED.iter().any(|place| s.path.starts_with(place)));
    let findings = outside.flat_map(|source| {
        let lines = code(&source.text).into_iter().enumerate();
        lines.filter_map(|(index, line)| {
            let word = ASKING.iter().find(|word| has_word(&line, word))?;
            let what = format!("`{word}` stands outside probes and backends: move it there");
            Some(Finding::at(&source.path, index, what))
        })
    });
    Ok(findings.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    const ASKS: &str = "//! Doc.\n#[cfg(target_os = \"linux\")]\nfn f() {}\n";

    #[test]
    fn asking_is_found_where_it_must_not_be() {
        let root = planted(&[
            ("probes/src/a.rs", ASKS),
            ("backends/src/a.rs", ASKS),
            ("harness/src/supervisor.rs", ASKS),
            ("harness/src/supervisor/tree.rs", ASKS),
            ("reports/src/a.rs", "//! Not code: target_os.\nconst A: &str = \"target_os\";\n"),
        ]);
        assert_eq!(check(root.path()).unwrap(), []);
        for path in ["reports/src/a.rs", "scenarios/src/a.rs", "harness/src/plan.rs", "ci/src/a.rs"]
        {
            let root = planted(&[(path, ASKS)]);
            let what = "`target_os` stands outside probes and backends: move it there";
            assert_eq!(check(root.path()).unwrap(), [Finding::at(path, 1, what)]);
        }
        let macro_call = "//! Doc.\nconst A: bool = cfg!(target_os = \"macos\");\n";
        let root = planted(&[("harness/src/plan.rs", macro_call)]);
        assert_eq!(check(root.path()).unwrap().len(), 1);
    }
}
