//! [`Plan`]: what is granted and what is covered.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use sandproof_scenarios::policy::{EnvPolicy, is_glob};
use sandproof_scenarios::{Network, Profile};

use super::args::{Args, Mechanism, NetworkArg};
use super::config::{self, Custom, GlobLimits};
use super::cover;
use super::environment::Environment;
use super::events::{self, Applied, Platform};
use super::grants::{self, Grants};
use super::metadata;
use super::mutant::{self, Mutant};
use super::planted;
use super::refusal::Refusal;
use super::resolve::{self, Resolved};
use super::selection::{Chooser, Chosen};
use super::sockets;
use super::sources::Sources;
use super::state::{self, State};
use super::surroundings::Surroundings;
use crate::glob::{GlobError, GlobSet, Limits};

/// What was asked for besides the options of the command line.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The profile.
    pub chosen: Chosen,
    /// Limits of the walk for deny globs, as the configuration says.
    pub limits: GlobLimits,
    /// Which variables reach the command.
    pub environment: EnvPolicy,
}

/// What is to be enforced.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The built-in profile that holds, or that the one that holds is built on.
    pub profile: Profile,
    /// The name of the one that holds.
    pub name: String,
    /// What may be read and written; once settled, canonical paths that exist.
    pub grants: Grants,
    /// Paths neither read nor written; they need not exist yet.
    pub mask: Vec<PathBuf>,
    /// What was denied, as it was named, relative to the workspace.
    pub denied: Vec<String>,
    /// The same by glob: what the globs match now, where the system cannot match them later.
    pub matched: Vec<PathBuf>,
    /// The globs among what is denied, absolute.
    pub globs: Vec<String>,
    /// Limits of the walk for them.
    pub limits: Limits,
    /// The folders of what is denied cannot be renamed.
    pub pins: bool,
    /// Paths read but not written; they need not exist yet.
    pub freeze: Vec<PathBuf>,
    /// Symlinks on the way to what is covered: read and not replaced where the command writes.
    pub ways: BTreeSet<PathBuf>,
    /// Settings, log and records of the sandbox, once settled: read but not written.
    pub state: State,
    /// A requirement demands the profile.
    pub required: bool,
    /// Where hook sources are protected, if they are.
    pub grok_home: Option<PathBuf>,
    /// The hook sources, once settled.
    pub sources: Sources,
    /// Network of the command.
    pub network: Network,
    /// Environment of the command.
    pub environment: Environment,
}

impl Plan {
    /// One that grants this and asks for nothing else.
    #[must_use]
    pub fn granting(profile: Profile, grants: Grants) -> Self {
        Self {
            profile,
            name: profile.name().to_owned(),
            grants,
            mask: Vec::new(),
            denied: Vec::new(),
            globs: Vec::new(),
            limits: Limits::default(),
            matched: Vec::new(),
            pins: true,
            freeze: Vec::new(),
            ways: BTreeSet::new(),
            state: State::default(),
            required: false,
            grok_home: None,
            sources: Sources::default(),
            network: profile.network(),
            environment: Environment::default(),
        }
    }

    /// True when nothing is limited, covered or blocked.
    #[must_use]
    pub fn is_free(&self) -> bool {
        !self.grants.limited && !self.covers() && self.network == Network::Open
    }

    /// All that is neither read nor written.
    pub fn masked(&self) -> impl Iterator<Item = &PathBuf> {
        self.mask.iter().chain(&self.matched)
    }

    /// True when a path is denied, or lies in a denied folder.
    #[must_use]
    pub fn denies(&self, path: &Path) -> bool {
        cover::inside_any(path, &self.mask) || cover::inside_any(path, &self.matched)
    }

    /// True when something is to be masked or frozen.
    #[must_use]
    pub fn covers(&self) -> bool {
        !self.mask.is_empty()
            || !self.matched.is_empty()
            || !self.freeze.is_empty()
            || !self.globs.is_empty()
            || self.grok_home.is_some()
            || self.profile == Profile::WorkspaceWrite
    }
}

