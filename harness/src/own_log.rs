//! [`OwnLogs`]: files in which a subject notes what it does. They may grow by whole lines of JSON;
//! every other change of them is residue like any other.

use std::fs;
use std::path::{Path, PathBuf};

use crate::photo::{Entry, Kind, Photo};

/// What the logs of a subject held before it was started.
#[derive(Debug)]
pub(crate) struct OwnLogs {
    held: Vec<(PathBuf, Vec<u8>)>,
}

impl OwnLogs {
    /// Looks at these files, there or not.
    pub(crate) fn look(paths: Vec<PathBuf>) -> Self {
        let held = paths.into_iter().map(|path| {
            let text = fs::read(&path).unwrap_or_default();
            (path, text)
        });
        Self { held: held.collect() }
    }

    /// Those that only grew, as the photographs name them.
    pub(crate) fn grown(&self, arena: &Path, before: &Photo, after: &Photo) -> Vec<PathBuf> {
        let grown = self.held.iter().filter_map(|(path, held)| {
            let name = path.strip_prefix(arena).ok()?;
            let only_content = only_content(before.at(name), after.at(name)?);
            (only_content && appended(held, path)).then(|| name.to_path_buf())
        });
        grown.collect()
    }
}

/// Nothing but its content changed; a new one is a plain file of its user alone.
fn only_content(before: Option<&Entry>, after: &Entry) -> bool {
    let Some(before) = before else {
        return after.kind == Kind::File && after.links == 1 && after.mode == 0o600;
    };
    let same = Entry {
        modified: after.modified,
        content: after.content.clone(),
        likeness: after.likeness.clone(),
        markers: after.markers.clone(),
        ..before.clone()
    };
    same == *after
}

/// The file holds what it held, and then whole lines of JSON.
fn appended(held: &[u8], path: &Path) -> bool {
    let Ok(text) = fs::read(path) else { return false };
    let Some(new) = text.strip_prefix(held) else { return false };
    let whole = new.is_empty() || new.ends_with(b"\n");
    let mut lines = new.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    whole && lines.all(|line| serde_json::from_slice::<serde_json::Value>(line).is_ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use rstest::rstest;
    use sandproof_scenarios::Rooms;

    use super::*;
    use crate::photo::Look;

    /// What a change of the log, which held one line, is taken for.
    #[rstest]
    #[case::grown(|log: &Path| add(log, "{\"a\":1}\n"), true)]
    #[case::untouched(|_: &Path| (), true)]
    #[case::half_a_line(|log: &Path| add(log, "{\"a\":1}"), false)]
    #[case::no_json(|log: &Path| add(log, "hello\n"), false)]
    #[case::emptied(|log: &Path| fs::write(log, "").unwrap(), false)]
    #[case::other_mode(|log: &Path| {
        fs::set_permissions(log, fs::Permissions::from_mode(0o644)).unwrap();
    }, false)]
    #[case::replaced(|log: &Path| {
        fs::copy(log, log.with_extension("new")).unwrap();
        fs::rename(log.with_extension("new"), log).unwrap();
    }, false)]
    #[case::gone(|log: &Path| fs::remove_file(log).unwrap(), false)]
    fn only_growth_is_passed_over(#[case] change: fn(&Path), #[case] passed_over: bool) {
        let dir = tempfile::tempdir().unwrap();
        let rooms = Rooms::below(dir.path());
        for room in [&rooms.work, &rooms.home, &rooms.outside, &rooms.temp] {
            fs::create_dir(room).unwrap();
        }
        let log = rooms.home.join("log");
        fs::write(&log, "{}\n").unwrap();
        fs::set_permissions(&log, fs::Permissions::from_mode(0o600)).unwrap();
        let look = Look { markers: &[], varying: &[] };
        let before = Photo::take(&rooms, &look).unwrap();
        let logs = OwnLogs::look(vec![log.clone()]);
        change(&log);
        let after = Photo::take(&rooms, &look).unwrap();
        let grown = logs.grown(dir.path(), &before, &after);
        assert_eq!(grown == [PathBuf::from("home/log")], passed_over);
    }

    fn add(log: &Path, text: &str) {
        let old = fs::read_to_string(log).unwrap();
        fs::write(log, old + text).unwrap();
    }
}
