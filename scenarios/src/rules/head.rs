//! Rules for the keys that say what a scenario is: schema, id, title, why, claim, tags, needs,
//! promise.

use super::{Check, no_twice, place};
use crate::complaint::short;
use crate::file::ScenarioFile;
use crate::names::is_kebab;
use crate::{Platform, Promise, Strength};

/// The only version of the grammar.
const SCHEMA: u32 = 1;

pub(super) fn check(file: &ScenarioFile, id: Option<&str>, check: &mut Check<'_>) {
    required(file, check);
    if let Some(schema) = file.schema.filter(|schema| *schema != SCHEMA) {
        let message = format!("schema {schema} is unknown; this version reads schema {SCHEMA}");
        check.wrong(&place!["schema"], &schema.to_string(), message);
    }
    if let Some(own) = &file.id {
        check_id(own, id, check);
    }
    texts(file, check);
    no_twice(&file.tags, &place!["tags"], check);
    for (index, tag) in file.tags.iter().enumerate().filter(|(_, tag)| !is_kebab(tag)) {
        let message = format!("tag `{}` is not in kebab case", short(tag));
        check.wrong(&place!["tags", index], tag, message);
    }
    let needs: Vec<String> = file.needs.iter().map(|need| need.0.to_string()).collect();
    no_twice(&needs, &place!["needs"], check);
    if let Some(promise) = &file.promise {
        check_promise(promise, file.claim.as_deref(), check);
    }
}

fn required(file: &ScenarioFile, check: &mut Check<'_>) {
    let present = [
        ("schema", file.schema.is_some()),
        ("id", file.id.is_some()),
        ("title", file.title.is_some()),
        ("why", file.why.is_some()),
        ("claim", file.claim.is_some()),
        ("severity", file.severity.is_some()),
        ("policy", file.policy.is_some()),
        ("routes", file.routes.is_some()),
    ];
    for (key, present) in present {
        if !present && !check.mistaken(key) {
            check.wrong(&[], key, format!("key `{key}` is missing"));
        }
    }
}

fn check_id(own: &str, from_path: Option<&str>, check: &mut Check<'_>) {
    let place = place!["id"];
    if !own.split('/').all(is_kebab) {
        let message = format!(
            "id `{}` is not made of kebab-case words between `/` (lower case, digits, hyphens)",
            short(own)
        );
        check.wrong(&place, own, message);
    } else if let Some(expected) = from_path.filter(|expected| *expected != own) {
        let message = format!(
            "id `{}` is not the path of the file, `{}`; rename one of them",
            short(own),
            short(expected)
        );
        check.wrong(&place, own, message);
    }
}

fn texts(file: &ScenarioFile, check: &mut Check<'_>) {
    let texts = [("title", &file.title), ("why", &file.why), ("claim", &file.claim)];
    for (key, text) in texts {
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            check.wrong(&place![key], key, format!("`{key}` is empty"));
        }
    }
    if file.title.as_ref().is_some_and(|title| title.trim_end().contains('\n')) {
        check.wrong(&place!["title"], "title", "`title` is more than one line");
    }
}

fn check_promise(promise: &Promise, claim: Option<&str>, check: &mut Check<'_>) {
    for platform in [Platform::Linux, Platform::Macos] {
        let Strength::BestEffort(reason) = promise.on(platform) else { continue };
        let place = place!["promise", platform.name(), "best-effort"];
        if reason.trim().is_empty() {
            let message = "`best-effort` needs the documented reason";
            check.wrong(&place, "best-effort", message);
        }
        if claim == Some("ours") {
            let message = "`best-effort` on a claim of `ours`; only the document of a vendor or \
                           kernel can excuse a promise, name it in `claim`";
            check.wrong(&place, "best-effort", message);
        }
    }
}
