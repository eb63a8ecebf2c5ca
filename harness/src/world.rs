//! Builds the world of one arm: rooms, fixtures, listeners, victims, inherited descriptors.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use sandproof_probes::Endpoint;
use sandproof_probes::sys::PATH_ONLY;
use sandproof_scenarios::fixture::{
    EnvValue, FileFixture, Holds, InheritedFlags, OpenFileFixture, TreeFixture, VictimHolds,
};
use sandproof_scenarios::{Fixture, Rooms};

use crate::arena_root::make_folder;
use crate::listener::Listener;
use crate::photo::CHANNEL;
use crate::victim::Victim;

/// Random words of one arm.
#[derive(Clone, Debug)]
pub struct Words {
    /// Content of secret files, of secret variables, and of a victim's memory.
    pub marker: String,
    /// What attempts send to listeners.
    pub token: String,
}

/// The world of one arm. Dropping it ends listeners and victims, not the folder.
#[derive(Debug)]
pub struct World {
    /// The rooms.
    pub rooms: Rooms,
    /// Its words.
    pub words: Words,
    /// Listeners by name; the unnamed one is `default`.
    pub listeners: BTreeMap<String, Listener>,
    /// Victims by name.
    pub victims: BTreeMap<String, Victim>,
    /// Variables of the environment the subject is started in.
    pub env: BTreeMap<OsString, OsString>,
    /// Descriptors the launcher inherits, by number.
    pub inherited: Vec<(i32, OwnedFd)>,
    /// The subject gets a controlling terminal.
    pub terminal: bool,
}

/// A fixture that could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make {what}: {error}")]
pub struct WorldError {
    /// Which.
    pub what: String,
    /// Why.
    pub error: io::Error,
}

/// What a `text` file holds.
const TEXT: &str = "nothing to see here\n";

impl World {
    /// Makes the rooms below `arena` and everything `given` names, in order.
    ///
    /// # Errors
    /// The first fixture that cannot be made.
    pub fn build(
        arena: &Path,
        given: &[Fixture],
        words: Words,
        executable: &Path,
    ) -> Result<Self, WorldError> {
        let rooms = Rooms::below(arena);
        make_rooms(&rooms)
            .map_err(|error| WorldError { what: format!("rooms in {}", arena.display()), error })?;
        let mut world = World {
            rooms,
            words,
            listeners: BTreeMap::new(),
            victims: BTreeMap::new(),
            env: BTreeMap::new(),
            inherited: Vec::new(),
            terminal: false,
        };
        for fixture in given {
            world
                .add(fixture, executable)
                .map_err(|error| WorldError { what: format!("{fixture:?}"), error })?;
        }
        Ok(world)
    }

    /// GROK_HOME, as given so far.
    #[must_use]
    pub fn home_of_grok(&self) -> PathBuf {
        let home = self.env.get(std::ffi::OsStr::new("GROK_HOME"));
        home.map_or_else(|| self.rooms.home.join(".grok"), PathBuf::from)
    }

    /// Addresses of the listeners, by name.
    #[must_use]
    pub fn endpoints(&self) -> BTreeMap<String, Endpoint> {
        self.listeners.iter().map(|(name, l)| (name.clone(), l.endpoint().clone())).collect()
    }

