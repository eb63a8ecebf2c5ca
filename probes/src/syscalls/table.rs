//! The numbers themselves. A row of a macro is the name in `libc`, which knows the native number,
//! and the number in the i386 table.

/// Stands for: the i386 table has no such call.
const NONE: i64 = -1;

/// One call: its name in `libc`, its native number, its number in the i386 table.
pub(super) type Row = (&'static str, i64, i64);

macro_rules! rows {
    ($($name:ident $i386:expr),* $(,)?) => {
        &[$((stringify!($name), libc::$name, $i386)),*]
    };
}

/// Calls that every Linux architecture has.
pub(super) const COMMON: &[Row] = rows! {
    SYS_accept NONE, SYS_accept4 364, SYS_acct 51, SYS_add_key 286, SYS_adjtimex 124,
    SYS_bind 361, SYS_bpf 357, SYS_capget 184, SYS_capset 185, SYS_chdir 12, SYS_chroot 61,
    SYS_clock_adjtime 343, SYS_clock_settime 264, SYS_clone 120, SYS_clone3 435, SYS_close 6,
    SYS_close_range 436, SYS_connect 362, SYS_copy_file_range 377, SYS_delete_module 129,
    SYS_dup 41, SYS_dup3 330, SYS_epoll_create1 329, SYS_eventfd2 328, SYS_execve 11,
    SYS_execveat 358, SYS_exit 1, SYS_exit_group 252, SYS_faccessat 307, SYS_faccessat2 439,
    SYS_fallocate 324, SYS_fanotify_init 338, SYS_fanotify_mark 339, SYS_fchdir 133,
    SYS_fchmod 94, SYS_fchmodat 306, SYS_fchown 95, SYS_fchownat 298, SYS_fcntl 55,
    SYS_finit_module 350, SYS_fsconfig 431, SYS_fsetxattr 228, SYS_fsmount 432, SYS_fsopen 430,
    SYS_fspick 433, SYS_fstat 108, SYS_fstatfs 100, SYS_ftruncate 93, SYS_futex 240,
    SYS_getdents64 220, SYS_getegid 50, SYS_geteuid 49, SYS_getgid 47, SYS_getpeername 368,
    SYS_getpid 20, SYS_getppid 64, SYS_getrandom 355, SYS_getsockname 367, SYS_getsockopt 365,
    SYS_gettid 224, SYS_getuid 24, SYS_getxattr 229, SYS_init_module 128,
    SYS_inotify_add_watch 292, SYS_inotify_init1 332, SYS_io_setup 245, SYS_io_submit 248,
    SYS_io_uring_enter 426, SYS_io_uring_register 427, SYS_io_uring_setup 425, SYS_ioctl 54,
    SYS_ioprio_set 289, SYS_kcmp 349, SYS_kexec_load 283, SYS_keyctl 288, SYS_kill 37,
    SYS_landlock_add_rule 445, SYS_landlock_create_ruleset 444, SYS_landlock_restrict_self 446,
    SYS_lgetxattr 230, SYS_linkat 303, SYS_listen 363, SYS_lookup_dcookie 253, SYS_lseek 19,
    SYS_lsetxattr 227, SYS_mbind 274, SYS_membarrier 375, SYS_memfd_create 356,
    SYS_memfd_secret 447, SYS_migrate_pages 294, SYS_mkdirat 296, SYS_mknodat 297, SYS_mlock 150,
    SYS_mlockall 152, SYS_mmap 90, SYS_mount 21, SYS_mount_setattr 442, SYS_move_mount 429,
    SYS_move_pages 317, SYS_mprotect 125, SYS_mq_open 277, SYS_mq_unlink 278, SYS_mremap 163,
    SYS_msgget 399, SYS_msgrcv 401, SYS_msgsnd 400, SYS_munmap 91, SYS_name_to_handle_at 341,
    SYS_newfstatat NONE, SYS_open_by_handle_at 342, SYS_open_tree 428, SYS_openat 295,
    SYS_openat2 437, SYS_perf_event_open 336, SYS_personality 136, SYS_pidfd_getfd 438,
    SYS_pidfd_open 434, SYS_pidfd_send_signal 424, SYS_pipe2 331, SYS_pivot_root 217,
    SYS_pkey_mprotect 380, SYS_prctl 172, SYS_pread64 180, SYS_prlimit64 340,
    SYS_process_madvise 440, SYS_process_vm_readv 347, SYS_process_vm_writev 348, SYS_ptrace 26,
    SYS_pwrite64 181, SYS_quotactl 131, SYS_quotactl_fd 443, SYS_read 3, SYS_readlinkat 305,
    SYS_readv 145, SYS_reboot 88, SYS_recvfrom 371, SYS_recvmmsg 337, SYS_recvmsg 372,
    SYS_remap_file_pages 257, SYS_removexattr 235, SYS_renameat2 353, SYS_request_key 287,
    SYS_rseq 386, SYS_rt_sigqueueinfo 178, SYS_rt_tgsigqueueinfo 335, SYS_sched_setaffinity 241,
    SYS_sched_setscheduler 156, SYS_seccomp 354, SYS_semctl 394, SYS_semget 393, SYS_sendfile 187,
    SYS_sendmmsg 345, SYS_sendmsg 370, SYS_sendto 369, SYS_set_mempolicy 276,
    SYS_setdomainname 121, SYS_setfsgid 139, SYS_setfsuid 138, SYS_setgid 46, SYS_setgroups 81,
    SYS_sethostname 74, SYS_setns 346, SYS_setpgid 57, SYS_setpriority 97, SYS_setregid 71,
    SYS_setresgid 170, SYS_setresuid 164, SYS_setreuid 70, SYS_setsid 66, SYS_setsockopt 366,
    SYS_settimeofday 79, SYS_setuid 23, SYS_setxattr 226, SYS_shmat 397, SYS_shmctl 396,
    SYS_shmget 395, SYS_shutdown 373, SYS_signalfd4 327, SYS_socket 359, SYS_socketpair 360,
    SYS_splice 313, SYS_statfs 99, SYS_statx 383, SYS_swapoff 115, SYS_swapon 87,
    SYS_symlinkat 304, SYS_sysinfo 116, SYS_syslog 103, SYS_tee 315, SYS_tgkill 270,
    SYS_timerfd_create 322, SYS_times 43, SYS_tkill 238, SYS_truncate 92, SYS_umask 60,
    SYS_umount2 52, SYS_uname 122, SYS_unlinkat 301, SYS_unshare 310, SYS_userfaultfd 374,
    SYS_utimensat 320, SYS_vhangup 111, SYS_vmsplice 316, SYS_wait4 114, SYS_waitid 284,
    SYS_write 4, SYS_writev 146,
};

/// Calls that newer architectures never got.
#[cfg(target_arch = "x86_64")]
pub(super) const OLD: &[Row] = rows! {
    SYS_access 33, SYS_arch_prctl 384, SYS_chmod 15, SYS_chown 182, SYS_creat 8, SYS_dup2 63,
    SYS_fork 2, SYS_getrlimit 76, SYS_ioperm 101, SYS_iopl 110, SYS_kexec_file_load NONE,
    SYS_lchown 16, SYS_link 9, SYS_lstat 107, SYS_mkdir 39, SYS_mknod 14, SYS_modify_ldt 123,
    SYS_open 5, SYS_pipe 42, SYS_readlink 85, SYS_rename 38, SYS_renameat 302, SYS_rmdir 40,
    SYS_setrlimit 75, SYS_stat 106, SYS_symlink 83, SYS_sync_file_range 314, SYS_unlink 10,
    SYS_vfork 190,
};

/// Calls that newer architectures never got: this one is new.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const OLD: &[Row] = &[];

/// Calls newer than the common numbering: one number for every table.
#[rustfmt::skip]
pub(super) const UNIFORM: &[(&str, i64)] = &[
    ("cachestat", 451), ("fchmodat2", 452), ("map_shadow_stack", 453), ("futex_wake", 454),
    ("futex_wait", 455), ("futex_requeue", 456), ("statmount", 457), ("listmount", 458),
    ("lsm_get_self_attr", 459), ("lsm_set_self_attr", 460), ("lsm_list_modules", 461),
    ("mseal", 462), ("setxattrat", 463), ("getxattrat", 464), ("listxattrat", 465),
    ("removexattrat", 466), ("open_tree_attr", 467),
];

/// Calls that only the i386 table has.
pub(super) const ONLY_I386: &[(&str, i64)] = &[("socketcall", 102), ("stime", 25), ("umount", 22)];

/// Calls whose x32 number (without bit 0x40000000) is not the native one.
#[rustfmt::skip]
pub(super) const ONLY_X32: &[(&str, i64)] = &[
    ("rt_sigaction", 512), ("rt_sigreturn", 513), ("ioctl", 514), ("readv", 515), ("writev", 516),
    ("recvfrom", 517), ("sendmsg", 518), ("recvmsg", 519), ("execve", 520), ("ptrace", 521),
    ("rt_sigpending", 522), ("rt_sigtimedwait", 523), ("rt_sigqueueinfo", 524),
    ("sigaltstack", 525), ("timer_create", 526), ("mq_notify", 527), ("kexec_load", 528),
    ("waitid", 529), ("set_robust_list", 530), ("get_robust_list", 531), ("vmsplice", 532),
    ("move_pages", 533), ("preadv", 534), ("pwritev", 535), ("rt_tgsigqueueinfo", 536),
    ("recvmmsg", 537), ("sendmmsg", 538), ("process_vm_readv", 539), ("process_vm_writev", 540),
    ("setsockopt", 541), ("getsockopt", 542), ("io_setup", 543), ("io_submit", 544),
    ("execveat", 545), ("preadv2", 546), ("pwritev2", 547),
];
