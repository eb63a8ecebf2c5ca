//! Rules that neither types nor grammar can say: a scenario that contradicts what its profiles
//! grant, or that could not fail, is refused; what is only worth a look is a warning.
//!
//! Sound before complete: only what is certain is refused. A step through a link, or one whose
//! effect depends on an earlier one, is let be.

use crate::complaint::Level;
use crate::yaml::Seg;
use crate::{Expectation, Scenario};

mod attack;
pub mod grants;
mod legitimate;
mod names;
mod touch;
mod world;

/// Most lines of a file that is still read at a glance.
pub const LINES: usize = 40;

/// Something found in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Refusal or advice.
    pub level: Level,
    /// Where in the file.
    pub place: Vec<Seg>,
    /// The word it is about.
    pub word: String,
    /// What is wrong and what to do, a lower-case fragment.
    pub message: String,
}

impl Finding {
    fn refusal(place: &[Seg], word: impl ToString, message: impl Into<String>) -> Self {
        let (place, word) = (place.to_vec(), word.to_string());
        Self { level: Level::Error, place, word, message: message.into() }
    }

    fn warning(place: &[Seg], word: impl ToString, message: impl Into<String>) -> Self {
        Self { level: Level::Warning, ..Self::refusal(place, word, message) }
    }
}

/// Everything to be said about a scenario.
#[must_use]
pub fn lint(scenario: &Scenario) -> Vec<Finding> {
    let mut findings = legitimate::check(scenario);
    findings.extend(names::check(scenario));
    match scenario.expect {
        Expectation::Works => {}
        Expectation::Then => {
            findings.extend(attack::check(scenario));
            findings.extend(touch::check(scenario));
        }
    }
    findings
}

/// A file that is too long to be read at a glance; comments and empty lines are not counted.
#[must_use]
pub fn length(text: &str) -> Option<Finding> {
    let counts = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let lines = text.lines().filter(counts).count();
    (lines > LINES).then(|| {
        let message = format!("the file has {lines} lines; split what is over {LINES}");
        Finding::warning(&[], lines, message)
    })
}

#[cfg(test)]
mod tests;
