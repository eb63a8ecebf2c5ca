//! [`Mutant`]: weakened variants of this sandbox, to see that the catalogue notices each of them.
//!
//! A mutant takes one rule, flag, check, pin or verification away. Without the feature `mutants`,
//! which only tests ask for, [`on`] is a constant `false` and no build holds any of it.
//!
//! To add one: a variant, a row in [`TABLE`], and `mutant::on(Mutant::X)` at the place. The test
//! `mutants` of the harness then demands a scenario that turns red.

use clap::ValueEnum;

/// A weakened variant. The names on the command line are these in kebab case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
#[expect(missing_docs, reason = "TABLE says what each of them breaks")]
pub enum Mutant {
    // environment
    EnvExcludeIgnored,
    EnvSetIgnored,
    EnvInheritIgnored,
    EnvIncludeOnlyIgnored,
    EnvDefaultExcludesIgnored,
    EnvConfigIgnored,
    // config
    ConfigTildeAccepted,
    ConfigFileAsRoot,
    ConfigProjectWins,
    ConfigProjectLimits,
    ConfigEmptyRequirement,
    ConfigRequirementIgnored,
    ConfigRequirementLoosened,
    ConfigChoiceIgnored,
    ConfigDenyDropped,
    ConfigNetworkDropped,
    ConfigReadRootsWritten,
    ConfigMisreadIgnored,
    ConfigVariableIgnored,
    // session
    SessionProfileForgotten,
    SessionProfileSwitched,
    SessionLiftsConfig,
    SessionEditUnnoticed,
    SessionAnyId,
    SessionLinksFollowed,
    SessionOthersWrite,
    // descriptors
    DescriptorsKept,
    // foreign ABI
    ForeignAbiAllowed,
    // deny
    OneMaskSkipped,
    MasksReadable,
    MasksWritable,
    LinksIgnored,
    LinkTargetOpen,
    MissingNotHeld,
    // globs
    MatchesIgnored,
    DotNamesUnmatched,
    MatchedLinkTargetOpen,
    // pins
    DeniedUnpinned,
    ProtectedUnpinned,
    // protect
    FreezeWritable,
    // verification
    CoversUnverified,
    // residue
    StubsLeft,
    // process
    SharedMemoryReadOnly,
    CoreDumped,
    SessionShared,
    RestLeftRunning,
    // network
    SocketFamiliesAllowed,
    NetworkNamespaceShared,
    NetlinkAllowed,
    DaemonSocketsOpen,
    PortsOpen,
    // settings, hooks and log
    SettingsWritable,
    MissingSettingsNotHeld,
    LogOpen,
    HooksWritable,
    RecordsWritable,
    HookLinksAccepted,
    HookSymlinksAccepted,
    MarkerBelieved,
    LogFailureIgnored,
    StartsUnnoted,
    // system calls
    IoUringAllowed,
    NamespacesAllowed,
    TypingAllowed,
    // Landlock
    ReadsEverything,
    WritesEverywhere,
    TreeWritable,
    SignalsUnscoped,
    AbstractSocketsUnscoped,
    DomainLeftOut,
}

/// Which part of the promises a mutant belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Area {
    Deny,
    Globs,
    Protect,
    Pins,
    Network,
    ForeignAbi,
    LandlockRights,
    Environment,
    Descriptors,
    Process,
    Verification,
    Config,
    Session,
    Residue,
}

/// What a mutant breaks.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Which.
    pub mutant: Mutant,
    /// Part of the promises.
    pub area: Area,
    /// The promise that rests on what is taken away, as a fragment.
    pub promise: &'static str,
    /// The layer it is taken from.
    pub layer: &'static str,
    /// Mutants that switch off the other layers which hold the same promise: run alone this one
    /// may stay unseen, together with them it may not. Three at most.
    pub held_by: &'static [Mutant],
    /// For one that nothing can tell from the whole sandbox: the proof.
    pub equivalent: Option<&'static str>,
}

const fn row(
    mutant: Mutant,
    area: Area,
    layer: &'static str,
    promise: &'static str,
    held_by: &'static [Mutant],
) -> Row {
    Row { mutant, area, promise, layer, held_by, equivalent: None }
}

