//! The other way to covers: `bwrap` lays them, then starts this program again for the last stage.
//! For hosts that let a known program make namespaces and no other.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};

use super::channel::Teller;
use super::inside::Inside;
use super::mounts::Laid;
use super::stage::Stage;
use super::{mounts, sys};
use crate::confine::REFUSED;
use crate::confine::cover::{Cover, Kind};
#[cfg(feature = "mutants")]
use crate::confine::mutant;
use crate::confine::refusal::Refusal;

/// Where a trusted one lies; never looked up on `PATH`, where the workspace may come first.
const PLACES: [&str; 2] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"];

/// A `bwrap` that only root can change.
pub(super) fn trusted() -> Option<PathBuf> {
    PLACES.iter().map(PathBuf::from).find(|path| {
        fs::symlink_metadata(path)
            .is_ok_and(|meta| meta.is_file() && meta.uid() == 0 && meta.mode() & 0o022 == 0)
    })
}

/// Becomes `bwrap`; comes back only when that fails.
pub(super) fn exec(program: &Path, inside: &Inside, teller: &Teller) -> Refusal {
    let failed = |error: io::Error| {
        Refusal::at(format!("bwrap cannot be started ({error})"), program, "install it again")
    };
    // Descriptors of the caller must not reach bwrap, which would pass them on.
    let closed = sys::close_on_exec(3, u32::MAX);
    let kept = inside.stage.keep_fds.iter().try_for_each(|&fd| sys::keep_on_exec(fd));
    match closed.and(kept).and_then(|()| arguments(inside, teller)) {
        Ok(arguments) => {
            let mut command = Command::new(program);
            command.args(&arguments.words);
            // The descriptors in `arguments` stay open up to here.
            failed(command.exec())
        }
        Err(error) => failed(error),
    }
}

/// What the second start gets from the first.
#[derive(Debug, Serialize, Deserialize)]
struct Handed {
    stage: Stage,
    /// Where the supervisor is told how it goes.
    teller: i32,
    /// The mount namespace of the supervisor.
    outside: Namespace,
}

/// A command line, with the descriptors it names.
struct Arguments {
    words: Vec<OsString>,
    files: Vec<OwnedFd>,
}

fn arguments(inside: &Inside, teller: &Teller) -> io::Result<Arguments> {
    let mut arguments = Arguments { words: Vec::new(), files: Vec::new() };
    // The one capability is what it takes to give up all others for good.
    arguments.words(["--die-with-parent", "--cap-drop", "ALL", "--cap-add", "CAP_SETPCAP"]);
    if inside.namespaces.network {
        arguments.words(["--unshare-net"]);
    }
    if inside.stage.limited {
        arguments.words(["--ro-bind", "/", "/"]);
        arguments.devices();
    } else {
        arguments.words(["--dev-bind", "/", "/"]);
    }
    let stage = on_files_and_folders(&inside.stage);
    for cover in &stage.covers {
        arguments.cover(cover)?;
    }
    let handed = Handed { stage, teller: teller.hand_over()?, outside: mount_namespace()? };
    let stage = arguments.file(&serde_json::to_vec(&handed)?)?;
    arguments.words(["--"]);
    arguments.words.extend(own_command_line()?);
    #[cfg(feature = "mutants")]
    for mutant in mutant::all_on() {
        arguments.words([String::from("--mutant"), mutant::name(mutant)]);
    }
    arguments.words([String::from("--stage"), stage]);
    Ok(arguments)
}

/// A mount of bwrap cannot lie on a symlink. Where a denied link leads is covered as well, so its
/// secret stays closed; that the link itself could be replaced hides nothing.
fn on_files_and_folders(stage: &Stage) -> Stage {
    let mut stage = stage.clone();
    stage.covers.retain(|cover| !cover.path.is_symlink());
    stage
}

impl Arguments {
    fn words<S: Into<OsString>>(&mut self, words: impl IntoIterator<Item = S>) {
        self.words.extend(words.into_iter().map(Into::into));
    }

    /// Devices do not work on a mount that bwrap makes, unless it is told so; and a terminal is made
    /// only where `ptmx` and `pts` lie in one folder. Landlock says which of them are used.
    fn devices(&mut self) {
        self.words(["--dev-bind", "/dev", "/dev"]);
    }

