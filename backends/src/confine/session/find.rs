//! Which session is meant: by its name, as the child of a name, by its title, or as the newest.

use std::cmp::Reverse;
use std::path::Path;

use super::Record;
use super::store::{Store, Unread, is_id};
use crate::confine::config::near;
use crate::confine::refusal::Refusal;

/// The session of this name, wherever its workspace is; else the newest of this workspace that goes
/// back to that name; else the only one of this title.
///
/// # Errors
/// There is none, there are several, or its record is damaged.
pub(super) fn resumed(store: &Store, wanted: &str, cwd: &Path) -> Result<Record, Refusal> {
    if is_id(wanted) && store.has(wanted) {
        return by_id(store, wanted);
    }
    let records = visible(store)?;
    let child =
        |record: &&Record| record.parent_session_id.as_deref() == Some(wanted) && record.cwd == cwd;
    if let Some(child) = newest_of(records.iter().filter(child)) {
        return Ok(child.clone());
    }
    let titled: Vec<&Record> =
        records.iter().filter(|record| record.title.as_deref() == Some(wanted)).collect();
    match titled[..] {
        [only] => Ok(only.clone()),
        [] => Err(unknown(wanted, &records)),
        _ => {
            let ids: Vec<&str> = titled.iter().map(|record| record.id.as_str()).collect();
            let what = format!("several sessions have the title `{}`", wanted.escape_debug());
            Err(Refusal::new(what, format!("name one of {}", ids.join(", "))))
        }
    }
}

/// The session of this name, hidden or not.
///
/// # Errors
/// There is none, or its record is damaged.
pub(super) fn by_id(store: &Store, id: &str) -> Result<Record, Refusal> {
    super::store::check_id(id)?;
    let shown = id.escape_debug();
    store.load(id).map_err(|unread| match unread {
        Unread::Missing => {
            Refusal::new(format!("there is no session `{shown}`"), "begin it with --session")
        }
        Unread::Unfit(why) => {
            let what = format!("the record of session `{shown}` cannot be trusted: {why}");
            Refusal::new(what, "begin a new session")
        }
        Unread::Failed(error) => {
            let what = format!("the record of session `{shown}` cannot be read ({error})");
            Refusal::new(what, "make it readable, or begin a new session")
        }
    })
}

/// The session of this workspace that ran last.
///
/// # Errors
/// There is none.
pub(super) fn newest(store: &Store, cwd: &Path) -> Result<Record, Refusal> {
    let records = visible(store)?;
    newest_of(records.iter().filter(|record| record.cwd == cwd)).cloned().ok_or_else(|| {
        Refusal::at("no session of this workspace is known", cwd, "begin one with --session")
    })
}

fn newest_of<'a>(records: impl Iterator<Item = &'a Record>) -> Option<&'a Record> {
    records.min_by_key(|record| (Reverse(record.last_active()), record.id.clone()))
}

/// All that are not hidden. A damaged record, or one that is gone by now, is nobody's choice.
fn visible(store: &Store) -> Result<Vec<Record>, Refusal> {
    let failed = |error: std::io::Error| {
        let what = format!("the sessions cannot be listed ({error})");
        Refusal::new(what, "make GROK_HOME/sessions readable, or name a session")
    };
    let mut records = Vec::new();
    for id in store.ids().map_err(failed)? {
        match store.load(&id) {
            Ok(record) if !record.hidden => records.push(record),
            Ok(_) | Err(Unread::Missing | Unread::Unfit(_)) => {}
            Err(Unread::Failed(error)) => return Err(failed(error)),
        }
    }
    Ok(records)
}

fn unknown(wanted: &str, records: &[Record]) -> Refusal {
    let names = records
        .iter()
        .flat_map(|record| std::iter::once(record.id.as_str()).chain(record.title.as_deref()));
    let what = format!("no session has the name or title `{}`", wanted.escape_debug());
    let mend = match near(wanted, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "begin it with --session".to_owned(),
    };
    Refusal::new(what, mend)
}
