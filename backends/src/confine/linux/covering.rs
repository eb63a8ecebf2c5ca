//! From a plan to its covers.

use std::path::{Path, PathBuf};

use super::stubs::{Shape, Stubs};
use crate::confine::cover::{self, Cover, Wanted};
use crate::confine::identity::Identity;
use crate::confine::links;
use crate::confine::mutant::{self, Mutant};
use crate::confine::plan::Plan;
use crate::confine::refusal::Refusal;
use crate::confine::surroundings::Surroundings;
use crate::confine::warning::Unfound;

/// What the covers have to bring about; and matched files of which hard links were not found.
///
/// # Errors
/// A hard link of a file that was named is not found.
pub(super) fn wanted(plan: &Plan, around: &Surroundings) -> Result<(Wanted, Unfound), Refusal> {
    let near: Vec<PathBuf> =
        std::iter::once(&around.workspace).chain(&plan.grants.write).cloned().collect();
    let links::Found { names, unknown } = links::search(&plan.mask, &plan.matched, &near)?;
    let mut freeze = plan.frozen();
    freeze.extend(links::others(&freeze, &near)?);
    freeze.extend(plan.ways.iter().cloned());
    let wanted = Wanted {
        limited: closes_tree(plan),
        write: plan.grants.write.clone(),
        fresh: fresh(plan),
        freeze,
        mask: plan.masked().chain(&names).cloned().collect(),
        loose: !plan.pins,
    };
    Ok((wanted, unknown))
}

/// Whether everything but the write roots becomes read-only; with `/` among them nothing does.
pub(super) fn closes_tree(plan: &Plan) -> bool {
    plan.grants.limited && !plan.grants.write.iter().any(|root| root == Path::new("/"))
}

/// Where POSIX shared memory and semaphores lie.
const SHARED_MEMORY: &str = "/dev/shm";

/// The command gets shared memory of its own, unless the host has none, or the plan speaks of it.
fn fresh(plan: &Plan) -> Vec<PathBuf> {
    let place = Path::new(SHARED_MEMORY);
    let there = place.canonicalize().is_ok_and(|real| real == place && real.is_dir());
    let named = plan.denies(place)
        || cover::inside_any(place, &plan.frozen())
        || plan.grants.write.iter().any(|root| root.starts_with(place) || place.starts_with(root))
        || plan.grants.read.iter().any(|root| root.starts_with(place));
    let wanted = plan.grants.limited && !mutant::on(Mutant::SharedMemoryReadOnly);
    let fresh = wanted && there && !named;
    fresh.then(|| place.to_path_buf()).into_iter().collect()
}

/// The covers, with something under each of them.
///
/// # Errors
/// Nothing stands at a path, and no stub can be made there.
pub(super) fn covers(
    plan: &Plan,
    wanted: &Wanted,
    stubs: &mut Stubs,
) -> Result<Vec<Cover>, Refusal> {
    let held = !mutant::on(Mutant::MissingNotHeld);
    for path in plan.mask.iter().filter(|_| held) {
        stubs.hold(path, Shape::File)?;
    }
    for path in plan.freeze.iter().chain(&plan.state.folders).filter(|_| held) {
        stubs.hold(path, Shape::Folder)?;
    }
    for path in plan.state.files.iter().filter(|_| held) {
        stubs.hold(path, Shape::File)?;
    }
    let mut covers = cover::arrange(wanted);
    covers.retain(|cover| held || cover.path.exists());
    for cover in &mut covers {
        // One that is gone by now is noticed when it is to be covered.
        cover.identity = Identity::of(&cover.path).ok();
    }
    Ok(covers)
}
