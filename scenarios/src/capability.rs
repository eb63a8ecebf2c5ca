//! [`Capability`]: the closed list of what a backend can express or a host can do.

use std::fmt;
use std::str::FromStr;

/// One ability, named in `needs`, `can` and `--require`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    // Of a backend.
    /// Limits writing to roots.
    WriteScope,
    /// Limits reading to roots.
    ReadScope,
    /// Denies exact paths inside granted ones.
    DenyList,
    /// Denies by glob.
    DenyGlob,
    /// Keeps paths readable but unwritten, with pinned parents.
    Protect,
    /// Honours GROK_HOME, its hook slots and `hooks-paths`.
    GrokHome,
    /// Blocks the network of children.
    NetworkBlock,
    /// Applies an environment policy.
    EnvPolicy,
    /// Closes inherited descriptors.
    FdScope,
    /// Keeps other processes out of reach (signals, ptrace, memory).
    ProcessScope,
    /// Closes system calls that only attackers use (foreign ABIs, io_uring, new namespaces).
    SyscallFilter,
    /// Ends every process of the command when the command ends.
    KillsTree,
    /// Protects `.git`, `.agents`, `.codex` at the top of each write root.
    Metadata,
    /// Reads profiles and settings from files of GROK_HOME and of the workspace.
    GrokConfig,
    /// Remembers the profile of a session and keeps it when the session is gone on with.
    Sessions,
    /// Is an agent whose own tools can be called.
    AgentTools,
    // Of a host.
    /// Landlock with at least this ABI (1 to 11).
    Landlock(u32),
    /// Seccomp filters.
    Seccomp,
    /// Unprivileged user namespaces (or root, which needs none).
    Userns,
    /// The kernel runs 32-bit x86 system calls.
    Ia32,
    /// The kernel runs x32 system calls.
    X32,
    /// io_uring can be set up.
    IoUring,
    /// Multipath TCP sockets can be made.
    Mptcp,
    /// A pseudo terminal can be had.
    Tty,
    /// The kernel lets a process push bytes into its own terminal (`dev.tty.legacy_tiocsti`).
    LegacyTiocsti,
    /// The run is root.
    Root,
    /// The run is an ordinary user.
    NotRoot,
}

impl Capability {
    /// Every capability without a number, and `landlock` with 1.
    pub const ALL: [Capability; 27] = [
        Capability::WriteScope,
        Capability::ReadScope,
        Capability::DenyList,
        Capability::DenyGlob,
        Capability::Protect,
        Capability::GrokHome,
        Capability::NetworkBlock,
        Capability::EnvPolicy,
        Capability::FdScope,
        Capability::ProcessScope,
        Capability::SyscallFilter,
        Capability::KillsTree,
        Capability::Metadata,
        Capability::GrokConfig,
        Capability::Sessions,
        Capability::AgentTools,
        Capability::Landlock(1),
        Capability::Seccomp,
        Capability::Userns,
        Capability::Ia32,
        Capability::X32,
        Capability::IoUring,
        Capability::Mptcp,
        Capability::Tty,
        Capability::LegacyTiocsti,
        Capability::Root,
        Capability::NotRoot,
    ];

    /// True when the host decides, false when the backend does.
    #[must_use]
    pub fn of_host(self) -> bool {
        self >= Capability::Landlock(0)
    }

    /// Its word without a number.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Capability::WriteScope => "write-scope",
            Capability::ReadScope => "read-scope",
            Capability::DenyList => "deny-list",
            Capability::DenyGlob => "deny-glob",
            Capability::Protect => "protect",
            Capability::GrokHome => "grok-home",
            Capability::NetworkBlock => "network-block",
            Capability::EnvPolicy => "env-policy",
            Capability::FdScope => "fd-scope",
            Capability::ProcessScope => "process-scope",
            Capability::SyscallFilter => "syscall-filter",
            Capability::KillsTree => "kills-tree",
            Capability::Metadata => "metadata",
            Capability::GrokConfig => "grok-config",
            Capability::Sessions => "sessions",
            Capability::AgentTools => "agent-tools",
            Capability::Landlock(_) => "landlock",
            Capability::Seccomp => "seccomp",
            Capability::Userns => "userns",
            Capability::Ia32 => "ia32",
            Capability::X32 => "x32",
            Capability::IoUring => "io-uring",
            Capability::Mptcp => "mptcp",
            Capability::Tty => "tty",
            Capability::LegacyTiocsti => "legacy-tiocsti",
            Capability::Root => "root",
            Capability::NotRoot => "not-root",
        }
    }

    /// One sentence for users.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Capability::WriteScope => "limits writing to named folders",
            Capability::ReadScope => "limits reading to named folders",
            Capability::DenyList => "denies exact paths inside granted folders",
            Capability::DenyGlob => "denies paths by glob",
            Capability::Protect => "keeps paths readable but unwritten, their parents pinned",
            Capability::GrokHome => "honours GROK_HOME, its hook slots and hooks-paths",
            Capability::NetworkBlock => "blocks the network of child processes",
            Capability::EnvPolicy => "decides which environment variables reach the command",
            Capability::FdScope => "closes descriptors inherited from the launcher",
            Capability::ProcessScope => "keeps processes outside out of reach",
            Capability::SyscallFilter => "closes system calls that only attackers use",
            Capability::KillsTree => "ends every process of the command with the command",
            Capability::Metadata => "protects .git, .agents and .codex in each write root",
            Capability::GrokConfig => {
                "reads sandbox.toml, config.toml and requirements.toml of GROK_HOME"
            }
            Capability::Sessions => "keeps the profile of a session that is gone on with",
            Capability::AgentTools => "is an agent whose own tools can be called",
            Capability::Landlock(_) => "the kernel has Landlock with at least this ABI",
            Capability::Seccomp => "the kernel has seccomp filters",
            Capability::Userns => "this user can make user namespaces",
            Capability::Ia32 => "the kernel runs 32-bit x86 system calls",
            Capability::X32 => "the kernel runs x32 system calls",
            Capability::IoUring => "io_uring can be set up without a sandbox",
            Capability::Mptcp => "the kernel has Multipath TCP",
            Capability::Tty => "a pseudo terminal can be had",
            Capability::LegacyTiocsti => "the kernel lets a process type into its own terminal",
            Capability::Root => "the run is root",
            Capability::NotRoot => "the run is an ordinary user",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Capability::Landlock(abi) = self
            && *abi > 1
        {
            return write!(f, "landlock>={abi}");
        }
        f.write_str(self.word())
    }
}

impl FromStr for Capability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(number) = text.strip_prefix("landlock>=") {
            let abi = number.parse().ok().filter(|n| (1..=99).contains(n));
            return abi
                .map(Capability::Landlock)
                .ok_or_else(|| format!("`{text}`: the ABI after >= is a number from 1 to 99"));
        }
        Capability::ALL
            .into_iter()
            .find(|capability| capability.word() == text)
            .ok_or_else(|| format!("`{text}` is no capability"))
    }
}