    /// The variables that shell steps see beside the environment of the command.
    #[must_use]
    pub fn shell_env(&self) -> BTreeMap<String, String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut env = BTreeMap::from([
            ("WORK".to_owned(), text(&self.rooms.work)),
            ("HOME".to_owned(), text(&self.rooms.home)),
            ("OUTSIDE".to_owned(), text(&self.rooms.outside)),
            ("TMPDIR".to_owned(), text(&self.rooms.temp)),
        ]);
        for (name, listener) in &self.listeners {
            env.insert(variable("LISTENER", "default", name), listener.address());
        }
        for (name, victim) in &self.victims {
            env.insert(variable("VICTIM", "victim", name), victim.address().pid.to_string());
        }
        env
    }

    /// Content of a file fixture.
    #[must_use]
    pub fn content(&self, holds: &Holds) -> String {
        match holds {
            Holds::Secret => format!("{}\n", self.words.marker),
            Holds::Text => TEXT.to_owned(),
            Holds::Nothing => String::new(),
            Holds::Literal(text) => text.clone(),
        }
    }

    fn add(&mut self, fixture: &Fixture, executable: &Path) -> io::Result<()> {
        let rooms = &self.rooms;
        match fixture {
            Fixture::File(file) => self.add_file(file),
            Fixture::Dir(path) => fs::create_dir_all(path.resolve(rooms)),
            Fixture::Symlink(link) => {
                let path = clear_slot(&link.path.resolve(rooms))?;
                symlink(link.to.resolve(rooms), path)
            }
            Fixture::Hardlink(link) => {
                let path = clear_slot(&link.path.resolve(rooms))?;
                fs::hard_link(link.to.resolve(rooms), path)
            }
            Fixture::Fifo(path) => {
                let path = with_parents(&path.resolve(rooms))?;
                Ok(nix::unistd::mkfifo(&path, nix::sys::stat::Mode::from_bits_truncate(0o644))?)
            }
            Fixture::Mode(mode) => {
                let mode_bits = fs::Permissions::from_mode(mode.mode.0);
                fs::set_permissions(mode.path.resolve(rooms), mode_bits)
            }
            Fixture::Env(values) => {
                for (name, value) in values {
                    let value = self.env_value(value);
                    self.env.insert(name.into(), value);
                }
                Ok(())
            }
            Fixture::Listener(spec) => {
                let listener = Listener::open(spec, rooms)?;
                let name = spec.name.clone().unwrap_or_else(|| "default".to_owned());
                self.listeners.insert(name, listener);
                Ok(())
            }
            Fixture::Victim(spec) => {
                let secret = spec.holds.map(|VictimHolds::Secret| self.words.marker.as_str());
                let victim = Victim::start(executable, secret)?;
                self.victims.insert(spec.name.clone().unwrap_or_else(|| "victim".into()), victim);
                Ok(())
            }
            Fixture::Terminal(on) => {
                self.terminal = *on;
                Ok(())
            }
            Fixture::OpenFile(open) => self.open_file(open),
            Fixture::HooksPath(path) => self.add_hooks_path(&path.resolve(rooms)),
            Fixture::GitRepo(path) => make_repository(&path.resolve(rooms)),
            Fixture::Tree(tree) => make_tree(&tree.path.resolve(rooms), tree),
        }
    }

    fn add_file(&self, file: &FileFixture) -> io::Result<()> {
        let path = with_parents(&file.path.resolve(&self.rooms))?;
        fs::write(&path, self.content(&file.holds))?;
        let mode = file.mode.map_or(0o644, |mode| mode.0);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))
    }

    fn env_value(&self, value: &EnvValue) -> OsString {
        match value {
            EnvValue::Text(text) => text.into(),
            EnvValue::Secret => self.words.marker.clone().into(),
            EnvValue::Path(path) => path.resolve(&self.rooms).into(),
        }
    }

    fn open_file(&mut self, open: &OpenFileFixture) -> io::Result<()> {
        let mut options = OpenOptions::new();
        match open.flags {
            InheritedFlags::R => options.read(true),
            InheritedFlags::W => options.write(true),
            InheritedFlags::Rw => options.read(true).write(true),
            InheritedFlags::Path => options.read(true).custom_flags(PATH_ONLY),
            InheritedFlags::Dir => options.read(true).custom_flags(libc::O_DIRECTORY),
        };
        let file = options.open(open.path.resolve(&self.rooms))?;
        self.inherited.push((open.fd, file.into()));
        Ok(())
    }

    /// Adds a line to GROK_HOME/hooks-paths.
    fn add_hooks_path(&self, target: &Path) -> io::Result<()> {
        let registry = self.home_of_grok().join("hooks-paths");
        let mut text = fs::read_to_string(&registry).unwrap_or_default();
        text.push_str(&format!("{}\n", target.display()));
        fs::write(with_parents(&registry)?, text)
    }
}

/// The four rooms, the configuration folder, GROK_HOME with its hook slots, and the channel.
fn make_rooms(rooms: &Rooms) -> io::Result<()> {
    make_folder(&rooms.arena, 0o755)?;
    for path in [&rooms.work, &rooms.home, &rooms.outside, &rooms.temp] {
        make_folder(path, 0o755)?;
    }
    make_folder(&rooms.config, 0o700)?;
    make_folder(&rooms.home.join(".grok"), 0o755)?;
    make_folder(&rooms.home.join(".grok/hooks"), 0o755)?;
    let registry = rooms.home.join(".grok/hooks-paths");
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(registry)?;
    make_folder(&rooms.temp.join(CHANNEL), 0o700)
}

fn with_parents(path: &Path) -> io::Result<PathBuf> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(path.to_path_buf())
}

/// Makes way for a link where the rooms already hold an empty slot (`home/.grok/hooks-paths`).
fn clear_slot(path: &Path) -> io::Result<PathBuf> {
    let path = with_parents(path)?;
    match fs::symlink_metadata(&path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir(&path)?,
        Ok(meta) if meta.len() == 0 => fs::remove_file(&path)?,
        Ok(_) | Err(_) => {}
    }
    Ok(path)
}

/// A repository as `git init` makes it, with one file to commit; no git needed.
fn make_repository(path: &Path) -> io::Result<()> {
    for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "hooks", "info"] {
        fs::create_dir_all(path.join(".git").join(folder))?;
    }
    let files = [
        (".git/HEAD", "ref: refs/heads/main\n"),
        (
            ".git/config",
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
             [user]\n\tname = Nobody\n\temail = nobody@example.invalid\n",
        ),
        (".git/info/exclude", ""),
        ("README", TEXT),
    ];
    for (name, text) in files {
        fs::write(path.join(name), text)?;
    }
    Ok(())
}

/// `files` files over folders at most `depth` deep; same seed, same tree.
fn make_tree(root: &Path, tree: &TreeFixture) -> io::Result<()> {
    let mut state = tree.seed | 1;
    for number in 0..tree.files {
        let mut folder = root.to_path_buf();
        let depth = next(&mut state) % u64::from(tree.depth.max(1));
        for level in 0..depth {
            folder.push(format!("d{level}-{}", next(&mut state) % 4));
        }
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("f{number}")), TEXT)?;
    }
    Ok(())
}

/// One step of xorshift64.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// `LISTENER` for the unnamed one, `LISTENER_NAME` for the others.
fn variable(kind: &str, unnamed: &str, name: &str) -> String {
    if name == unnamed {
        return kind.to_owned();
    }
    format!("{kind}_{}", name.to_uppercase().replace('-', "_"))
}