/// Every mutant.
pub const TABLE: &[Row] = &[
    row(
        Mutant::EnvExcludeIgnored,
        Area::Environment,
        "environment",
        "excluded variables are hidden",
        &[],
    ),
    row(
        Mutant::EnvSetIgnored,
        Area::Environment,
        "environment",
        "variables that are set reach the command",
        &[],
    ),
    row(
        Mutant::EnvInheritIgnored,
        Area::Environment,
        "environment",
        "a policy may start from the core names or from nothing",
        &[],
    ),
    row(
        Mutant::EnvIncludeOnlyIgnored,
        Area::Environment,
        "environment",
        "only the listed variables stay",
        &[],
    ),
    row(
        Mutant::EnvDefaultExcludesIgnored,
        Area::Environment,
        "environment",
        "names with KEY, SECRET or TOKEN in them are hidden on demand",
        &[],
    ),
    row(
        Mutant::EnvConfigIgnored,
        Area::Environment,
        "config.toml",
        "the environment policy of the configuration holds",
        &[],
    ),
    row(
        Mutant::ConfigTildeAccepted,
        Area::Config,
        "sandbox.toml",
        "a path that would mean another one is refused",
        &[],
    ),
    row(
        Mutant::ConfigFileAsRoot,
        Area::Config,
        "sandbox.toml",
        "a file in place of a root is refused",
        &[],
    ),
    row(
        Mutant::ConfigProjectWins,
        Area::Config,
        "sandbox.toml",
        "the workspace cannot redefine a profile of the user",
        &[],
    ),
    row(
        Mutant::ConfigProjectLimits,
        Area::Config,
        "sandbox.toml",
        "the workspace cannot set limits",
        &[],
    ),
    row(
        Mutant::ConfigEmptyRequirement,
        Area::Config,
        "requirements.toml",
        "a requirement of nothing is refused",
        &[],
    ),
    row(
        Mutant::ConfigRequirementIgnored,
        Area::Config,
        "requirements.toml",
        "the required profile holds",
        &[],
    ),
    row(
        Mutant::ConfigRequirementLoosened,
        Area::Config,
        "requirements.toml",
        "no option opens what a required profile closes",
        &[],
    ),
    row(
        Mutant::ConfigChoiceIgnored,
        Area::Config,
        "config.toml",
        "the configured profile holds when nobody says otherwise",
        &[],
    ),
    row(
        Mutant::ConfigDenyDropped,
        Area::Config,
        "sandbox.toml",
        "what a custom profile denies is denied",
        &[],
    ),
    row(
        Mutant::ConfigNetworkDropped,
        Area::Config,
        "sandbox.toml",
        "a custom profile closes the network",
        &[],
    ),
    row(
        Mutant::ConfigReadRootsWritten,
        Area::Config,
        "sandbox.toml",
        "what a custom profile reads is not written",
        &[],
    ),
    row(
        Mutant::ConfigMisreadIgnored,
        Area::Config,
        "files",
        "a file that is misread is refused",
        &[],
    ),
    row(
        Mutant::ConfigVariableIgnored,
        Area::Config,
        "GROK_SANDBOX",
        "the profile of the environment outranks the configured one",
        &[],
    ),
    row(
        Mutant::SessionProfileForgotten,
        Area::Session,
        "record",
        "a session goes on under its profile",
        &[],
    ),
    row(
        Mutant::SessionProfileSwitched,
        Area::Session,
        "record",
        "a session goes on under no other profile",
        &[],
    ),
    row(
        Mutant::SessionLiftsConfig,
        Area::Session,
        "record",
        "a session without a sandbox does not lift a configured one",
        &[],
    ),
    row(
        Mutant::SessionEditUnnoticed,
        Area::Session,
        "record",
        "a session does not go on under an edited profile",
        &[],
    ),
    row(Mutant::SessionAnyId, Area::Session, "record", "the name of a session is no path", &[]),
    row(Mutant::SessionLinksFollowed, Area::Session, "record", "a record is no symlink", &[]),
    row(
        Mutant::SessionOthersWrite,
        Area::Session,
        "record",
        "a record that others may write is not trusted",
        &[],
    ),
    row(
        Mutant::DescriptorsKept,
        Area::Descriptors,
        "descriptors",
        "inherited descriptors are closed",
        &[],
    ),
    row(
        Mutant::ForeignAbiAllowed,
        Area::ForeignAbi,
        "seccomp",
        "calls of a foreign ABI are refused",
        &[],
    ),
    row(
        Mutant::OneMaskSkipped,
        Area::Deny,
        "mounts",
        "every denied path is covered",
        &[Mutant::CoversUnverified],
    ),
    row(
        Mutant::MasksReadable,
        Area::Deny,
        "mounts",
        "what covers a denied file cannot be opened",
        &[Mutant::CoversUnverified],
    ),
    row(
        Mutant::MasksWritable,
        Area::Deny,
        "mounts",
        "what covers a denied path cannot be changed",
        &[Mutant::CoversUnverified],
    ),
    row(
        Mutant::LinksIgnored,
        Area::Deny,
        "search for links",
        "a denied file is closed under its other names",
        &[],
    ),
    row(
        Mutant::LinkTargetOpen,
        Area::Deny,
        "resolution",
        "what a denied symlink leads to is denied",
        &[],
    ),
    row(
        Mutant::MissingNotHeld,
        Area::Deny,
        "stubs",
        "a denied path that does not exist cannot be made",
        &[],
    ),
    row(Mutant::MatchesIgnored, Area::Globs, "expansion", "what a glob matches is denied", &[]),
    row(Mutant::DotNamesUnmatched, Area::Globs, "expansion", "globs match hidden names", &[]),
    row(
        Mutant::MatchedLinkTargetOpen,
        Area::Globs,
        "expansion",
        "what a matched symlink leads to is denied",
        &[],
    ),
    row(
        Mutant::DeniedUnpinned,
        Area::Pins,
        "mounts",
        "the folders of a denied path stay where they are",
        &[],
    ),
    row(
        Mutant::ProtectedUnpinned,
        Area::Pins,
        "mounts",
        "the folders of a protected path stay where they are",
        &[],
    ),
    row(
        Mutant::FreezeWritable,
        Area::Protect,
        "mounts",
        "a protected path is not written",
        &[Mutant::CoversUnverified],
    ),
    row(
        Mutant::CoversUnverified,
        Area::Verification,
        "mounts",
        "no command starts without its covers",
        &[Mutant::OneMaskSkipped],
    ),
    row(
        Mutant::StubsLeft,
        Area::Residue,
        "stubs",
        "a denied path that does not exist leaves nothing",
        &[],
    ),
    row(Mutant::SharedMemoryReadOnly, Area::Process, "mounts", "shared memory works", &[]),
    row(Mutant::CoreDumped, Area::Process, "limits", "a crash leaves no copy of the memory", &[]),
    row(
        Mutant::SessionShared,
        Area::Process,
        "session",
        "the terminal of the caller is out of reach",
        &[],
    ),
    row(Mutant::RestLeftRunning, Area::Process, "supervisor", "nothing outlives the command", &[]),
    row(
        Mutant::SocketFamiliesAllowed,
        Area::Network,
        "seccomp",
        "a blocked network has no sockets but local ones",
        &[Mutant::NetworkNamespaceShared, Mutant::PortsOpen],
    ),
    row(
        Mutant::NetworkNamespaceShared,
        Area::Network,
        "network namespace",
        "a blocked network reaches nobody",
        &[Mutant::SocketFamiliesAllowed, Mutant::PortsOpen],
    ),
    row(
        Mutant::SettingsWritable,
        Area::Protect,
        "mounts",
        "settings of the sandbox are read and not written",
        &[],
    ),
    row(
        Mutant::MissingSettingsNotHeld,
        Area::Protect,
        "mounts",
        "missing settings cannot be made",
        &[],
    ),
    row(
        Mutant::LogOpen,
        Area::Protect,
        "mounts",
        "the log of events is closed to the command",
        &[],
    ),
    row(
        Mutant::HooksWritable,
        Area::Protect,
        "mounts",
        "hook sources are read and not written",
        &[],
    ),
    row(
        Mutant::RecordsWritable,
        Area::Session,
        "mounts",
        "records of sessions are read and not written",
        &[],
    ),
    row(
        Mutant::HookLinksAccepted,
        Area::Verification,
        "hook sources",
        "a hook with a second name is refused",
        &[],
    ),
    row(
        Mutant::HookSymlinksAccepted,
        Area::Verification,
        "hook sources",
        "a symlink on the way to hooks is refused",
        &[],
    ),
    row(
        Mutant::MarkerBelieved,
        Area::Verification,
        "start",
        "a caller cannot say that the mounts are there",
        &[],
    ),
    row(
        Mutant::LogFailureIgnored,
        Area::Verification,
        "log",
        "a start that cannot be noted is refused",
        &[],
    ),
    row(Mutant::StartsUnnoted, Area::Verification, "log", "every start is noted", &[]),
    row(
        Mutant::NetlinkAllowed,
        Area::Network,
        "seccomp",
        "a blocked network has route netlink only",
        &[],
    ),
    row(
        Mutant::DaemonSocketsOpen,
        Area::Network,
        "mounts",
        "sockets of daemons are closed with the network",
        &[],
    ),
    row(
        Mutant::PortsOpen,
        Area::Network,
        "Landlock",
        "no port is reached when the network is blocked",
        &[Mutant::SocketFamiliesAllowed, Mutant::NetworkNamespaceShared],
    ),
    row(Mutant::IoUringAllowed, Area::Process, "seccomp", "io_uring is closed", &[]),
    row(Mutant::NamespacesAllowed, Area::Process, "seccomp", "no namespace can be made", &[]),
    row(Mutant::TypingAllowed, Area::Process, "seccomp", "nothing is typed into a terminal", &[]),
    row(Mutant::ReadsEverything, Area::LandlockRights, "Landlock", "only read roots are read", &[]),
    row(
        Mutant::WritesEverywhere,
        Area::LandlockRights,
        "Landlock",
        "only write roots are written",
        &[Mutant::TreeWritable],
    ),
    row(
        Mutant::TreeWritable,
        Area::LandlockRights,
        "mounts",
        "everything but the write roots is read-only",
        &[Mutant::WritesEverywhere],
    ),
    row(
        Mutant::SignalsUnscoped,
        Area::LandlockRights,
        "Landlock",
        "no process outside gets a signal",
        &[],
    ),
    row(
        Mutant::AbstractSocketsUnscoped,
        Area::LandlockRights,
        "Landlock",
        "no abstract socket outside is reached",
        &[Mutant::NetworkNamespaceShared],
    ),
    row(
        Mutant::DomainLeftOut,
        Area::LandlockRights,
        "Landlock",
        "memory of other processes is out of reach",
        &[],
    ),
];

