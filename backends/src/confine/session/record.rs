//! [`Record`]: what is remembered of a session.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::confine::selection::Saved;

/// The only version of the format.
const SCHEMA: u32 = 1;

/// `summary.json`. Other programs may keep more in it; what they keep is not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the format.
    pub schema: u32,
    /// Its name, which is that of its folder.
    pub id: String,
    /// Another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The workspace.
    pub cwd: PathBuf,
    /// The session it goes back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
    /// The profile it began with; absent in old sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_profile: Option<String>,
    /// What the profile meant then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_sha256: Option<String>,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When it ran last, as other programs call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// When it ran last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_active_at: Option<String>,
    /// Not listed; found by its name only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

impl Record {
    /// A session that begins now.
    #[must_use]
    pub fn new(id: &str, cwd: &Path) -> Self {
        let now = Timestamp::now().to_string();
        Self {
            schema: SCHEMA,
            id: id.to_owned(),
            title: None,
            cwd: cwd.to_path_buf(),
            parent_session_id: None,
            sandbox_profile: None,
            policy_sha256: None,
            created_at: Some(now.clone()),
            updated_at: None,
            last_active_at: Some(now),
            hidden: false,
        }
    }

    /// The record in this text, found in the folder `id`.
    ///
    /// # Errors
    /// What makes it none, as a fragment.
    pub fn parse(text: &[u8], id: &str) -> Result<Self, String> {
        let record: Self = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if record.schema != SCHEMA {
            return Err(format!(
                "schema {} is unknown, this version reads {SCHEMA}",
                record.schema
            ));
        }
        if record.id != id {
            return Err(format!("it is of session `{}`", record.id.escape_debug()));
        }
        let times = [&record.created_at, &record.updated_at, &record.last_active_at];
        for time in times.into_iter().flatten() {
            time.parse::<Timestamp>().map_err(|error| error.to_string())?;
        }
        Ok(record)
    }

    /// When it ran last; the epoch when nobody wrote it down.
    #[must_use]
    pub fn last_active(&self) -> Timestamp {
        let times = [&self.last_active_at, &self.updated_at, &self.created_at];
        let known = times.into_iter().flatten().find_map(|time| time.parse().ok());
        known.unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// The profile it began with.
    #[must_use]
    pub fn saved(&self) -> Option<Saved> {
        let profile = self.sandbox_profile.clone().filter(|profile| !profile.is_empty())?;
        Some(Saved { profile, sha256: self.policy_sha256.clone() })
    }

    /// Keeps the profile.
    pub fn remember(&mut self, saved: &Saved) {
        self.sandbox_profile = Some(saved.profile.clone());
        self.policy_sha256.clone_from(&saved.sha256);
    }
}
