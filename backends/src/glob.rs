//! The deny globs: one [`GlobSet`] for all patterns, its matcher, and its bounded walk.
//!
//! The grammar is a strict subset whose meaning is the same everywhere: `*`, `?` and classes stay
//! within a segment and treat a leading dot like any other character; `**` is a whole segment and
//! stands for zero or more of them, as the last segment for at least one. `?` and a negated class
//! take one UTF-8 character, or one byte where a name is not valid UTF-8: the safest reading for a
//! deny list. Whatever is outside the subset is refused, never guessed.

pub(crate) mod segment;
mod walk;

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use segment::Segment;

/// Several absolute patterns, matched and walked together.
#[derive(Clone, Debug, Default)]
pub struct GlobSet {
    patterns: Vec<Pattern>,
}

/// One pattern, split at its slashes.
#[derive(Clone, Debug)]
struct Pattern {
    /// As written, for messages.
    text: String,
    segments: Vec<Segment>,
}

/// Where [`GlobSet::expand`] stops and refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// A folder found this deep below its walk root is refused; a file is not.
    pub depth: usize,
    /// Most paths in the answer.
    pub matches: usize,
    /// Most entries looked at, walk roots included.
    pub entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 64, matches: 4096, entries: 2_000_000 }
    }
}

/// Why a set could not be compiled or expanded. Nothing is enforced in part: each is a refusal.
#[derive(Debug, thiserror::Error)]
pub enum GlobError {
    /// Outside the subset.
    #[error("glob `{glob}`: {why}")]
    Syntax {
        /// The pattern.
        glob: String,
        /// What is wrong and what to write instead.
        why: String,
    },
    /// A limit was reached.
    #[error(
        "glob {globs}: more than {limit} {unit} below `{}`, stopped at `{}`; narrow the glob, \
         deny a folder by its exact path, or raise {option}",
        root.display(), at.display()
    )]
    Limit {
        /// The patterns that were walked for, in backticks.
        globs: String,
        /// `folders deep`, `matches` or `entries`.
        unit: &'static str,
        /// How many were allowed.
        limit: usize,
        /// The option of `confine` that raises it.
        option: &'static str,
        /// Where the walk began.
        root: PathBuf,
        /// Where the walk stopped.
        at: PathBuf,
    },
    /// A folder could not be read.
    #[error("glob {globs}: cannot read `{}`: {source}", at.display())]
    Io {
        /// The patterns that were walked for, in backticks.
        globs: String,
        /// The folder or file.
        at: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// Positions (pattern, next segment) that are alive after some path; sorted, without duplicates.
/// Empty means that nothing below that path can match.
type States = Vec<(usize, usize)>;

impl GlobSet {
    /// Compiles absolute patterns.
    ///
    /// # Errors
    /// The first pattern outside the subset, and what is wrong with it.
    pub fn compile(patterns: &[String]) -> Result<Self, GlobError> {
        let patterns =
            patterns.iter().map(|text| Pattern::parse(text)).collect::<Result<_, _>>()?;
        Ok(Self { patterns })
    }

    /// True when one of the patterns matches this absolute path, taken as it is written.
    #[must_use]
    pub fn matches(&self, path: &Path) -> bool {
        self.accepts(&self.after(path))
    }

    /// Every existing file and folder that matches, sorted, and the real path of each where it
    /// differs (the target of a matching symlink). Symlinks are not descended, but a walk root
    /// that is named through one is. A folder that this user cannot read, but could open to
    /// itself by `chmod`, is denied whole. What is created later is not covered.
    ///
    /// # Errors
    /// A limit, or a folder that cannot be read for another reason than permission.
    pub fn expand(&self, limits: Limits) -> Result<Vec<PathBuf>, GlobError> {
        walk::expand(self, limits)
    }

    /// States before the first segment, that is at `/`.
    fn start(&self) -> States {
        let mut states = States::new();
        for number in 0..self.patterns.len() {
            self.enter(&mut states, number, 0);
        }
        states
    }

    /// States after this whole path.
    fn after(&self, path: &Path) -> States {
        path.components().fold(self.start(), |states, component| match component {
            Component::Normal(name) => self.advance(&states, name.as_bytes()),
            Component::RootDir | Component::CurDir => states,
            Component::ParentDir | Component::Prefix(_) => States::new(),
        })
    }

    /// States after one more name.
    fn advance(&self, states: &States, name: &[u8]) -> States {
        let mut next = States::new();
        for &(number, at) in states {
            let segments = &self.patterns[number].segments;
            match segments.get(at) {
                Some(Segment::Any) => {
                    self.enter(&mut next, number, at);
                    if at + 1 == segments.len() {
                        next.push((number, at + 1));
                    }
                }
                Some(segment) if segment.matches(name) => self.enter(&mut next, number, at + 1),
                Some(_) | None => {}
            }
        }
        next.sort_unstable();
        next.dedup();
        next
    }

    /// Adds a position, and the one after a `**` that may stand for no segment at all.
    fn enter(&self, states: &mut States, number: usize, at: usize) {
        let segments = &self.patterns[number].segments;
        states.push((number, at));
        if matches!(segments.get(at), Some(Segment::Any)) && at + 1 < segments.len() {
            self.enter(states, number, at + 1);
        }
    }

    /// True when some pattern is used up.
    fn accepts(&self, states: &States) -> bool {
        states.iter().any(|&(number, at)| at == self.patterns[number].segments.len())
    }

    /// True when some pattern could match below.
    fn alive(&self, states: &States) -> bool {
        states.iter().any(|&(number, at)| at < self.patterns[number].segments.len())
    }

    /// The patterns alive in these states, for messages.
    fn names(&self, states: &States) -> String {
        let mut numbers: Vec<usize> = states.iter().map(|&(number, _)| number).collect();
        numbers.dedup();
        let texts: Vec<String> =
            numbers.into_iter().map(|number| format!("`{}`", self.patterns[number].text)).collect();
        texts.join(", ")
    }
}

impl Pattern {
    fn parse(text: &str) -> Result<Self, GlobError> {
        let refuse = |why: String| GlobError::Syntax { glob: text.to_owned(), why };
        let rest = text
            .strip_prefix('/')
            .ok_or_else(|| refuse("is not absolute, it must begin with `/`".to_owned()))?;
        let segments =
            rest.split('/').map(Segment::parse).collect::<Result<_, _>>().map_err(refuse)?;
        Ok(Self { text: text.to_owned(), segments })
    }
}

/// The segments of one absolute pattern.
///
/// # Errors
/// It is outside the subset.
pub(crate) fn parse(pattern: &str) -> Result<Vec<Segment>, GlobError> {
    Pattern::parse(pattern).map(|pattern| pattern.segments)
}

/// The folder where the walk for a pattern begins: its segments before the first that is no plain
/// name. A pattern of plain names only begins at its parent.
#[must_use]
pub fn walk_root(pattern: &str) -> PathBuf {
    let plain = pattern.split('/').take_while(|part| !part.contains(['*', '?', '[']));
    let root: PathBuf = std::iter::once("/").chain(plain.filter(|part| !part.is_empty())).collect();
    if root == Path::new(pattern) { root.parent().unwrap_or(&root).to_path_buf() } else { root }
}

#[cfg(test)]
mod tests;
