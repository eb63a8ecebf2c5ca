//! Which backends there are.

use std::path::Path;

use crate::Backend;
use crate::liars::{Liar, LiarKind};
use crate::manifest::embedded_manifests;
use crate::mechanism::{self, Confine, Mechanism};

/// Every backend that a user is shown; `exe` is sandproof's own executable. The control arm
/// ([`crate::bare`]) and the liars are not among them.
#[must_use]
pub fn all(exe: &Path) -> Vec<Box<dyn Backend>> {
    mechanism::all(exe).into_iter().chain(products()).collect()
}

/// The products: backends that sandproof only starts.
#[must_use]
pub fn products() -> Vec<Box<dyn Backend>> {
    // A mistake in an embedded manifest fails a test of this crate, and hides it from users.
    let manifests = embedded_manifests().unwrap_or_default();
    manifests.into_iter().map(|one| Box::new(one) as Box<dyn Backend>).collect()
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

/// The backend of this name, liars included. `confine` does without the mechanisms `without`;
/// words that name none are not seen here.
#[must_use]
pub fn by_name(name: &str, exe: &Path, without: &[String]) -> Option<Box<dyn Backend>> {
    let removed: Vec<Mechanism> =
        without.iter().filter_map(|word| mechanism::by_name(word).ok()).collect();
    let confine = Confine::new(exe.to_path_buf(), removed);
    if name == confine.name() {
        return Some(Box::new(confine));
    }
    all(exe).into_iter().chain(liars(exe)).find(|backend| backend.name() == name)
}

/// The names of all backends, liars included.
#[must_use]
pub fn names() -> Vec<String> {
    let exe = Path::new("");
    all(exe).iter().chain(&liars(exe)).map(|backend| backend.name().to_owned()).collect()
}

/// True for the name of a liar, which no user is shown.
#[must_use]
pub fn is_liar(name: &str) -> bool {
    LiarKind::ALL.iter().any(|kind| kind.name() == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_backends_share_a_name() {
        let names = names();
        let unique: BTreeSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
        let shown: Vec<&String> = names.iter().filter(|name| !is_liar(name)).collect();
        assert_eq!(shown, ["confine", "landlock", "seccomp", "mounts", "bwrap", "codex"]);
        assert_eq!(names.len(), shown.len() + LiarKind::ALL.len());
    }

    #[test]
    fn every_name_is_found() {
        let exe = Path::new("/exe");
        for name in names() {
            let found = by_name(&name, exe, &[]).map(|backend| backend.name().to_owned());
            assert_eq!(found, Some(name));
        }
        assert!(by_name("no-such-backend", exe, &[]).is_none());
    }

    #[test]
    fn confine_does_without_what_is_removed() {
        let without = ["landlock".to_owned()];
        let confine = by_name("confine", Path::new("/exe"), &without);
        assert!(format!("{confine:?}").contains("without: [Landlock]"), "{confine:?}");
    }
}
