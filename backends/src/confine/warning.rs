//! What a start gives up, said loudly.

use std::path::PathBuf;

use super::plan::Plan;
use super::refusal::Refusal;
use super::say;

/// Files that a glob matches, and how many of their names were not found.
pub type Unfound = Vec<(PathBuf, u64)>;

/// Files named when links are missing; the others are counted.
const NAMED: usize = 5;

/// Says what is given up and what is not known.
///
/// # Errors
/// Something is, and `strict` asks for all.
pub(super) fn say_all(plan: &Plan, unfound: &Unfound, strict: bool) -> Result<(), Refusal> {
    let mut warnings = Vec::new();
    if !plan.pins && !plan.denied.is_empty() {
        warnings.push(
            "--no-deny-pins: the folders of denied paths can be renamed, and then a later start \
             does not find what it denies"
                .to_owned(),
        );
    }
    warnings.extend(unfound.iter().take(NAMED).map(|(path, links)| {
        let path = path.display().to_string();
        format!(
            "{} has {links} other names (hard links) that were not found, and stays readable under \
             them; only a glob matched it: deny it by name, and they are searched for everywhere",
            path.escape_debug()
        )
    }));
    if let Some(more @ 1..) = unfound.len().checked_sub(NAMED) {
        warnings.push(format!("the same of {more} more files; --explain lists them"));
    }
    match warnings.first() {
        Some(first) if strict => {
            Err(Refusal::new(first.as_str(), "start without --strict-enforcement, or mend it"))
        }
        Some(_) | None => {
            warnings.iter().for_each(|warning| say(&format!("warning: {warning}")));
            Ok(())
        }
    }
}
