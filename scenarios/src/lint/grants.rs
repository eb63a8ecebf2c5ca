//! What a profile grants in the rooms, and what a policy makes of it: the table of the
//! architecture document as code.

use crate::{PolicySpec, Profile, Room, RoomPath, glob};

/// What may be done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Nothing.
    None,
    /// Read.
    Read,
    /// Read and write.
    Write,
}

/// What the profile alone grants for a path.
#[must_use]
pub fn of_profile(profile: Profile, path: &RoomPath) -> Access {
    let grok = path.room == Room::Home && within(path, ".grok");
    match (profile, path.room) {
        (Profile::Off | Profile::Devbox, _) | (_, Room::Temp) => Access::Write,
        (Profile::WorkspaceWrite, Room::Work) if metadata(&path.rel) => Access::Read,
        (Profile::WorkspaceWrite, Room::Home | Room::Outside) => Access::Read,
        (Profile::Workspace | Profile::ReadOnly | Profile::Strict, Room::Home) if grok => {
            Access::Write
        }
        (Profile::Workspace | Profile::Strict | Profile::WorkspaceWrite, Room::Work) => {
            Access::Write
        }
        (Profile::ReadOnly, Room::Work)
        | (Profile::Workspace | Profile::ReadOnly, Room::Home | Room::Outside) => Access::Read,
        (Profile::Strict, Room::Home | Room::Outside) => Access::None,
    }
}

/// What a policy grants for a path under one of its profiles.
#[must_use]
pub fn of_policy(policy: &PolicySpec, profile: Profile, path: &RoomPath) -> Access {
    let text = path.to_string();
    if policy.deny.iter().any(|entry| glob::covers(entry, &text)) {
        return Access::None;
    }
    let below = |roots: &[RoomPath]| roots.iter().any(|root| covers(root, path));
    let mut access = of_profile(profile, path);
    if below(&policy.read_only) {
        access = access.max(Access::Read);
    }
    if below(&policy.read_write) {
        access = access.max(Access::Write);
    }
    if below(&policy.protect) { access.min(Access::Read) } else { access }
}

/// True when `path` is `root` or lies below it.
#[must_use]
pub fn covers(root: &RoomPath, path: &RoomPath) -> bool {
    root.room == path.room && (root.rel.is_empty() || within(path, &root.rel))
}

fn within(path: &RoomPath, rel: &str) -> bool {
    path.rel.strip_prefix(rel).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The folders that `workspace-write` protects at the top of a write root.
fn metadata(rel: &str) -> bool {
    matches!(rel.split('/').next(), Some(".git" | ".agents" | ".codex"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// The table, row by row: workspace, read-only, strict, devbox, workspace-write, off.
    #[rstest]
    #[case("work/x", "w r w w w w")]
    #[case("work/.git/config", "w r w w r w")]
    #[case("work/sub/.git", "w r w w w w")]
    #[case("home/x", "r r - w r w")]
    #[case("home/.grok/x", "w w w w r w")]
    #[case("home/.grokx", "r r - w r w")]
    #[case("outside/x", "r r - w r w")]
    #[case("temp/x", "w w w w w w")]
    fn profiles(#[case] path: RoomPath, #[case] row: &str) {
        let shown: Vec<&str> = Profile::ALL
            .into_iter()
            .map(|profile| match of_profile(profile, &path) {
                Access::None => "-",
                Access::Read => "r",
                Access::Write => "w",
            })
            .collect();
        assert_eq!(shown.join(" "), row);
    }

    #[rstest]
    #[case("outside/more/x", Access::Write)]
    #[case("outside/seen", Access::Read)]
    #[case("outside/more/no", Access::None)]
    #[case("work/a.pem", Access::None)]
    #[case("work/conf/x", Access::Read)]
    #[case("work/confx", Access::Write)]
    fn policies(#[case] path: RoomPath, #[case] expected: Access) {
        let policy: PolicySpec = crate::yaml::read(
            "{ profiles: [strict], read-write: [outside/more], read-only: [outside/seen], \
             deny: [outside/more/no, 'work/*.pem'], protect: [work/conf] }",
            "policy",
        )
        .unwrap();
        assert_eq!(of_policy(&policy, Profile::Strict, &path), expected);
    }
}
