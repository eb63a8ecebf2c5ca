//! `sandbox.toml`: custom profiles, and limits of the walk for deny globs.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use sandproof_scenarios::{Network, Profile};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::complain::{Source, near};
use super::{BUILT_IN, built_in, entries, read};
use crate::confine::refusal::Refusal;
use crate::glob::GlobSet;

/// A profile that a file defines: a built-in one, and what it adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Custom {
    /// What it is built on.
    pub base: Profile,
    /// Network of the command, when it is not that of the base.
    pub network: Option<Network>,
    /// More read roots, as written, without a pattern at the end; relative ones are meant from the
    /// current folder.
    pub read_only: Vec<PathBuf>,
    /// More write roots, likewise.
    pub read_write: Vec<PathBuf>,
    /// Paths and globs, as written; relative ones are meant from the workspace.
    pub deny: Vec<String>,
}

impl Custom {
    /// A built-in profile and nothing else.
    #[must_use]
    pub fn built_in(base: Profile) -> Self {
        let (read_only, read_write, deny) = (Vec::new(), Vec::new(), Vec::new());
        Self { base, network: None, read_only, read_write, deny }
    }
}

/// Limits of the walk for deny globs; the default stands for each that is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobLimits {
    /// Folders below a walk root.
    pub depth: Option<usize>,
    /// Paths found.
    pub matches: Option<usize>,
    /// Entries looked at.
    pub entries: Option<usize>,
}

/// One file.
#[derive(Debug)]
pub(super) struct File {
    pub(super) profiles: BTreeMap<String, Custom>,
    pub(super) limits: GlobLimits,
    /// The refusal of its `[limits]`, where such a table may not stand.
    pub(super) limits_stand_at: Option<Refusal>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTable {
    #[serde(default)]
    profiles: BTreeMap<Spanned<String>, ProfileTable>,
    limits: Option<Spanned<LimitsTable>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileTable {
    extends: Option<Spanned<String>>,
    restrict_network: Option<bool>,
    #[serde(default)]
    read_only: Vec<Spanned<String>>,
    #[serde(default)]
    read_write: Vec<Spanned<String>>,
    #[serde(default)]
    deny: Vec<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    depth: Option<Spanned<i64>>,
    matches: Option<Spanned<i64>>,
    entries: Option<Spanned<i64>>,
}

/// Reads a file that exists.
///
/// # Errors
/// It holds anything that is not exactly a set of profiles.
pub(super) fn read(path: &Path, cwd: &Path) -> Result<Option<File>, Refusal> {
    let Some((table, source)) = read::strictly::<FileTable>(path)? else { return Ok(None) };
    let mut profiles = BTreeMap::new();
    for (name, table) in table.profiles {
        check_name(&name, &source)?;
        profiles.insert(name.into_inner(), profile(table, &source, cwd)?);
    }
    let (mut limits, mut limits_stand_at) = (GlobLimits::default(), None);
    if let Some(table) = table.limits {
        let message = "`[limits]` may stand in sandbox.toml of GROK_HOME only; remove it here";
        limits_stand_at = Some(source.wrong(table.span(), message, None));
        limits = self::limits(table.into_inner(), &source)?;
    }
    Ok(Some(File { profiles, limits, limits_stand_at }))
}

/// A built-in name always means the built-in profile, so nobody would get what stands here.
fn check_name(name: &Spanned<String>, source: &Source) -> Result<(), Refusal> {
    let text = name.get_ref();
    let message = if built_in(text).is_some() {
        format!("`{text}` is a built-in profile and cannot be defined; name yours otherwise")
    } else if text.trim() != text || text.is_empty() || text.contains(char::is_control) {
        "the name of a profile is empty, or holds spaces at an end or control characters; write \
         it without"
            .to_owned()
    } else {
        return Ok(());
    };
    Err(source.wrong(name.span(), message, None))
}

fn profile(table: ProfileTable, source: &Source, cwd: &Path) -> Result<Custom, Refusal> {
    Ok(Custom {
        base: table.extends.map_or(Ok(Profile::Workspace), |base| extends(&base, source))?,
        network: table
            .restrict_network
            .map(|yes| if yes { Network::Blocked } else { Network::Open }),
        read_only: roots(table.read_only, source, cwd)?,
        read_write: roots(table.read_write, source, cwd)?,
        deny: table.deny.into_iter().map(|entry| deny(entry, source)).collect::<Result<_, _>>()?,
    })
}

fn extends(base: &Spanned<String>, source: &Source) -> Result<Profile, Refusal> {
    let name = base.get_ref();
    let names = || BUILT_IN.iter().map(|(name, _)| *name).filter(|name| *name != "none");
    match built_in(name) {
        Some(Profile::Off) => {
            let message = "a profile cannot extend `off`; extend one that limits something";
            Err(source.wrong(base.span(), message, None))
        }
        Some(profile) => Ok(profile),
        None => {
            let message = format!(
                "`{}` is no built-in profile, and only those can be extended: workspace, devbox, \
                 read-only, strict, workspace-write",
                name.escape_debug()
            );
            Err(source.wrong(base.span(), message, near(name, names())))
        }
    }
}

fn roots(
    entries: Vec<Spanned<String>>,
    source: &Source,
    cwd: &Path,
) -> Result<Vec<PathBuf>, Refusal> {
    let mut roots = Vec::new();
    for entry in entries {
        let root = checked(&entry, source)
            .and_then(|text| entries::root(text).map_err(|why| wrong(&entry, source, why)))?;
        if let Some(why) = entries::no_folder(&root, cwd) {
            return Err(wrong(&entry, source, why));
        }
        roots.push(root);
    }
    Ok(roots)
}

fn deny(entry: Spanned<String>, source: &Source) -> Result<String, Refusal> {
    let text = checked(&entry, source)?;
    if sandproof_scenarios::policy::is_glob(text) {
        // As it will be read: below some workspace.
        let absolute = if text.starts_with('/') { text.to_owned() } else { format!("/w/{text}") };
        GlobSet::compile(&[absolute]).map_err(|error| wrong(&entry, source, error.to_string()))?;
    }
    Ok(entry.into_inner())
}

fn checked<'a>(entry: &'a Spanned<String>, source: &Source) -> Result<&'a str, Refusal> {
    entries::mistake(entry.get_ref())
        .map_or(Ok(entry.get_ref()), |why| Err(wrong(entry, source, why)))
}

fn wrong(entry: &Spanned<String>, source: &Source, why: String) -> Refusal {
    source.wrong(entry.span(), why, None)
}

fn limits(table: LimitsTable, source: &Source) -> Result<GlobLimits, Refusal> {
    let number = |value: Option<Spanned<i64>>| -> Result<Option<usize>, Refusal> {
        let Some(value) = value else { return Ok(None) };
        let span: Range<usize> = value.span();
        match usize::try_from(value.into_inner()) {
            Ok(number) if number > 0 => Ok(Some(number)),
            Ok(_) | Err(_) => Err(source.wrong(span, "a limit is a number from 1 on", None)),
        }
    };
    Ok(GlobLimits {
        depth: number(table.depth)?,
        matches: number(table.matches)?,
        entries: number(table.entries)?,
    })
}
