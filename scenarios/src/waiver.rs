//! [`Waiver`]: a known failure of one backend, with a reason, a link and an end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::Platform;
use crate::complaint::{Complaint, Fault, Level, short};
use crate::load;
use crate::names::is_kebab;
use crate::rules::place;
use crate::yaml::{self, Seg, Tree};

/// A known failure of one scenario, or of one route of it, on one backend and platform.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// Scenario.
    pub id: String,
    /// Route; absent for all of them.
    pub route: Option<String>,
    /// Backend.
    pub backend: String,
    /// Platform.
    pub platform: Platform,
    /// Why it is accepted.
    pub reason: String,
    /// Where that is discussed.
    pub link: String,
    /// Day it was given, `YYYY-MM-DD`.
    pub date: String,
    /// Last day on which it counts, `YYYY-MM-DD`.
    pub expires: String,
}

impl Waiver {
    /// True when it no longer counts on this day (`YYYY-MM-DD`).
    #[must_use]
    pub fn expired_on(&self, day: &str) -> bool {
        // Days of this form sort as text.
        self.expires.as_str() < day
    }

    /// What it waives, shown in messages.
    #[must_use]
    pub fn subject(&self) -> String {
        let route = self.route.as_ref().map_or(String::new(), |route| format!("/{route}"));
        format!("{}{route} on {}, {}", self.id, self.backend, self.platform.name())
    }

    /// True when one cell could be under both.
    fn overlaps(&self, other: &Self) -> bool {
        let same_route = self.route.is_none() || other.route.is_none() || self.route == other.route;
        self.id == other.id
            && self.backend == other.backend
            && self.platform == other.platform
            && same_route
    }
}

/// A file of waivers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaiverFile {
    schema: u32,
    waivers: Vec<Waiver>,
}

/// Reads every waiver below a folder, sorted by what they waive.
///
/// # Errors
/// Every mistake in every file, and two waivers for one cell. A folder without a file is empty:
/// nothing is waived.
pub fn load_waivers(dir: &Path) -> Result<Vec<Waiver>, Vec<Complaint>> {
    let (files, mut complaints) = load::yaml_files(dir);
    let mut all: Vec<(Waiver, String)> = Vec::new();
    for file in files {
        match read(&file, &mut all) {
            Ok(()) => {}
            Err(found) => complaints.extend(found),
        }
    }
    if !complaints.is_empty() {
        return Err(complaints);
    }
    let mut waivers: Vec<Waiver> = all.into_iter().map(|(waiver, _)| waiver).collect();
    waivers.sort_by_key(Waiver::subject);
    Ok(waivers)
}

/// Reads one file; `all` holds what was read before, with its place.
fn read(file: &PathBuf, all: &mut Vec<(Waiver, String)>) -> Result<(), Vec<Complaint>> {
    let origin = file.display().to_string();
    let content = std::fs::read(file).map_err(|error| {
        vec![Complaint::whole(&origin, format!("`{origin}` cannot be read: {error}"), &origin)]
    })?;
    let text = yaml::utf8(&content, &origin)?;
    let told = |faults| yaml::complaints(&origin, text, Level::Error, faults);
    let tree = yaml::parse(text).map_err(told)?;
    let decoded = yaml::decode::<WaiverFile>(&tree);
    let mut faults = decoded.faults;
    let Some(read) = decoded.value else { return Err(told(faults)) };
    let mut check = Check { tree: &tree, dropped: &decoded.dropped, faults: &mut faults };
    if read.schema != 1 {
        let schema = read.schema.to_string();
        let message = format!("schema {schema} is unknown; this version reads schema 1");
        check.wrong(&place!["schema"], &schema, message);
    }
    for (index, waiver) in read.waivers.into_iter().enumerate() {
        check.waiver(index, &waiver);
        let at = check.line(index);
        if let Some((_, first)) = all.iter().find(|(other, _)| other.overlaps(&waiver)) {
            let subject = waiver.subject();
            let message = format!("`{subject}` is waived already, in {first}; keep one");
            check.wrong(&place!["waivers", index, "id"], &waiver.id, message);
        }
        all.push((waiver, format!("{origin}:{at}")));
    }
    if faults.is_empty() { Ok(()) } else { Err(told(faults)) }
}

/// Collects faults of one file.
struct Check<'a> {
    tree: &'a Tree,
    dropped: &'a std::collections::BTreeSet<usize>,
    faults: &'a mut Vec<Fault>,
}

impl Check<'_> {
    fn wrong(&mut self, path: &[Seg], word: &str, message: impl Into<String>) {
        let at = self.tree.locate(path, word, self.dropped);
        self.faults.push(Fault::new(at, message, short(word)));
    }

    fn line(&self, index: usize) -> usize {
        self.tree.locate(&place!["waivers", index], "", self.dropped).line
    }

    fn waiver(&mut self, index: usize, waiver: &Waiver) {
        let mut fields = BTreeMap::from([("id", &waiver.id), ("backend", &waiver.backend)]);
        fields.extend(waiver.route.as_ref().map(|route| ("route", route)));
        for (key, word) in fields {
            let parts = if key == "id" { word.split('/').collect() } else { vec![word.as_str()] };
            if !parts.into_iter().all(is_kebab) {
                let message = format!("{key} `{}` is not in kebab case", short(word));
                self.wrong(&place!["waivers", index, key], word, message);
            }
        }
        if waiver.reason.trim().is_empty() {
            self.wrong(&place!["waivers", index, "reason"], "reason", "`reason` is empty");
        }
        if !["https://", "http://"].iter().any(|scheme| waiver.link.starts_with(scheme)) {
            let message = format!("link `{}` is no address (https://...)", short(&waiver.link));
            self.wrong(&place!["waivers", index, "link"], &waiver.link, message);
        }
        self.days(index, waiver);
    }

    fn days(&mut self, index: usize, waiver: &Waiver) {
        let mut good = true;
        for (key, day) in [("date", &waiver.date), ("expires", &waiver.expires)] {
            if !is_day(day) {
                good = false;
                let message = format!("`{}` is no day; write YYYY-MM-DD", short(day));
                self.wrong(&place!["waivers", index, key], day, message);
            }
        }
        if good && waiver.expires <= waiver.date {
            let message = format!("`{}` is not after `date`, {}", waiver.expires, waiver.date);
            self.wrong(&place!["waivers", index, "expires"], &waiver.expires, message);
        }
    }
}

/// True for a day of the calendar, `YYYY-MM-DD`.
#[must_use]
pub fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let digits = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    if (year.len(), month.len(), day.len()) != (4, 2, 2) || !parts.iter().all(|w| digits(w)) {
        return false;
    }
    let (Ok(year), Ok(month), Ok(day)) =
        (year.parse::<u32>(), month.parse::<u32>(), day.parse::<u32>())
    else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests;
