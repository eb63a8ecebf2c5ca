//! [`Session`]: a run that can be gone on with, always under the profile it began with.
//!
//! Each has a folder in `sessions` of GROK_HOME with one record in it, written by this process,
//! which is outside the sandbox. A profile that could be changed between two runs, by an option or
//! by an edit of what the profile means, would be a way out of it that only takes patience.

mod find;
mod record;
mod store;

use jiff::Timestamp;

use super::args::Args;
use super::refusal::Refusal;
use super::selection::{Chosen, Saved};
use super::surroundings::Surroundings;

pub use record::Record;
use store::Store;

/// A session of this start.
#[derive(Debug)]
pub struct Session {
    store: Store,
    record: Record,
    /// What it began with: its own, or that of its parent.
    saved: Option<Saved>,
    /// It begins now.
    new: bool,
}

impl Session {
    /// The session that is begun or gone on with, if there is one. Nothing is written yet.
    ///
    /// # Errors
    /// It cannot be found, is there already, or its record cannot be trusted.
    pub fn open(args: &Args, around: &Surroundings) -> Result<Option<Self>, Refusal> {
        let store = Store::of(&around.grok_home);
        if let Some(id) = &args.session {
            return Self::begin_new(store, id, args, around).map(Some);
        }
        let record = match (&args.resume, args.go_on) {
            (Some(wanted), _) => find::resumed(&store, wanted, &around.workspace)?,
            (None, true) => find::newest(&store, &around.workspace)?,
            (None, false) => return Ok(None),
        };
        Ok(Some(Self { saved: record.saved(), store, record, new: false }))
    }

    fn begin_new(
        store: Store,
        id: &str,
        args: &Args,
        around: &Surroundings,
    ) -> Result<Self, Refusal> {
        store::check_id(id)?;
        if store.has(id) {
            let what = format!("session `{id}` is there already");
            return Err(Refusal::new(what, "go on with it by --resume, or name another"));
        }
        let saved = match &args.session_parent {
            Some(parent) => find::by_id(&store, parent)?.saved(),
            None => None,
        };
        let mut record = Record::new(id, &around.workspace);
        record.title.clone_from(&args.session_title);
        record.parent_session_id.clone_from(&args.session_parent);
        Ok(Self { store, record, saved, new: true })
    }

    /// What the profile was when it began.
    #[must_use]
    pub fn saved(&self) -> Option<&Saved> {
        self.saved.as_ref()
    }

    /// Writes the record; what was written once is kept.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn begin(&mut self, chosen: &Chosen) -> Result<(), Refusal> {
        if self.new {
            let own = Saved { profile: chosen.name.clone(), sha256: Some(chosen.sha256()) };
            self.record.remember(self.saved.as_ref().unwrap_or(&own));
            self.store.write(&self.record)?;
        }
        Ok(())
    }

    /// After the command: a start that was refused leaves nothing, any other the time of its end.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn end(mut self, refused: bool) -> Result<(), Refusal> {
        if refused {
            self.store.undo();
            return Ok(());
        }
        self.record.last_active_at = Some(Timestamp::now().to_string());
        self.store.write(&self.record)
    }
}

#[cfg(test)]
mod tests;
