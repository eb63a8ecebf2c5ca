//! Paths of the machine that somebody worked on: they work nowhere else and tell what they should
//! not.

use std::path::Path;

use crate::files::Source;
use crate::finding::Finding;

/// Homes that stand for anybody's.
const ANYBODY: [&str; 4] = ["user", "you", "me", "*"];

/// What to look for.
#[derive(Debug)]
pub(crate) struct Paths {
    /// The folder of this checkout, when its name is long enough to mean one.
    checkout: Option<String>,
}

impl Paths {
    /// Paths of the machine that this workspace lies on.
    pub(crate) fn of(root: &Path) -> Paths {
        let checkout = root.canonicalize().ok().map(|path| path.display().to_string());
        Paths { checkout: checkout.filter(|path| path.matches('/').count() > 1) }
    }

    /// Lines with such a path.
    pub(crate) fn find(&self, source: &Source) -> Vec<Finding> {
        let lines = source.text.lines().enumerate();
        let hits = lines.filter_map(|(index, line)| self.hit(line).map(|path| (index, path)));
        hits.map(|(index, path)| {
            Finding::at(&source.path, index, format!("names `{path}`, a path of one machine"))
        })
        .collect()
    }

    fn hit(&self, line: &str) -> Option<String> {
        if let Some(checkout) = &self.checkout
            && line.contains(checkout)
        {
            return Some(checkout.clone());
        }
        let build = [concat!("/.car", "go/"), concat!("/.rust", "up/")];
        let homes = [concat!("/ho", "me/"), concat!("/Us", "ers/")];
        let built = build.into_iter().filter(|part| absolute(line, part)).map(str::to_string);
        built.chain(homes.iter().filter_map(|home| resident(line, home))).next()
    }
}

/// True when `part` stands in an absolute path, not after a variable or `~`.
fn absolute(line: &str, part: &str) -> bool {
    line.match_indices(part).any(|(at, _)| {
        let part_of_path = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        let before = &line[..at];
        // What stands right before it, back to the first letter that no path has.
        before.rsplit(|c| !part_of_path(c)).next().is_some_and(|path| path.starts_with('/'))
    })
}

/// A home folder of somebody in particular.
fn resident(line: &str, home: &str) -> Option<String> {
    line.match_indices(home).find_map(|(at, _)| {
        let inside = line[..at].chars().next_back();
        if inside.is_some_and(|c| c.is_alphanumeric() || "_-$}.".contains(c)) {
            return None;
        }
        let rest = &line[at + home.len()..];
        let (name, _) = rest.split_once('/')?;
        let named =
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
        (named && !ANYBODY.contains(&name)).then(|| format!("{home}{name}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> usize {
        let source = Source { path: "a.md".into(), text: line.into() };
        Paths { checkout: Some("/srv/somewhere/checkout".into()) }.find(&source).len()
    }

    #[test]
    fn paths_of_one_machine() {
        let bad = [
            "see /srv/somewhere/checkout/x",
            concat!("in /ho", "me/jane/project"),
            concat!("`/Us", "ers/jane/project`"),
            concat!("/root/.car", "go/bin"),
        ];
        for line in bad {
            assert_eq!(found(line), 1, "{line}");
        }
        let good = [
            concat!("/ho", "me/user/x"),
            concat!("/ho", "me/**/.ssh"),
            concat!("$HOME/.car", "go/bin"),
            concat!("~/.car", "go/bin"),
            concat!("work/ho", "me/jane/x"),
            "/srv/somewhere/else",
        ];
        for line in good {
            assert_eq!(found(line), 0, "{line}");
        }
    }

    #[test]
    fn the_checkout_is_found() {
        let root = crate::files::planted(&[("x/y", "")]);
        let path = root.path().join("x").canonicalize().unwrap();
        let source = Source { path: "a.md".into(), text: format!("at {}/y", path.display()) };
        assert_eq!(Paths::of(&path).find(&source).len(), 1);
    }
}
