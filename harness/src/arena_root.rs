//! [`ArenaRoot`]: the folder of one run, where it may lie, its lock, and the sweep of dead runs.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use nix::fcntl::{Flock, FlockArg};

/// The folder of one run. Dropping it removes it; a killed run's is removed by the next sweep.
#[derive(Debug)]
pub struct ArenaRoot {
    path: PathBuf,
    lock_path: PathBuf,
    executable: PathBuf,
    keep: bool,
    janitor: Option<(Sender<PathBuf>, JoinHandle<Vec<PathBuf>>)>,
    _lock: Flock<File>,
}

/// Stack of threads that descend into what a hostile command made: folders thousands deep.
pub const STACK: usize = 256 * 1024 * 1024;

/// Why there is no place for arenas.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// A named or default folder lies where profiles grant access.
    #[error(
        "arenas must not lie under {forbidden}, profiles grant it: {path}\n  use --arena-root DIR \
         with a folder elsewhere"
    )]
    Forbidden {
        /// The folder.
        path: PathBuf,
        /// What it lies under.
        forbidden: PathBuf,
    },
    /// Something cannot be made or read.
    #[error("cannot use {path} for arenas: {error}\n  use --arena-root DIR with a folder you own")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Nothing to try.
    #[error("no place for arenas: neither XDG_CACHE_HOME nor HOME is set\n  use --arena-root DIR")]
    Nowhere,
}

impl ArenaRoot {
    /// Makes the folder of this run below `base` with a copy of `executable`, which is sandproof,
    /// and removes what killed runs of the same user left there.
    ///
    /// # Errors
    /// See [`PlaceError`].
    pub fn create(base: &Path, executable: &Path, keep: bool) -> Result<Self, PlaceError> {
        let wrap = |error| PlaceError::Io { path: base.to_path_buf(), error };
        let name = format!("run-{}-{:08x}", std::process::id(), crate::rng::fresh_seed() as u32);
        let lock_path = base.join(format!("{name}.lock"));
        let lock = lock(&lock_path).map_err(wrap)?;
        sweep(base);
        let path = base.join(name);
        make_folder(&path, 0o700).map_err(wrap)?;
        let executable = copy_executable(executable, &path).map_err(wrap)?;
        let (sender, receiver) = channel::<PathBuf>();
        let janitor = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || receiver.iter().filter(|arena| !remove_tree(arena)).collect::<Vec<_>>());
        let janitor = Some((sender, janitor.map_err(wrap)?));
        Ok(Self { path, lock_path, executable, keep, janitor, _lock: lock })
    }

    /// Removes an arena that is no longer needed, beside the run.
    pub fn discard(&self, arena: PathBuf) {
        if let Some((janitor, _)) = self.janitor.as_ref().filter(|_| !self.keep) {
            // It ends only when this root is dropped, which removes everything.
            let _ = janitor.send(arena);
        }
    }

    /// Waits until every discarded arena is gone; answers those that cannot be removed.
    pub fn tidy(&mut self) -> Vec<PathBuf> {
        let Some((sender, janitor)) = self.janitor.take() else { return Vec::new() };
        drop(sender);
        janitor.join().unwrap_or_default()
    }

    /// Where arena number `n` goes.
    #[must_use]
    pub fn arena(&self, n: u64) -> PathBuf {
        self.path.join(n.to_string())
    }

    /// The copy of sandproof that subjects start.
    #[must_use]
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// The folder of this run.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ArenaRoot {
    fn drop(&mut self) {
        self.tidy();
        if self.keep {
            return;
        }
        remove_tree(&self.path);
        let _ = fs::remove_file(&self.lock_path);
    }
}

