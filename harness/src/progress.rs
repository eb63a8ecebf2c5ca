//! Progress on stderr: a bar on a terminal, one line per cell elsewhere.

use std::io::{self, IsTerminal as _, Write as _};

use indicatif::{ProgressBar, ProgressStyle};
use sandproof_reports::Record;

/// Shows how far a run is.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    terminal: bool,
    total: usize,
    done: usize,
}

impl Progress {
    /// For stderr as it is.
    #[must_use]
    pub fn new() -> Self {
        Self { bar: None, terminal: io::stderr().is_terminal(), total: 0, done: 0 }
    }

    /// So many cells are planned.
    pub fn begin(&mut self, total: usize) {
        self.total = total;
        if self.terminal {
            let bar = ProgressBar::new(total as u64);
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}");
            if let Ok(style) = style {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
    }

    /// A cell is done.
    pub fn record(&mut self, record: &Record) {
        self.done += 1;
        let cell = record.cell();
        match &self.bar {
            Some(bar) => {
                if record.gating && record.verdict.red() {
                    bar.println(format!("{} {cell}", record.verdict.word()));
                }
                bar.set_message(cell);
                bar.inc(1);
            }
            None => say(&format!("{}/{} {} {cell}", self.done, self.total, record.verdict.word())),
        }
    }

    /// Something to tell.
    pub fn note(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => say(text),
        }
    }

    /// The run is over.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

/// One line to stderr; a closed stderr is no reason to stop.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
