//! The part that blocks the network: sockets are local, or ask about routes and addresses.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use crate::confine::mutant::{self, Mutant};
use crate::confine::refusal::Refusal;

/// Argument of socket and socketpair that holds the family.
const FAMILY: u8 = 0;
/// Argument that holds the protocol.
const PROTOCOL: u8 = 2;

/// `socket` and `socketpair` answer EPERM for every family but AF_UNIX, and AF_NETLINK with
/// NETLINK_ROUTE (which lists interfaces). All other calls are allowed.
pub(super) fn program() -> Result<BpfProgram, Refusal> {
    compile().map_err(|error| {
        Refusal::new(format!("the network filter does not compile ({error})"), "report this")
    })
}

fn compile() -> Result<BpfProgram, BackendError> {
    let mut rules = BTreeMap::new();
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        rules.insert(call, refused()?);
    }
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()
}

/// Another family; or netlink with another protocol.
fn refused() -> Result<Vec<SeccompRule>, BackendError> {
    let is = |argument, operator, value: i32| {
        // The kernel takes an `int`: the high half is whatever the caller left there.
        let width = SeccompCmpArgLen::Dword;
        SeccompCondition::new(argument, width, operator, u64::from(value.cast_unsigned()))
    };
    let (unix, netlink, route) = (libc::AF_UNIX, libc::AF_NETLINK, libc::NETLINK_ROUTE);
    Ok(vec![
        SeccompRule::new(vec![
            is(FAMILY, SeccompCmpOp::Ne, unix)?,
            is(FAMILY, SeccompCmpOp::Ne, netlink)?,
        ])?,
        SeccompRule::new(vec![
            is(
                FAMILY,
                SeccompCmpOp::Eq,
                if mutant::on(Mutant::NetlinkAllowed) { unix } else { netlink },
            )?,
            is(PROTOCOL, SeccompCmpOp::Ne, route)?,
        ])?,
    ])
}
