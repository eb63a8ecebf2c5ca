//! [`Witness`]: notes that a command is confined, and what it is denied from then on.

use std::cell::RefCell;

use landlock::ABI;

use super::ability::Ability;
use super::audit::{Audit, Follower};
use super::channel::Waiting;
use super::notice;
use crate::confine::events::{Applied, Event, Events};
use crate::confine::refusal::Refusal;

/// Who notes what happens to one start. It listens from before the start on.
#[derive(Debug)]
pub(super) struct Witness {
    events: Events,
    /// What is noted as applied; absent when nothing is.
    applied: Option<Applied>,
    audit: RefCell<Option<Audit>>,
    follower: RefCell<Option<Follower>>,
}

impl Witness {
    pub(super) fn of(events: &Events, applied: Option<Applied>, ability: &Ability) -> Self {
        let told = events.are_noted() && ability.landlock >= Some(ABI::V7);
        Self {
            events: events.clone(),
            applied: applied.map(|applied| Applied {
                enforced: ability.lost.is_empty(),
                restrict_network: applied.restrict_network && ability.seccomp,
                ..applied
            }),
            audit: RefCell::new(if told { Audit::listen() } else { None }),
            follower: RefCell::new(None),
        }
    }

    /// Whether it hears what Landlock tells the kernel's audit.
    pub(super) fn hears_audit(&self) -> bool {
        self.audit.borrow().is_some()
    }

    /// A child is confined, with `all` its mounts or without: from here on its denials are noted.
    ///
    /// # Errors
    /// That it is confined cannot be noted.
    pub(super) fn confined(&self, waiting: Waiting, all: bool) -> Result<(), Refusal> {
        if let Some(applied) = &self.applied {
            let enforced = applied.enforced && all;
            self.events.note(Event::ProfileApplied(Applied { enforced, ..applied.clone() }))?;
        }
        if let Some(listener) = waiting.listener {
            notice::answer(listener, self.events.clone());
        }
        let audit = self.audit.take();
        let follower = audit.and_then(|audit| audit.follow(waiting.pid, self.events.clone()));
        self.follower.replace(follower);
        Ok(())
    }

    /// Notes what is still to come.
    pub(super) fn finish(self) {
        if let Some(follower) = self.follower.take() {
            follower.finish();
        }
    }
}
