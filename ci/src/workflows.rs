//! Workflows run with a read-only token, and run only actions that nobody can change under us.

use std::path::Path;

use crate::files::{Source, all};
use crate::finding::{CheckError, Finding};

/// Where they stand.
const FOLDER: &str = ".github/workflows/";

/// Owner of the actions that may be used.
const OWNER: &str = "actions/";

/// Every workflow.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, CheckError> {
    let sources = all(root)?;
    let workflows = sources.iter().filter(|source| source.path.starts_with(FOLDER));
    let workflows: Vec<&Source> = workflows.collect();
    if workflows.is_empty() {
        return Err(CheckError::Nothing { root: root.to_path_buf(), what: "workflow" });
    }
    Ok(workflows.into_iter().flat_map(workflow).collect())
}

fn workflow(source: &Source) -> Vec<Finding> {
    let Source { path, text } = source;
    let mut findings = Vec::new();
    if !text.contains("\npermissions:\n  contents: read\n") {
        let what = "needs `permissions:` with `contents: read` alone, for all its jobs";
        findings.push(Finding::whole(path, what));
    }
    for (index, whole) in text.lines().enumerate() {
        let line = whole.trim_start();
        if line.starts_with("permissions:") && line != whole {
            findings.push(Finding::at(path, index, "a job asks for a token of its own"));
        }
        if line.split('#').next().is_some_and(|code| code.contains(": write")) {
            findings.push(Finding::at(path, index, "asks for a token that can write"));
        }
        let step = line.strip_prefix("- ").unwrap_or(line);
        if let Some(action) = step.strip_prefix("uses:") {
            findings.extend(pin(action).map(|what| Finding::at(path, index, what)));
        }
    }
    findings
}

/// What is wrong with `owner/name@hash # version`.
fn pin(action: &str) -> Option<String> {
    let (action, version) = action.split_once('#').unwrap_or((action, ""));
    let action = action.trim();
    if !action.starts_with(OWNER) {
        return Some(format!("`{action}` is of a third party: do it in ci/ instead"));
    }
    let hash = action.split_once('@').map_or("", |(_, hash)| hash);
    if hash.len() != 40 || !hash.chars().all(|c| c.is_ascii_hexdigit()) {
        return Some(format!("`{action}` is not pinned by a full commit hash"));
    }
    let named = version.trim().starts_with('v');
    (!named).then(|| format!("`{action}` needs its version in a comment, as in `# v6.0.2`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    const HEAD: &str = "on: push\npermissions:\n  contents: read\njobs:\n";
    const PINNED: &str = "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2";

    fn found(head: &str, rest: &str) -> Vec<String> {
        let text = format!("{head}{rest}\n");
        let root = planted(&[(".github/workflows/ci.yml", text.as_str())]);
        check(root.path()).unwrap().iter().map(|finding| finding.what.clone()).collect()
    }

    #[test]
    fn a_pinned_action_passes() {
        assert_eq!(found(HEAD, &format!("      - uses: {PINNED}")), [""; 0]);
    }

    #[test]
    fn everything_else_is_found() {
        let tag = found(HEAD, "      - uses: actions/checkout@v6");
        assert_eq!(tag, ["`actions/checkout@v6` is not pinned by a full commit hash"]);
        let short = found(HEAD, "        uses: actions/checkout@de0fac2 # v6");
        assert_eq!(short, ["`actions/checkout@de0fac2` is not pinned by a full commit hash"]);
        let silent = found(HEAD, &format!("      - uses: {}", &PINNED[..57]));
        assert!(silent[0].ends_with("needs its version in a comment, as in `# v6.0.2`"));
        let other = found(HEAD, "      - uses: someone/thing@v1");
        assert_eq!(other, ["`someone/thing@v1` is of a third party: do it in ci/ instead"]);
        let open = found("on: push\njobs:\n", "");
        assert_eq!(open.len(), 1);
        let write = found(HEAD, "    permissions:\n      contents: write");
        assert_eq!(write.len(), 2, "{write:?}");
    }

    #[test]
    fn no_workflow_is_an_error() {
        assert!(check(planted(&[("a", "")]).path()).is_err());
    }
}