/// The first place that fits, made if need be, canonical: `--arena-root`, `$XDG_CACHE_HOME`,
/// `$HOME/.cache`.
///
/// # Errors
/// See [`PlaceError`]. A named folder that does not fit is an error; defaults are passed over.
pub fn base(named: Option<&Path>) -> Result<PathBuf, PlaceError> {
    if let Some(named) = named {
        return usable(named);
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = std::env::var_os("HOME").filter(|v| !v.is_empty());
    let home = home.map(|home| PathBuf::from(home).join(".cache"));
    let mut last = PlaceError::Nowhere;
    for place in [cache, home].into_iter().flatten() {
        match usable(&place.join("sandproof")) {
            Ok(base) => return Ok(base),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn usable(path: &Path) -> Result<PathBuf, PlaceError> {
    let wrap = |error| PlaceError::Io { path: path.to_path_buf(), error };
    // Refused before it is made, and again by its real name.
    allowed(path)?;
    fs::create_dir_all(path).map_err(wrap)?;
    let canonical = fs::canonicalize(path).map_err(wrap)?;
    allowed(&canonical)?;
    if canonical.to_str().is_none() {
        return Err(wrap(io::Error::other("its name is not UTF-8")));
    }
    let trial = canonical.join(format!(".trial-{:016x}", crate::rng::fresh_seed()));
    fs::write(&trial, b"").and_then(|()| fs::remove_file(&trial)).map_err(wrap)?;
    Ok(canonical)
}

fn allowed(path: &Path) -> Result<(), PlaceError> {
    let mut forbidden: Vec<PathBuf> =
        ["/tmp", "/var", "/run", "/usr", "/etc", "/dev", "/proc", "/data", "/private"]
            .map(PathBuf::from)
            .to_vec();
    forbidden.extend(std::env::var_os("TMPDIR").filter(|v| !v.is_empty()).map(PathBuf::from));
    forbidden.extend(std::env::var_os("HOME").map(|home| PathBuf::from(home).join("Library")));
    match forbidden.into_iter().find(|place| path.starts_with(place)) {
        Some(forbidden) => Err(PlaceError::Forbidden { path: path.to_path_buf(), forbidden }),
        None => Ok(()),
    }
}

fn lock(path: &Path) -> io::Result<Flock<File>> {
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno.into())
}

/// Removes the folders of runs of this user whose lock nobody holds.
fn sweep(base: &Path) {
    let Ok(list) = fs::read_dir(base) else { return };
    let uid = nix::unistd::geteuid().as_raw();
    for item in list.flatten() {
        let name = item.file_name();
        let Some(run) = name.to_str().and_then(|name| name.strip_suffix(".lock")) else { continue };
        let ours = item.metadata().is_ok_and(|meta| meta.uid() == uid);
        if !ours || !run.starts_with("run-") {
            continue;
        }
        if let Ok(_held) = lock(&item.path()) {
            remove_tree(&base.join(run));
            let _ = fs::remove_file(item.path());
        }
    }
}

/// Removes a tree even where a subject left folders without permissions; false when it cannot.
pub fn remove_tree(path: &Path) -> bool {
    if fs::remove_dir_all(path).is_ok() || path.symlink_metadata().is_err() {
        return true;
    }
    open_up(path);
    fs::remove_dir_all(path).is_ok()
}

fn open_up(path: &Path) {
    let Ok(meta) = fs::symlink_metadata(path) else { return };
    if !meta.is_dir() {
        return;
    }
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
    for item in fs::read_dir(path).into_iter().flatten().flatten() {
        open_up(&item.path());
    }
}

/// Makes one folder with this mode.
///
/// # Errors
/// As `mkdir(2)`.
pub fn make_folder(path: &Path, mode: u32) -> io::Result<()> {
    fs::DirBuilder::new().mode(mode).create(path)
}

/// Copies sandproof to `RUN/bin/sandproof`, so that every arm starts the same bytes, from a
/// place that the subject may read.
fn copy_executable(executable: &Path, run: &Path) -> io::Result<PathBuf> {
    let bin = run.join("bin");
    make_folder(&bin, 0o755)?;
    let copy = bin.join("sandproof");
    fs::copy(executable, &copy)?;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o555))?;
    Ok(copy)
}