    fn cover(&mut self, cover: &Cover) -> io::Result<()> {
        let path = || OsString::from(&cover.path);
        match cover.kind {
            Kind::Open | Kind::Pin => self.words(["--bind".into(), path(), path()]),
            Kind::Fresh => {
                self.words(["--perms", "1777", "--tmpfs"]);
                self.words([path()]);
            }
            Kind::Freeze => self.words(["--ro-bind".into(), path(), path()]),
            Kind::Mask if fs::symlink_metadata(&cover.path)?.is_dir() => {
                self.words(["--perms", "000", "--tmpfs"]);
                self.words([path(), "--remount-ro".into(), path()]);
            }
            Kind::Mask => {
                let nothing = self.file(b"")?;
                self.words(["--perms", "000", "--ro-bind-data", &nothing]);
                self.words([path()]);
            }
        }
        Ok(())
    }

    /// A file of this content that bwrap and what it starts can read, by its number.
    fn file(&mut self, content: &[u8]) -> io::Result<String> {
        let mut file = File::from(memfd_create("confine", MemfdFlags::empty())?);
        file.write_all(content)?;
        file.rewind()?;
        let number = file.as_raw_fd();
        sys::keep_on_exec(number)?;
        self.files.push(file.into());
        Ok(number.to_string())
    }
}

/// How this program was started, up to the arguments of `confine`.
fn own_command_line() -> io::Result<Vec<OsString>> {
    let exe = std::env::current_exe()?;
    let named = std::env::args_os().nth(1).is_some_and(|word| word == "confine");
    Ok(if named { vec![exe.into(), "confine".into()] } else { vec![exe.into()] })
}

/// Device and inode of a namespace.
type Namespace = (u64, u64);

/// That of this process.
fn mount_namespace() -> io::Result<Namespace> {
    fs::metadata("/proc/self/ns/mnt").map(|meta| (meta.dev(), meta.ino()))
}

/// Inside bwrap: goes through the last stage, described in this descriptor.
///
/// # Errors
/// There is no such description, or nothing shows that bwrap has done its part.
pub(super) fn resume(stage: i32) -> Result<i32, Refusal> {
    let forged = |error: &dyn std::fmt::Display| {
        Refusal::new(format!("--stage is not for people ({error})"), "leave it out")
    };
    let mut text = Vec::new();
    // Opened again through its name, the descriptor itself is closed on exec with all others.
    File::open(format!("/proc/self/fd/{stage}"))
        .and_then(|mut file| file.read_to_end(&mut text))
        .map_err(|error| forged(&error))?;
    let handed: Handed = serde_json::from_slice(&text).map_err(|error| forged(&error))?;
    let teller = Teller::handed(handed.teller).map_err(|error| forged(&error))?;
    genuine(&handed, &teller)?;
    teller.laid().map_err(|error| forged(&error))?;
    let stage = handed.stage;
    let laid = mounts::check(&stage.covers, stage.limited, &Laid::default());
    match laid.and_then(|()| stage.tools()) {
        Ok(tools) => Ok(stage.go_through(&tools, || teller.is_from_above(), &teller)),
        Err(refusal) => {
            teller.refused(refusal);
            Ok(REFUSED)
        }
    }
}

/// Looks for what a caller cannot hand over by saying so: there is something that bwrap had to do,
/// this is another mount namespace than the supervisor's, and the supervisor is there.
fn genuine(handed: &Handed, teller: &Teller) -> Result<(), Refusal> {
    let nothing = !handed.stage.limited && handed.stage.covers.is_empty();
    let why = if nothing {
        "it covers nothing"
    } else if mount_namespace().is_ok_and(|own| own != handed.outside) {
        if teller.is_from_above() {
            return Ok(());
        }
        "its supervisor is not above this process"
    } else {
        "this is the mount namespace of the caller"
    };
    Err(Refusal::new(format!("--stage is not for people ({why})"), "leave it out").about_bypass())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::channel;
    use super::*;

    fn stage() -> Stage {
        let cover = Cover { kind: Kind::Mask, path: PathBuf::from("/x"), identity: None };
        Stage { covers: vec![cover], ..Stage::default() }
    }

    /// What is found wrong with a hand-over of ourselves.
    fn wrong(stage: Stage, outside: Namespace) -> String {
        let (_hearer, teller) = channel::pair().unwrap();
        genuine(&Handed { stage, teller: 0, outside }, &teller).unwrap_err().to_string()
    }

    #[test]
    fn a_forged_hand_over_is_refused() {
        let own = mount_namespace().unwrap();
        assert!(wrong(Stage::default(), (0, 0)).contains("covers nothing"));
        assert!(wrong(stage(), own).contains("namespace of the caller"));
        assert!(wrong(stage(), (0, 0)).contains("not above this process"));
    }
}
