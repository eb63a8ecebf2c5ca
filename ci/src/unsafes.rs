//! Unsafe code stands in few modules, which are read with that in mind. The compiler denies it
//! everywhere; this check finds whoever lifts that.

use std::path::Path;

use crate::files::rust;
use crate::finding::{CheckError, Finding};
use crate::source::{code, has_word};

/// Modules that may be unsafe.
const ALLOWED: [&str; 3] =
    ["probes/src/sys.rs", "probes/src/sys/", "backends/src/confine/linux/sys.rs"];

/// Unsafe code, and attributes that permit it, elsewhere.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, CheckError> {
    let sources = rust(root)?;
    let outside = sources.iter().filter(|s| !ALLOWED.iter().any(|place| s.path.starts_with(place)));
    let findings = outside.flat_map(|source| {
        let lines = code(&source.text).into_iter().enumerate();
        lines.filter_map(|(index, line)| {
            let word = ["unsafe", "unsafe_code"].into_iter().find(|word| has_word(&line, word))?;
            let what = format!("`{word}` stands outside {}", ALLOWED.join(", "));
            Some(Finding::at(&source.path, index, what))
        })
    });
    Ok(findings.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    #[test]
    fn unsafe_code_is_found_where_it_must_not_be() {
        let block = "//! Doc.\nfn f() {\n    unsafe { g() }\n}\n";
        let word_only = "//! About unsafe code.\nconst A: &str = \"unsafe\"; // unsafe\n";
        let root = planted(&[("probes/src/sys.rs", block), ("reports/src/a.rs", word_only)]);
        assert_eq!(check(root.path()).unwrap(), []);
        let root = planted(&[("reports/src/a.rs", block)]);
        let found = check(root.path()).unwrap();
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().starts_with("reports/src/a.rs:3: `unsafe` stands outside"));
    }

    #[test]
    fn permission_is_found_as_well() {
        let lifted = "//! Doc.\n#![allow(unsafe_code)]\n";
        let root = planted(&[("harness/src/a.rs", lifted)]);
        assert_eq!(check(root.path()).unwrap().len(), 1);
    }
}
