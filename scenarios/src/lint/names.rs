//! A name that is another in every arm looks like something left behind: a warning.

use super::Finding;
use crate::rules::place;
use crate::yaml::Seg;
use crate::{Scenario, Step};

/// What a shell puts into names so that no two are alike.
const RANDOM: [&str; 3] = ["$$", "$RANDOM", "${RANDOM}"];

pub(super) fn check(scenario: &Scenario) -> Vec<Finding> {
    let mut findings = steps(&scenario.still_works, &place!["still-works"]);
    for (name, route) in &scenario.routes {
        findings.extend(steps(&route.steps, &place!["routes", name.as_str(), "steps"]));
    }
    findings
}

fn steps(steps: &[Step], base: &[Seg]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let mut place = base.to_vec();
        place.push(index.into());
        if let Step::Again(inner) = step {
            place.push("again".into());
            findings.extend(self::steps(inner, &place));
        } else if let Step::Shell(script) = step
            && let Some(word) = random_name(script)
        {
            place.push("shell".into());
            let message = format!(
                "`{word}` makes a name that differs between the arms, and looks like residue; \
                 write a fixed name, or remove the file with rm in the same step"
            );
            findings.push(Finding::warning(&place, word, message));
        }
    }
    findings
}

/// The word of a script that makes such a name. A script that removes something is believed to
/// remove that.
fn random_name(script: &str) -> Option<&str> {
    let words = || script.split(|c: char| c.is_whitespace() || "\"'`;|&()<>=".contains(c));
    if words().any(|word| word == "rm" || word == "rmdir") {
        return None;
    }
    words().find(|word| *word == "mktemp" || RANDOM.iter().any(|random| names(word, random)))
}

/// True when `random` is a part of this word. Alone it is a number as any other: `kill $$`.
fn names(word: &str, random: &str) -> bool {
    word.contains(random) && word != random
}
