//! Commands about journals: report, diff.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use sandproof_reports::journal::{self, Journal};
use sandproof_reports::render::{Format, Options, render};

use crate::command::{Failure, print};

/// `sandproof report`.
pub(super) fn report(journals: &[PathBuf], format: &str) -> Result<i32, Failure> {
    let format: Format =
        format.parse().map_err(|why| Failure::usage(format!("--format: {why}")))?;
    for path in journals {
        let journal = read(path)?;
        let text =
            render(&journal, format, &options()).map_err(|e| Failure::internal(e.to_string()))?;
        print(&text)?;
    }
    Ok(0)
}

/// `sandproof diff`: status 1 when something regressed.
pub(super) fn diff(old: &Path, new: &Path) -> Result<i32, Failure> {
    let diff = sandproof_reports::diff::compare(&read(old)?, &read(new)?);
    print(&diff.render(options().color))?;
    Ok(diff.exit_code())
}

fn read(path: &Path) -> Result<Journal, Failure> {
    journal::read(path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

fn options() -> Options {
    let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    Options { color, ..Options::default() }
}
