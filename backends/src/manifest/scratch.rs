//! A small arena for trying whether a product starts. Not under a temporary folder, which some
//! products refuse as the home of their configuration.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use sandproof_scenarios::Rooms;

/// Removed when dropped.
#[derive(Debug)]
pub(super) struct Scratch {
    rooms: Rooms,
    /// The folders around it that were made for it, the inner ones first.
    made: Vec<PathBuf>,
}

impl Scratch {
    /// Makes one for this backend, in the first place that can be written.
    pub(super) fn new(name: &str) -> io::Result<Self> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "neither HOME nor /srv is there");
        for base in bases() {
            match Self::below(&base, name) {
                Ok(scratch) => return Ok(scratch),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn below(base: &Path, name: &str) -> io::Result<Self> {
        let missing = base.ancestors().take_while(|folder| !folder.exists());
        let made = missing.map(Path::to_path_buf).collect();
        fs::create_dir_all(base)?;
        let arena = base.canonicalize()?.join(format!("ready-{name}-{}", process::id()));
        fs::create_dir(&arena)?;
        let scratch = Self { rooms: Rooms::below(&arena), made };
        let rooms = &scratch.rooms;
        for room in [&rooms.work, &rooms.home, &rooms.outside, &rooms.temp, &rooms.config] {
            fs::create_dir(room)?;
        }
        Ok(scratch)
    }

    pub(super) fn rooms(&self) -> &Rooms {
        &self.rooms
    }

    /// Writes a file of the manifest, parents made.
    pub(super) fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is found by the next sweep of this folder.
        let _ = fs::remove_dir_all(&self.rooms.arena);
        for made in &self.made {
            let _ = fs::remove_dir(made);
        }
    }
}

/// Places, the best first.
fn bases() -> Vec<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let cache = folder("XDG_CACHE_HOME").map(|cache| cache.join("sandproof"));
    let home = folder("HOME").map(|home| home.join(".cache/sandproof"));
    cache.into_iter().chain(home).chain([PathBuf::from("/srv/sandproof")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_arena_goes_when_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("new/cache");
        let scratch = Scratch::below(&base, "box").unwrap();
        assert!(scratch.rooms().config.is_dir());
        scratch.write(&scratch.rooms().config.join("a/b"), "x").unwrap();
        assert!(Scratch::below(&base, "box").is_err());
        drop(scratch);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
