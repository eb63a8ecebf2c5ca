//! The Landlock domain: what may be read and written, and who may be signalled.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath,
    RestrictSelfAttr, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    Scope, make_bitflags,
};
use rustix::fs::{FileType, fstat};

use super::open;
use super::sys;
use crate::confine::grants::Grants;
use crate::confine::mutant::{self, Mutant};
use crate::confine::refusal::Refusal;

/// The ABI of the kernel, as far as this program knows it.
///
/// # Errors
/// The kernel has no Landlock.
pub(super) fn abi() -> Result<ABI, Refusal> {
    sys::landlock_abi().map(ABI::from).map_err(|error| {
        let why = match error.raw_os_error() {
            Some(libc::EOPNOTSUPP) => "it is switched off, add `landlock` to the lsm= boot option",
            _ => "use a kernel from 5.13 on, built with CONFIG_SECURITY_LANDLOCK",
        };
        Refusal::new(format!("this kernel has no Landlock ({error})"), why)
    })
}

/// What the domain is to bring about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Domain<'a> {
    /// What may be read and written.
    pub(super) grants: &'a Grants,
    /// No port may be bound or connected to: one more layer behind the filter of calls.
    pub(super) blocked: bool,
    /// Denials of what the command runs are told to the kernel's audit.
    pub(super) told: bool,
}

/// Enters the domain; it holds for this process and all it starts.
///
/// # Errors
/// A rule that cannot be put, or a domain that is not enforced as written.
pub(super) fn enter(domain: Domain<'_>, abi: ABI) -> Result<(), Refusal> {
    if mutant::on(Mutant::DomainLeftOut) {
        return Ok(());
    }
    let ruleset = ruleset(domain, abi)?;
    let status = flagged(ruleset, domain, abi)
        .and_then(RulesetCreated::restrict_self)
        .map_err(|error| refused(&error))?;
    // Every right was a hard requirement, so anything but full enforcement is a contradiction.
    if status.ruleset == landlock::RulesetStatus::FullyEnforced && status.no_new_privs {
        return Ok(());
    }
    Err(Refusal::new("Landlock did not enforce its rules", "report this, with the kernel version"))
}

/// Enters a domain that takes nothing away but the way into processes outside: through
/// `/proc/PID/root` of one of them the disk shows what lies below the covers. Which file is opened
/// decides no rule here; moving between folders is the one right that a domain takes unasked.
///
/// # Errors
/// A domain that cannot be made.
pub(super) fn stand_apart(abi: ABI) -> Result<(), Refusal> {
    let everything = Path::new("/");
    let moving = BitFlags::from(AccessFs::Refer) & AccessFs::from_all(abi);
    let created = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(moving | AccessFs::MakeBlock)
        .and_then(Ruleset::create)
        .map_err(|error| refused(&error))?;
    let created = if moving.is_empty() { created } else { allow(created, everything, moving)? };
    created.restrict_self().map(drop).map_err(|error| refused(&error))
}

/// What newer kernels take besides the rules.
fn flagged(
    ruleset: RulesetCreated,
    domain: Domain<'_>,
    abi: ABI,
) -> Result<RulesetCreated, RulesetError> {
    let ruleset = if domain.told && abi >= ABI::V7 { ruleset.log_new_exec(true)? } else { ruleset };
    // There is one thread only; should there ever be more, none of them stays outside.
    if abi >= ABI::V8 { ruleset.all_threads(true) } else { Ok(ruleset) }
}

fn ruleset(domain: Domain<'_>, abi: ABI) -> Result<RulesetCreated, Refusal> {
    let mut created = created(domain.blocked, abi).map_err(|error| refused(&error))?;
    let grants = domain.grants;
    let all = [PathBuf::from("/")];
    let reads = if mutant::on(Mutant::ReadsEverything) { &all } else { &grants.read[..] };
    let writes = if mutant::on(Mutant::WritesEverywhere) { &all } else { &grants.write[..] };
    for root in reads {
        created = allow(created, root, read(abi))?;
    }
    for root in writes {
        created = allow(created, root, read(abi) | write(abi))?;
    }
    for device in &grants.devices {
        created = allow(created, device, read(abi) | write(abi) | ioctl(abi))?;
    }
    Ok(created)
}

/// Handles every right of the ABI, ports when the network is blocked, and the scopes where there
/// are any.
fn created(blocked: bool, abi: ABI) -> Result<RulesetCreated, RulesetError> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    let ports = AccessNet::from_all(abi);
    let ruleset = if blocked && !ports.is_empty() && !mutant::on(Mutant::PortsOpen) {
        ruleset.handle_access(ports)?
    } else {
        ruleset
    };
    let mut scopes = Scope::from_all(abi);
    scopes.remove(unscoped());
    let ruleset = if scopes.is_empty() { ruleset } else { ruleset.scope(scopes)? };
    ruleset.create()
}

/// Scopes that are left out: none, but for tests of the catalogue.
fn unscoped() -> BitFlags<Scope> {
    let mut unscoped = BitFlags::empty();
    if mutant::on(Mutant::SignalsUnscoped) {
        unscoped |= Scope::Signal;
    }
    if mutant::on(Mutant::AbstractSocketsUnscoped) {
        unscoped |= Scope::AbstractUnixSocket;
    }
    unscoped
}

/// One rule; a file gets only the rights that files have.
fn allow(
    created: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Refusal> {
    let unreached = |error: io::Error| {
        let what = format!("a granted path cannot be reached ({error})");
        Refusal::at(what, path, "make it reachable, or leave it out")
    };
    let file = open::exactly(path).map_err(unreached)?;
    let stat = fstat(&file).map_err(|errno| unreached(errno.into()))?;
    let folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let access = if folder { access } else { access & files() };
    created.add_rule(PathBeneath::new(file, access)).map_err(|error| refused(&error))
}

/// Rights that exist on what is no folder.
fn files() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{Execute | ReadFile | WriteFile | Truncate | IoctlDev | ResolveUnix})
}

/// Reading includes running, and speaking to a socket that can be seen.
fn read(abi: ABI) -> BitFlags<AccessFs> {
    (AccessFs::from_read(abi) | AccessFs::ResolveUnix) & AccessFs::from_all(abi)
}

/// Writing is everything but device nodes, which only root makes, and device controls.
fn write(abi: ABI) -> BitFlags<AccessFs> {
    let nodes = make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev});
    AccessFs::from_write(abi) & !nodes
}

fn ioctl(abi: ABI) -> BitFlags<AccessFs> {
    AccessFs::from_all(abi) & BitFlags::from(AccessFs::IoctlDev)
}

fn refused(error: &RulesetError) -> Refusal {
    Refusal::new(
        format!("Landlock refused the rules ({error})"),
        "report this, with the kernel version",
    )
}
