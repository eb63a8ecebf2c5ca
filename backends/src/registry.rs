//! Which backends there are, and how one is named on the command line.

use std::path::Path;

use sandproof_scenarios::complaint::{Complaint, nearest};

use crate::Backend;
use crate::liars::{Liar, LiarKind};
use crate::manifest::{embedded_manifests, load_manifest};
use crate::mechanism::{self, Confine};

/// Every backend that a user is shown; `exe` is sandproof's own executable. The control arm
/// ([`crate::bare`]) and the liars are not among them.
#[must_use]
pub fn all(exe: &Path) -> Vec<Box<dyn Backend>> {
    mechanism::all(exe).into_iter().chain(products()).collect()
}

/// The products, from their embedded manifests.
#[must_use]
pub fn products() -> Vec<Box<dyn Backend>> {
    // A mistake in an embedded manifest fails a test of this crate, and hides it from users.
    let manifests = embedded_manifests().unwrap_or_default();
    manifests.into_iter().map(|one| Box::new(one) as Box<dyn Backend>).collect()
}

/// The backend of this name, liars included.
#[must_use]
pub fn by_name(name: &str, exe: &Path) -> Option<Box<dyn Backend>> {
    #[cfg(feature = "mutants")]
    if let Some(weakened) = mechanism::Weakened::by_name(name, exe) {
        return Some(Box::new(weakened));
    }
    all(exe).into_iter().chain(liars(exe)).find(|backend| backend.name() == name)
}

/// The names of all backends that a user is shown.
#[must_use]
pub fn names() -> Vec<String> {
    all(Path::new("")).iter().map(|backend| backend.name().to_owned()).collect()
}

/// The liars, to test the harness.
#[must_use]
pub fn liars(exe: &Path) -> Vec<Box<dyn Backend>> {
    let liar = |kind| {
        if kind == LiarKind::LeaksSecondTime {
            let honest = Confine::new(exe.to_path_buf(), Vec::new());
            return Liar::leaks_second_time(exe, Box::new(honest));
        }
        Liar::new(kind, exe)
    };
    LiarKind::ALL.into_iter().map(|kind| Box::new(liar(kind)) as Box<dyn Backend>).collect()
}

/// True for the name of a liar, which no user is shown.
#[must_use]
pub fn is_liar(name: &str) -> bool {
    LiarKind::ALL.iter().any(|kind| kind.name() == name)
}

/// The backends for these words of the user's, each a name or a manifest file (a word with a slash
/// or ending in `.yaml`).
///
/// # Errors
/// Unknown names, mistakes in files, and names that stand for two backends.
pub fn select(words: &[String], exe: &Path) -> Result<Vec<Box<dyn Backend>>, Vec<Complaint>> {
    let mut chosen: Vec<Box<dyn Backend>> = Vec::new();
    let mut complaints = Vec::new();
    for word in words {
        match one(word, exe) {
            Ok(backend) if chosen.iter().any(|other| other.name() == backend.name()) => {
                let name = backend.name();
                let message = format!("backend `{name}` is named twice, a report knows it by name");
                complaints.push(Complaint::whole("--backend", message, word.as_str()));
            }
            Ok(backend) => chosen.push(backend),
            Err(more) => complaints.extend(more),
        }
    }
    if complaints.is_empty() { Ok(chosen) } else { Err(complaints) }
}

fn one(word: &str, exe: &Path) -> Result<Box<dyn Backend>, Vec<Complaint>> {
    if word.contains('/') || word.ends_with(".yaml") {
        return Ok(Box::new(load_manifest(Path::new(word))?));
    }
    by_name(word, exe).ok_or_else(|| {
        let known = names();
        let message = format!("there is no backend `{word}`; there are {}", known.join(" "));
        let mut complaint = Complaint::whole("--backend", message, word);
        complaint.near = nearest(word, known.iter().map(String::as_str)).map(str::to_owned);
        vec![complaint]
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn chosen(words: &[&str]) -> Result<Vec<String>, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        select(&words, Path::new("/exe"))
            .map(|backends| backends.iter().map(|b| b.name().to_owned()).collect())
            .map_err(|complaints| complaints.iter().map(|c| format!("{c}\n")).collect())
    }

    #[test]
    fn no_two_backends_share_a_name() {
        let exe = Path::new("/exe");
        let liars = liars(exe);
        let shown: Vec<String> = names();
        let all: BTreeSet<&str> =
            shown.iter().map(String::as_str).chain(liars.iter().map(|liar| liar.name())).collect();
        assert_eq!(shown, ["confine", "landlock", "seccomp", "mounts", "bwrap", "codex"]);
        assert_eq!(all.len(), shown.len() + LiarKind::ALL.len());
        assert!(liars.iter().all(|liar| is_liar(liar.name())));
        assert!(!shown.iter().any(|name| is_liar(name)));
    }

    #[test]
    fn words_are_names_or_files() {
        assert_eq!(chosen(&["bwrap", "null"]).unwrap(), ["bwrap", "null"]);
        let wrong = chosen(&["bwarp", "no/such.yaml", "codex", "codex"]).unwrap_err();
        assert!(wrong.contains("no backend `bwarp`"), "{wrong}");
        assert!(wrong.contains("did you mean `bwrap`"), "{wrong}");
        assert!(wrong.contains("no/such.yaml"), "{wrong}");
        assert!(wrong.contains("`codex` is named twice"), "{wrong}");
    }

    #[test]
    fn a_file_of_the_users_is_a_backend() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mine.yaml");
        let text = include_str!("../manifests/bwrap.yaml").replace("name: bwrap", "name: mine");
        std::fs::write(&file, text).unwrap();
        assert_eq!(chosen(&[file.to_str().unwrap()]).unwrap(), ["mine"]);
    }
}