/// Draws the plan; nothing is changed by it.
///
/// # Errors
/// A path that cannot be resolved, or a glob outside the grammar or its limits.
pub fn draw(args: &Args, around: &Surroundings, asked: &Asked) -> Result<Plan, Refusal> {
    let custom = &asked.chosen.custom;
    let profile = custom.base;
    words_are_paths(args, around, asked)?;
    let covers = args.only.is_none_or(|only| only == Mechanism::Mounts);
    let (mask, globs) = mask(args, around, asked)?;
    roots_are_meant(custom, args, around)?;
    let limits = args.limits(limits(asked.limits));
    let matched = if cfg!(target_os = "macos") { Vec::new() } else { expand(&globs, limits)? };
    let mut plan = Plan {
        profile,
        name: asked.chosen.name.clone(),
        grants: grants(custom, args, around),
        mask,
        denied: denied(args, around, asked),
        matched,
        globs,
        limits,
        pins: !args.no_deny_pins && !mutant::on(Mutant::DeniedUnpinned),
        freeze: freeze(args, around)?,
        ways: ways(led_to(args, around, asked)),
        state: State::default(),
        required: asked.chosen.by == Chooser::Requirement,
        grok_home: Some(around.grok_home.clone()).filter(|_| covers && has_hooks(profile)),
        sources: Sources::default(),
        network: args.network.map_or(own_network(custom), network),
        environment: Environment::of(&asked.environment),
    };
    if covers {
        plan.mask.extend(sockets::of(profile, plan.network, &around.home)?);
    }
    plan.leaves_something()?;
    Ok(plan)
}

impl Plan {
    /// Makes what the plan needs, hook slots and missing write roots, and makes its grants
    /// canonical. Done last, so that a refusal before leaves nothing behind.
    ///
    /// # Errors
    /// Something cannot be made, or a hook source cannot be protected.
    pub fn settle(&mut self, around: &Surroundings) -> Result<(), Refusal> {
        if let Some(grok_home) = &self.grok_home {
            self.sources = Sources::prepare(grok_home)?;
        }
        let sources =
            if mutant::on(Mutant::HooksWritable) { Vec::new() } else { self.sources.paths() };
        for source in sources {
            self.freeze.extend(resolve::entry(&source)?.all());
        }
        make_missing(&self.grants.write)?;
        self.foresee(around)
    }

    /// The part of [`Plan::settle`] that changes nothing.
    ///
    /// # Errors
    /// A path that cannot be resolved.
    pub fn foresee(&mut self, around: &Surroundings) -> Result<(), Refusal> {
        for list in [&mut self.grants.read, &mut self.grants.write] {
            // A root that does not exist grants nothing.
            *list = list.iter().filter_map(|path| path.canonicalize().ok()).collect();
            list.sort();
            list.dedup();
        }
        // This profile knows no hooks, and writes the workspace with the profiles in it.
        let metadata = self.profile == Profile::WorkspaceWrite;
        if metadata {
            self.freeze.extend(metadata::of(&self.grants.write)?);
        }
        if self.grok_home.is_some() || metadata {
            self.state = state::of(&around.grok_home, &around.workspace, &self.grants.write)?;
            self.mask.append(&mut self.state.logs);
            self.ways.extend(state::ways(&around.grok_home, &around.workspace));
        }
        // A link elsewhere cannot be replaced by the command, or (off) is no concern of the workspace.
        let workspace = [around.workspace.clone()];
        let roots = if self.grants.limited { &self.grants.write[..] } else { &workspace[..] };
        self.ways.retain(|link| cover::inside_any(link, roots));
        self.leaves_something()
    }

    /// What is told of it once it is enforced.
    #[must_use]
    pub fn applied(&self, around: &Surroundings) -> Applied {
        Applied {
            workspace: around.workspace.display().to_string(),
            platform: Platform::here(),
            enforced: true,
            restrict_network: self.network == Network::Blocked,
            read_write_paths: events::texts(&self.grants.write),
            read_only_paths: events::texts(&self.grants.read),
            deny_paths: self.denied.clone(),
        }
    }

    /// All that is read but not written, besides the ways.
    #[must_use]
    pub fn frozen(&self) -> Vec<PathBuf> {
        [&self.freeze, &self.state.files, &self.state.folders]
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }

    fn leaves_something(&self) -> Result<(), Refusal> {
        let root = Path::new("/");
        if self.masked().chain(&self.frozen()).any(|path| path == root) {
            return Err(Refusal::at("everything would be covered", root, "name what lies below"));
        }
        Ok(())
    }
}

/// Profiles that protect the hook sources.
#[must_use]
pub fn has_hooks(profile: Profile) -> bool {
    match profile {
        Profile::Workspace | Profile::ReadOnly | Profile::Strict => true,
        Profile::Devbox | Profile::WorkspaceWrite | Profile::Off => false,
    }
}

