//! Numbers of system calls by name: native, x32 and i386.
//!
//! The tables hold what attacks and the calls around them need, not everything. A name that is not
//! found is a mistake in a scenario, or a call that this architecture does not have.

use crate::Abi;

#[cfg(target_os = "linux")]
mod table;

/// The number of a call in the table of `abi`. For x32 without bit 0x40000000, which
/// [`crate::sys::syscall`] adds.
#[cfg(target_os = "linux")]
#[must_use]
pub fn number(abi: Abi, name: &str) -> Option<i64> {
    let foreign = |calls: &[(&str, i64)]| {
        calls.iter().find(|(known, _)| *known == name).map(|&(_, number)| number)
    };
    let here = cfg!(target_arch = "x86_64");
    match abi {
        Abi::Native => native(name).or_else(|| foreign(table::UNIFORM)),
        Abi::X32 | Abi::I386 if !here => None,
        Abi::X32 => foreign(table::ONLY_X32).or_else(|| number(Abi::Native, name)),
        Abi::I386 => {
            i386(name).or_else(|| foreign(table::UNIFORM)).or_else(|| foreign(table::ONLY_I386))
        }
    }
}

/// Other systems give raw numbers no stable meaning.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn number(_: Abi, _: &str) -> Option<i64> {
    None
}

#[cfg(target_os = "linux")]
fn row(name: &str) -> Option<&'static table::Row> {
    let mut rows = table::COMMON.iter().chain(table::OLD);
    rows.find(|(known, _, _)| known.strip_prefix("SYS_") == Some(name))
}

#[cfg(target_os = "linux")]
fn native(name: &str) -> Option<i64> {
    row(name).map(|&(_, number, _)| number)
}

#[cfg(target_os = "linux")]
fn i386(name: &str) -> Option<i64> {
    row(name).map(|&(_, _, number)| number).filter(|&number| number >= 0)
}

#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("socket", Some(41), Some(41), Some(359))]
    #[case("getpid", Some(39), Some(39), Some(20))]
    #[case("openat", Some(257), Some(257), Some(295))]
    #[case("ptrace", Some(101), Some(521), Some(26))]
    #[case("process_vm_readv", Some(310), Some(539), Some(347))]
    #[case("execveat", Some(322), Some(545), Some(358))]
    #[case("io_uring_setup", Some(425), Some(425), Some(425))]
    #[case("open_tree_attr", Some(467), Some(467), Some(467))]
    #[case("socketcall", None, None, Some(102))]
    #[case("accept", Some(43), Some(43), None)]
    #[case("sokcet", None, None, None)]
    #[case("SYS_socket", None, None, None)]
    fn every_table_knows_its_own_number(
        #[case] name: &str,
        #[case] native: Option<i64>,
        #[case] x32: Option<i64>,
        #[case] i386: Option<i64>,
    ) {
        assert_eq!(number(Abi::Native, name), native);
        assert_eq!(number(Abi::X32, name), x32);
        assert_eq!(number(Abi::I386, name), i386);
    }

    #[test]
    fn no_number_of_a_table_stands_twice() {
        for abi in [Abi::Native, Abi::I386] {
            let mut numbers: Vec<i64> = table::COMMON
                .iter()
                .chain(table::OLD)
                .filter_map(|(name, _, _)| number(abi, name.strip_prefix("SYS_")?))
                .collect();
            let all = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), all, "{abi:?}");
        }
    }
}