/// Whether this variant is switched on.
#[cfg(not(feature = "mutants"))]
#[must_use]
pub const fn on(_: Mutant) -> bool {
    false
}

#[cfg(feature = "mutants")]
pub use switch::{all_on, on, switch_on};

#[cfg(feature = "mutants")]
mod switch {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use super::Mutant;

    thread_local! {
        /// Of a thread, since tests run side by side; a sandbox starts with one thread only.
        static ON: RefCell<BTreeSet<Mutant>> = const { RefCell::new(BTreeSet::new()) };
    }

    /// Whether this variant is switched on.
    #[must_use]
    pub fn on(mutant: Mutant) -> bool {
        ON.with_borrow(|on| on.contains(&mutant))
    }

    /// Switches variants on, for this thread and the processes it forks.
    pub fn switch_on(mutants: &[Mutant]) {
        ON.with_borrow_mut(|on| on.extend(mutants));
    }

    /// Those that are switched on.
    #[must_use]
    pub fn all_on() -> Vec<Mutant> {
        ON.with_borrow(|on| on.iter().copied().collect())
    }
}

/// The name of a mutant or of an area, in kebab case.
#[must_use]
pub fn name(word: impl ValueEnum) -> String {
    word.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_mutant_has_one_row_and_a_group_of_four_at_most() {
        let all: BTreeSet<Mutant> = Mutant::value_variants().iter().copied().collect();
        let rows: Vec<Mutant> = TABLE.iter().map(|row| row.mutant).collect();
        assert_eq!(rows.len(), all.len(), "a row is missing or there twice");
        assert_eq!(rows.into_iter().collect::<BTreeSet<_>>(), all);
        for row in TABLE {
            assert!(row.held_by.len() <= 3, "{row:?}");
            assert!(!row.held_by.contains(&row.mutant), "{row:?}");
        }
    }
}
