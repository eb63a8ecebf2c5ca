//! The program is run by a small interpreter, call by call.

use libc::{AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_UNIX, AF_VSOCK, EPERM};
use rstest::rstest;
use sandproof_scenarios::Network;
use seccompiler::sock_filter;

use super::{CLOSED, Filter, NATIVE, X32};

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const I386: u32 = 0x4000_0003;

fn errno(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno.cast_unsigned()
}

/// `struct seccomp_data` as words.
fn data(arch: u32, number: u32, args: &[u64]) -> Vec<u32> {
    let mut words = vec![number, arch, 0, 0];
    for index in 0..6 {
        let arg = args.get(index).copied().unwrap_or(0);
        let (low, high) = (arg as u32, (arg >> 32) as u32);
        words.extend(if cfg!(target_endian = "little") { [low, high] } else { [high, low] });
    }
    words
}

/// Runs classic BPF; panics on an instruction that seccomp programs do not need.
fn run(program: &[sock_filter], data: &[u32]) -> u32 {
    let (mut at, mut word) = (0, 0);
    loop {
        let sock_filter { code, jt, jf, k } = program[at];
        at += 1;
        let code = u32::from(code);
        let jump = |holds: bool| usize::from(if holds { jt } else { jf });
        match code {
            c if c == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => word = data[k as usize / 4],
            c if c == libc::BPF_RET | libc::BPF_K => return k,
            c if c == libc::BPF_JMP | libc::BPF_JA => at += k as usize,
            c if c == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K => at += jump(word == k),
            c if c == libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K => at += jump(word >= k),
            c if c == libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K => at += jump(word > k),
            c if c == libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K => at += jump(word & k != 0),
            c if c == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K => word &= k,
            other => panic!("instruction {other:#x}"),
        }
    }
}

fn answer(network: Network, call: libc::c_long, args: &[u64]) -> u32 {
    let filter = Filter::build(network).unwrap();
    run(&filter.program, &data(NATIVE, u32::try_from(call).unwrap(), args))
}

const BOTH: [Network; 2] = [Network::Open, Network::Blocked];

#[test]
fn grok_4_18_closed_calls_answer_eperm() {
    for network in BOTH {
        for call in CLOSED {
            assert_eq!(answer(network, call, &[]), errno(EPERM), "{call}");
        }
        for call in [libc::SYS_read, libc::SYS_openat, libc::SYS_execve, libc::SYS_connect] {
            assert_eq!(answer(network, call, &[]), ALLOW, "{call}");
        }
        // Unknown numbers keep their ENOSYS, or programs that feel for new calls would break.
        assert_eq!(answer(network, 999, &[]), ALLOW);
    }
}

#[test]
fn grok_4_18_foreign_calls_answer_eperm() {
    for network in BOTH {
        let program = Filter::build(network).unwrap().program;
        let read = u32::try_from(libc::SYS_read).unwrap();
        assert_eq!(run(&program, &data(NATIVE, read, &[])), ALLOW);
        assert_eq!(run(&program, &data(I386, read, &[])), errno(EPERM));
        assert_eq!(run(&program, &data(NATIVE, X32 | read, &[])), errno(EPERM));
        assert_eq!(run(&program, &data(NATIVE, u32::MAX, &[])), errno(EPERM));
    }
}

#[rstest]
#[case(libc::CLONE_NEWNS)]
#[case(libc::CLONE_NEWCGROUP)]
#[case(libc::CLONE_NEWUTS)]
#[case(libc::CLONE_NEWIPC)]
#[case(libc::CLONE_NEWUSER)]
#[case(libc::CLONE_NEWPID)]
#[case(libc::CLONE_NEWNET)]
#[case(libc::CLONE_NEWTIME)]
fn grok_4_18_clone_makes_no_namespace(#[case] flag: i32) {
    let flag = u64::from(flag.cast_unsigned());
    let thread = u64::from((libc::CLONE_VM | libc::CLONE_THREAD).cast_unsigned());
    for network in BOTH {
        assert_eq!(answer(network, libc::SYS_clone, &[flag]), errno(EPERM));
        assert_eq!(answer(network, libc::SYS_clone, &[flag | thread]), errno(EPERM));
        assert_eq!(answer(network, libc::SYS_clone, &[thread]), ALLOW);
        // Only the low half counts, as for the kernel.
        assert_eq!(answer(network, libc::SYS_clone, &[flag << 32 | thread]), ALLOW);
        assert_eq!(answer(network, libc::SYS_clone3, &[]), errno(libc::ENOSYS));
    }
}

#[rstest]
#[case(0x5412, false)]
#[case(0xdead_beef_0000_5412, false)]
#[case(0x541C, false)]
#[case(0x5401, true)]
#[case(0x5413, true)]
fn nothing_types_into_a_terminal(#[case] request: u64, #[case] allowed: bool) {
    let wanted = if allowed { ALLOW } else { errno(EPERM) };
    assert_eq!(answer(Network::Open, libc::SYS_ioctl, &[0, request]), wanted);
    assert_eq!(answer(Network::Blocked, libc::SYS_ioctl, &[0, request]), wanted);
}

#[rstest]
#[case(AF_UNIX, 0, true)]
#[case(AF_NETLINK, libc::NETLINK_ROUTE, true)]
#[case(AF_NETLINK, libc::NETLINK_KOBJECT_UEVENT, false)]
#[case(AF_NETLINK, libc::NETLINK_GENERIC, false)]
#[case(AF_INET, 0, false)]
#[case(AF_INET6, 0, false)]
#[case(AF_PACKET, 0, false)]
#[case(AF_VSOCK, 0, false)]
#[case(libc::AF_ALG, 0, false)]
#[case(0, 0, false)]
#[case(-1, 0, false)]
fn grok_4_19_sockets_are_local(#[case] family: i32, #[case] protocol: i32, #[case] allowed: bool) {
    let junk = 0xffff_ffff_0000_0000;
    let low = |value: i32| u64::from(value.cast_unsigned());
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        for args in [[low(family), 1, low(protocol)], [low(family) | junk, 1, low(protocol) | junk]]
        {
            let wanted = if allowed { ALLOW } else { errno(EPERM) };
            assert_eq!(answer(Network::Blocked, call, &args), wanted);
            assert_eq!(answer(Network::Open, call, &args), ALLOW);
        }
    }
}

#[rstest]
#[case::own(0, 0x7000, true)]
#[case::read(77, 0, true)]
#[case::of_another(77, 0x7000, false)]
#[case::pointer_without_low_half(77, 0x7000_0000_0000, false)]
#[case::only_the_low_half_is_a_process(77 << 32, 0x7000, true)]
fn limits_of_other_processes_stay(#[case] pid: u64, #[case] new: u64, #[case] allowed: bool) {
    let wanted = if allowed { ALLOW } else { errno(EPERM) };
    for network in BOTH {
        assert_eq!(answer(network, libc::SYS_prlimit64, &[pid, 7, new, 0]), wanted);
    }
}

#[test]
fn every_path_through_the_program_ends() {
    for network in BOTH {
        let program = Filter::build(network).unwrap().program;
        for number in 0..600 {
            run(&program, &data(NATIVE, number, &[u64::MAX; 6]));
        }
    }
}
