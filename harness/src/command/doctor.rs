//! `sandproof doctor`: what this host can enforce, found by doing.

use sandproof_backends::host::Host;
use sandproof_backends::{NotReady, Subject, registry};
use sandproof_scenarios::Capability;
use serde_json::{Map, Value, json};

use crate::command::{Failure, print};

/// One backend: name, title, and whether it is ready.
type State = (String, String, Result<Subject, NotReady>);

/// `sandproof doctor`.
pub(super) fn doctor(json: bool) -> Result<i32, Failure> {
    let executable = std::env::current_exe().map_err(|e| Failure::internal(e.to_string()))?;
    let host = Host::measure(&executable);
    let backends: Vec<State> = registry::all(&executable)
        .into_iter()
        .map(|backend| (backend.name().to_owned(), backend.title().to_owned(), backend.detect()))
        .collect();
    let text = if json { as_json(&host, backends) } else { as_text(&host, backends) };
    print(&text)?;
    Ok(0)
}

fn as_json(host: &Host, backends: Vec<State>) -> String {
    let capability = |capability: Capability| {
        let state = match host.has(capability) {
            Ok(()) => json!({ "has": true }),
            Err(lack) => json!({ "has": false, "what": lack.what, "mend": lack.mend }),
        };
        (capability.word().to_owned(), state)
    };
    let backend = |(name, title, state): State| {
        let state = match state {
            Ok(subject) => json!({ "ready": true, "title": title, "subject": subject }),
            Err(lack) => {
                json!({ "ready": false, "title": title, "why": lack.why, "mend": lack.mend })
            }
        };
        (name, state)
    };
    let capabilities: Map<String, Value> = host_capabilities().map(capability).collect();
    let backends: Map<String, Value> = backends.into_iter().map(backend).collect();
    let all = json!({ "host": host, "capabilities": capabilities, "backends": backends });
    format!("{}\n", serde_json::to_string_pretty(&all).unwrap_or_default())
}

fn as_text(host: &Host, backends: Vec<State>) -> String {
    let mut text = String::from("host\n");
    if let Ok(Value::Object(facts)) = serde_json::to_value(host) {
        for (name, value) in facts.iter().filter(|(_, value)| !value.is_object()) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            text.push_str(&format!("  {name:38} {value}\n"));
        }
    }
    text.push_str("capabilities\n");
    for capability in host_capabilities() {
        let state = host.has(capability).map(|()| "yes".to_owned());
        text.push_str(&state_line(capability.word(), state.map_err(|l| (l.what, l.mend)), "no"));
    }
    text.push_str("backends\n");
    for (name, title, state) in backends {
        let state = state.map(|subject| format!("ready, {}: {title}", subject.version));
        text.push_str(&state_line(&name, state.map_err(|l| (l.why, l.mend)), "not ready"));
    }
    text
}

/// A line for what is there, two for what is not: what is lacking, and what mends it.
fn state_line(name: &str, state: Result<String, (String, String)>, absent: &str) -> String {
    match state {
        Ok(text) => format!("  {name:16} {text}\n"),
        Err((what, mend)) => format!("  {name:16} {absent}: {what}\n  {:16}   {mend}\n", ""),
    }
}

fn host_capabilities() -> impl Iterator<Item = Capability> {
    Capability::ALL.into_iter().filter(|capability| capability.of_host())
}

/// Body of the hidden command that measures abilities: it forks, so it has one thread.
#[must_use]
pub fn ability() -> i32 {
    let abilities = sandproof_probes::ability::report();
    let text = serde_json::to_string(&abilities).unwrap_or_default();
    i32::from(print(&text).is_err())
}
