//! Provenance: on what a run was made, for the journal's header.

use std::collections::BTreeMap;

use sandproof_backends::host::Host;
use serde_json::{Value, json};

use crate::plan::Ready;
use crate::request::Request;

/// Facts of the run: host, user, seed, own version, and every subject with its helpers.
#[must_use]
pub fn of_run(
    host: &Host,
    backends: &[Ready],
    request: &Request,
    user: &str,
) -> BTreeMap<String, Value> {
    let mut facts: BTreeMap<String, Value> = match serde_json::to_value(host) {
        Ok(Value::Object(map)) => map.into_iter().collect(),
        Ok(_) | Err(_) => BTreeMap::new(),
    };
    let subjects: serde_json::Map<String, Value> = backends
        .iter()
        .map(|ready| (ready.backend.name().to_owned(), json!(ready.subject)))
        .collect();
    facts.insert("subjects".into(), Value::Object(subjects));
    facts.insert("user".into(), json!(user));
    facts.insert("uid".into(), json!(nix::unistd::geteuid().as_raw()));
    facts.insert("date".into(), json!(today()));
    facts.insert("seed".into(), json!(request.seed));
    facts.insert("sandproof".into(), json!(env!("CARGO_PKG_VERSION")));
    if !request.without.is_empty() {
        facts.insert("without".into(), json!(request.without));
    }
    facts
}

/// Name of the user of this process, or the number.
#[must_use]
pub fn user_name() -> String {
    let uid = nix::unistd::geteuid();
    let user = nix::unistd::User::from_uid(uid).ok().flatten();
    user.map_or_else(|| uid.to_string(), |user| user.name)
}

/// Today in UTC, `YYYY-MM-DD`.
#[must_use]
pub fn today() -> String {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}
