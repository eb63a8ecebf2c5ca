//! Runs sandproof for a test, and reads what it recorded.

use std::path::Path;

use sandproof_reports::journal::{self, Journal};

/// Runs sandproof with a journal and reads it back. Status 1 is a red run, which is no error here.
pub(crate) fn run(arguments: &[&str], path: &Path) -> Result<Journal, String> {
    let file = path.to_str().ok_or("the target folder's name is not UTF-8")?;
    let mut all = vec!["run", "--report", "json", "--journal", file];
    all.extend_from_slice(arguments);
    let output = duct::cmd(env!("CARGO_BIN_EXE_sandproof"), all)
        .stdout_null()
        .stderr_capture()
        .unchecked()
        .run()
        .map_err(|error| error.to_string())?;
    match output.status.code() {
        Some(0 | 1) => journal::read(path).map_err(|error| error.to_string()),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
