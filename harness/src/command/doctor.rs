//! `sandproof doctor`: what this host can enforce, found by doing.

use sandproof_backends::host::Host;
use sandproof_backends::registry;
use sandproof_scenarios::Capability;
use serde_json::{Value, json};

use crate::command::{Failure, print};

/// `sandproof doctor`.
pub(super) fn doctor(json: bool) -> Result<i32, Failure> {
    let executable = std::env::current_exe().map_err(|e| Failure::internal(e.to_string()))?;
    let host = Host::measure(&executable);
    let backends: Vec<_> = registry::all(&executable)
        .into_iter()
        .map(|backend| (backend.name().to_owned(), backend.title().to_owned(), backend.detect()))
        .collect();
    if json {
        let abilities: serde_json::Map<String, Value> = host_capabilities()
            .map(|c| {
                let state = match host.has(c) {
                    Ok(()) => json!({ "has": true }),
                    Err(lack) => json!({ "has": false, "what": lack.what, "mend": lack.mend }),
                };
                (c.word().to_owned(), state)
            })
            .collect();
        let backends: serde_json::Map<String, Value> = backends
            .into_iter()
            .map(|(name, title, state)| {
                let state = match state {
                    Ok(subject) => json!({ "ready": true, "title": title, "subject": subject }),
                    Err(lack) => {
                        json!({ "ready": false, "title": title, "why": lack.why, "mend": lack.mend })
                    }
                };
                (name, state)
            })
            .collect();
        let all = json!({ "host": host, "capabilities": abilities, "backends": backends });
        let text = serde_json::to_string_pretty(&all).unwrap_or_default();
        print(&format!("{text}\n"))?;
        return Ok(0);
    }
    let mut text = String::from("host\n");
    if let Ok(Value::Object(facts)) = serde_json::to_value(&host) {
        for (name, value) in facts.iter().filter(|(_, value)| !value.is_object()) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            text.push_str(&format!("  {name:32} {value}\n"));
        }
    }
    text.push_str("capabilities\n");
    for capability in host_capabilities() {
        match host.has(capability) {
            Ok(()) => text.push_str(&format!("  {:16} yes\n", capability.word())),
            Err(lack) => text.push_str(&format!(
                "  {:16} no: {}\n  {:16}   {}\n",
                capability.word(),
                lack.what,
                "",
                lack.mend
            )),
        }
    }
    text.push_str("backends\n");
    for (name, title, state) in backends {
        match state {
            Ok(subject) => {
                text.push_str(&format!("  {name:16} ready, {}: {title}\n", subject.version))
            }
            Err(lack) => {
                text.push_str(&format!(
                    "  {name:16} not ready: {}\n  {:16}   {}\n",
                    lack.why, "", lack.mend
                ));
            }
        }
    }
    print(&text)?;
    Ok(0)
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