/// The grants of the profile, of its file and of the options.
fn grants(custom: &Custom, args: &Args, around: &Surroundings) -> Grants {
    let mut grants = grants::of(custom.base, around, &grants::Host);
    if grants.limited {
        let read = custom.read_only.iter().chain(&args.read_only);
        grants.read.extend(read.map(|path| around.cwd.join(path)));
        if mutant::on(Mutant::ConfigReadRootsWritten) {
            grants.write.extend(custom.read_only.iter().map(|path| around.cwd.join(path)));
        }
        let write = custom.read_write.iter().chain(&args.read_write);
        grants.write.extend(write.map(|path| around.cwd.join(path)));
    }
    grants
}

/// Refuses added roots to which an earlier command may have laid a link.
fn roots_are_meant(custom: &Custom, args: &Args, around: &Surroundings) -> Result<(), Refusal> {
    let own = grants::of(custom.base, around, &grants::Host);
    if !own.limited {
        return Ok(());
    }
    let real = |roots: &[PathBuf]| -> Vec<PathBuf> {
        roots.iter().filter_map(|root| root.canonicalize().ok()).collect()
    };
    let granted = real(&own.write);
    let seen = [&granted[..], &real(&own.read)].concat();
    let written = [&granted[..], std::slice::from_ref(&around.workspace)].concat();
    let meant = |root: &PathBuf, what, granted: &[PathBuf]| {
        planted::refuse(&around.cwd.join(root), what, &written, granted)
    };
    let mut write = custom.read_write.iter().chain(&args.read_write);
    write.try_for_each(|root| meant(root, "a write root", &granted))?;
    let mut read = custom.read_only.iter().chain(&args.read_only);
    read.try_for_each(|root| meant(root, "a read root", &seen))
}

/// Makes the write roots that are missing.
fn make_missing(roots: &[PathBuf]) -> Result<(), Refusal> {
    for path in roots.iter().filter(|path| !path.exists()) {
        fs::create_dir_all(path).map_err(|error| {
            let what = format!("a write root cannot be made ({error})");
            Refusal::at(what, path, "make it, or leave it out")
        })?;
    }
    Ok(())
}

/// Refuses words that look as if somebody should expand them, where nobody does: they would name a
/// path that nobody meant, and protect nothing.
fn words_are_paths(args: &Args, around: &Surroundings, asked: &Asked) -> Result<(), Refusal> {
    let roots = args.read_only.iter().chain(&args.read_write).chain(&args.protect);
    let words = args.deny.iter().map(Path::new).chain(roots.map(PathBuf::as_path));
    for word in words.filter(|word| !word.as_os_str().is_empty()) {
        if let Some(wrong) = word.to_str().and_then(config::mistake) {
            return Err(Refusal::at(wrong, word, "or give it to the shell without quotes"));
        }
    }
    let missing = |path: &Path| fs::symlink_metadata(around.workspace.join(path)).is_err();
    let denied: Vec<PathBuf> = entries(args, asked).map(PathBuf::from).collect();
    let plain = denied.iter().filter(|path| !is_glob(&path.to_string_lossy()));
    if let Some(braces) = plain.clone().find(|path| has_braces(path) && missing(path)) {
        let mend = "deny each path by itself";
        return Err(Refusal::at("braces are not expanded", braces, mend));
    }
    let pattern = |path: &&PathBuf| is_glob(&path.to_string_lossy()) && missing(path);
    match args.protect.iter().find(pattern) {
        Some(glob) => Err(Refusal::at(
            "--protect takes no pattern",
            glob,
            "name the paths, or the folder that holds them",
        )),
        None => Ok(()),
    }
}

fn has_braces(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.contains('{') && text.contains('}')
}

/// The network of the profile.
fn own_network(custom: &Custom) -> Network {
    let own = custom.network.filter(|_| !mutant::on(Mutant::ConfigNetworkDropped));
    own.unwrap_or(custom.base.network())
}

/// What is denied, absolute; globs are not expanded.
fn denied(args: &Args, around: &Surroundings, asked: &Asked) -> Vec<String> {
    let paths = entries(args, asked).map(|entry| around.workspace.join(entry));
    events::texts(&paths.collect::<Vec<_>>())
}

/// What the profile and `--deny` name.
fn entries<'a>(args: &'a Args, asked: &'a Asked) -> impl Iterator<Item = OsString> + 'a {
    let own = asked.chosen.custom.deny.iter().map(OsString::from);
    let own = own.filter(|_| !mutant::on(Mutant::ConfigDenyDropped));
    own.chain(args.deny.iter().cloned())
}

