//! The receipt of a launch: every policy item, and whether it was put exactly or nearly.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sandproof_scenarios::{Capability, Network, Policy, Profile, Rooms};

use crate::{Express, ReceiptItem, Unsupported};

/// The items of this policy with the capability that each needs.
pub(super) fn items(policy: &Policy, rooms: &Rooms) -> Vec<(String, Capability)> {
    let mut items = Vec::new();
    let everything = policy.write.iter().any(|path| path == Path::new("/"));
    if !everything {
        items.push(("write-scope".to_owned(), Capability::WriteScope));
    }
    if !policy.read_all {
        items.push(("read-scope".to_owned(), Capability::ReadScope));
    }
    if policy.profile == Profile::WorkspaceWrite {
        items.push(("metadata".to_owned(), Capability::Metadata));
    }
    let short = |path: &Path| path.strip_prefix(&rooms.arena).unwrap_or(path).display().to_string();
    for path in &policy.deny {
        items.push((format!("deny {}", short(path)), Capability::DenyList));
    }
    for glob in &policy.deny_globs {
        items.push((format!("deny {}", short(Path::new(glob))), Capability::DenyGlob));
    }
    for path in &policy.protect {
        items.push((format!("protect {}", short(path)), Capability::Protect));
    }
    if policy.network == Network::Blocked {
        items.push(("network blocked".to_owned(), Capability::NetworkBlock));
    }
    if policy.env_asked {
        items.push(("env".to_owned(), Capability::EnvPolicy));
    }
    items
}

/// The receipt.
///
/// # Errors
/// The first item that needs a capability which is not declared.
pub(super) fn receipt(
    items: Vec<(String, Capability)>,
    can: &BTreeSet<Capability>,
    nearly: &BTreeMap<Capability, String>,
) -> Result<Vec<ReceiptItem>, Unsupported> {
    let put = |(item, capability): (String, Capability)| {
        if !can.contains(&capability) {
            let why = format!("the manifest does not list `{capability}` under `can`");
            return Err(Unsupported { item, why });
        }
        let express = nearly
            .get(&capability)
            .map_or(Express::Expressed, |how| Express::Approximated(how.clone()));
        Ok(ReceiptItem { item, express })
    };
    items.into_iter().map(put).collect()
}
