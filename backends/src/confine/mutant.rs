//! [`Mutant`]: weakened variants of this sandbox, to see that the catalogue notices each of them.
//!
//! A mutant takes one rule, flag, check, pin or verification away. Without the feature `mutants`,
//! which only tests ask for, [`on`] is a constant `false` and no build holds any of it.
//!
//! To add one: a variant, a row in [`TABLE`], and `mutant::on(Mutant::X)` at the place. The test
//! `mutants` of the harness then demands a scenario that turns red.

mod table;

use clap::ValueEnum;

pub use table::TABLE;

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
    WaysUnpinned,
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
    PlantedRootsAccepted,
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