/// What is denied: paths and globs.
fn mask(
    args: &Args,
    around: &Surroundings,
    asked: &Asked,
) -> Result<(Vec<PathBuf>, Vec<String>), Refusal> {
    let mut globs = Vec::new();
    let mut paths = Vec::new();
    for entry in entries(args, asked) {
        if is_glob(&entry.to_string_lossy()) {
            globs.push(absolute_glob(Path::new(&entry), around)?);
        } else {
            let all = resolve::entry(&around.workspace.join(entry))?.all();
            let last = if mutant::on(Mutant::LinkTargetOpen) { 1 } else { all.len() };
            paths.extend(all.into_iter().take(last));
        }
    }
    Ok((paths, globs))
}

/// What is denied, unless it is not pinned, and protected.
fn led_to<'a>(
    args: &'a Args,
    around: &'a Surroundings,
    asked: &'a Asked,
) -> impl Iterator<Item = PathBuf> + 'a {
    let pinned = !args.no_deny_pins && !mutant::on(Mutant::DeniedUnpinned);
    let denied = entries(args, asked).filter(move |_| pinned).map(PathBuf::from);
    denied.chain(args.protect.iter().cloned()).map(|entry| around.workspace.join(entry))
}

/// The symlinks on the way to these paths, and to where these globs begin.
pub fn ways(paths: impl Iterator<Item = PathBuf>) -> BTreeSet<PathBuf> {
    paths
        .filter(|_| !mutant::on(Mutant::WaysUnpinned))
        .flat_map(|path| resolve::links_on_the_way(&plain(&path)))
        .collect()
}

/// A path up to its first pattern, which stands for any name there.
fn plain(path: &Path) -> PathBuf {
    let named = path.components().take_while(|part| !is_glob(&part.as_os_str().to_string_lossy()));
    let plain: PathBuf = named.collect();
    if plain == path { plain } else { plain.join("*") }
}

/// The limits of a file, where it names them.
fn limits(named: GlobLimits) -> Limits {
    let usual = Limits::default();
    Limits {
        depth: named.depth.unwrap_or(usual.depth),
        matches: named.matches.unwrap_or(usual.matches),
        entries: named.entries.unwrap_or(usual.entries),
    }
}

/// What the globs match now. A matched link that leads nowhere is covered itself; what it names
/// does not match and may be made.
fn expand(globs: &[String], limits: Limits) -> Result<Vec<PathBuf>, Refusal> {
    let refuse = |error: GlobError| Refusal::new(format!("a deny {error}"), "nothing was started");
    let matches = GlobSet::compile(globs).and_then(|set| set.expand(limits)).map_err(refuse)?;
    let mut resolver = resolve::Resolver::default();
    let mut paths = Vec::with_capacity(matches.len());
    for path in matches {
        let all = resolver.existing(path)?;
        let last = if mutant::on(Mutant::MatchedLinkTargetOpen) { 1 } else { all.len() };
        paths.extend(all.into_iter().take(last));
    }
    Ok(if mutant::on(Mutant::MatchesIgnored) { Vec::new() } else { paths })
}

/// A relative glob is meant inside the workspace, whose own name is no pattern.
fn absolute_glob(glob: &Path, around: &Surroundings) -> Result<String, Refusal> {
    let text = |path: &Path, what: &str| {
        path.to_str().map(str::to_owned).ok_or_else(|| {
            Refusal::at(format!("{what} is not UTF-8"), path, "deny it by exact paths")
        })
    };
    let glob = text(glob, "a deny glob")?;
    if glob.starts_with('/') {
        return Ok(glob);
    }
    let workspace = text(&around.workspace, "the workspace of a relative glob")?;
    if workspace.contains(['*', '?', '[', '{', '}', '\\']) {
        let mend = "write the glob as an absolute one, or deny by exact paths";
        let what = "the name of the workspace reads as a glob itself";
        return Err(Refusal::at(what, &around.workspace, mend));
    }
    Ok(format!("{}/{glob}", workspace.trim_end_matches('/')))
}

/// What `--protect` names.
fn freeze(args: &Args, around: &Surroundings) -> Result<Vec<PathBuf>, Refusal> {
    let mut paths = Vec::new();
    for entry in &args.protect {
        paths.extend(resolve::entry(&around.workspace.join(entry)).map(Resolved::all)?);
    }
    Ok(paths)
}

fn network(arg: NetworkArg) -> Network {
    match arg {
        NetworkArg::Open => Network::Open,
        NetworkArg::Blocked => Network::Blocked,
    }
}
