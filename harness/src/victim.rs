//! [`Victim`]: a process outside the sandbox that notices what is done to it.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{SigSet, Signal};
use sandproof_scenarios::resolve::VictimAddress;

/// The hidden first argument that turns sandproof into a victim.
pub const ARGUMENT: &str = "victim";

/// A victim whose input has ended and that says nothing for so many milliseconds is stopped.
const PATIENCE: u16 = 5000;

/// A running victim. Dropping it ends it.
#[derive(Debug)]
pub struct Victim {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    address: VictimAddress,
}

impl Victim {
    /// Starts one that keeps `secret` in its environment and memory.
    ///
    /// # Errors
    /// As starting a process.
    pub fn start(executable: &Path, secret: Option<&str>) -> io::Result<Self> {
        let mut command = Command::new(executable);
        command.arg(ARGUMENT).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(secret) = secret {
            command.env("VICTIM_SECRET", secret);
        }
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let mut numbers = line.split_whitespace().map(str::parse::<u64>);
        let mut next = || numbers.next().and_then(Result::ok);
        let (Some(address), Some(length)) = (next(), next()) else {
            return Err(io::Error::other(format!("the victim said `{}`", line.trim())));
        };
        let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
        Ok(Self { child, input, output, address: VictimAddress { pid, address, length } })
    }

    /// Where it is, for attempts.
    #[must_use]
    pub fn address(&self) -> &VictimAddress {
        &self.address
    }

    /// What is being done to it at this moment: stopped, traced or ended.
    #[must_use]
    pub fn state(&self) -> Option<String> {
        let Ok(status) = fs::read_to_string(format!("/proc/{}/status", self.address.pid)) else {
            return cfg!(target_os = "linux").then(|| "it is gone".to_owned());
        };
        let field = |name: &str| {
            status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("").trim().to_owned()
        };
        let (tracer, state) = (field("TracerPid:"), field("State:"));
        if tracer != "0" {
            return Some("it is traced".to_owned());
        }
        let bad = state.starts_with(['T', 't', 'Z', 'X']);
        bad.then(|| format!("its state is {state}"))
    }

    /// Whether it says or ends anything within a while; its input has ended.
    fn answers(&self) -> bool {
        let mut fds = [PollFd::new(self.output.get_ref().as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, PATIENCE).is_ok_and(|ready| ready > 0)
    }

    /// Ends it and answers what was done to it: signals received, or how it died.
    pub fn finish(&mut self) -> Option<String> {
        let state = self.state();
        self.input = None;
        if state.is_some() {
            let _ = self.child.kill();
        }
        let mut rest = String::new();
        if self.answers() {
            let _ = self.output.read_to_string(&mut rest);
        } else {
            // Stopped in a way that cannot be seen from outside here.
            let _ = self.child.kill();
            let _ = self.child.wait();
            return Some(state.unwrap_or_else(|| "it no longer answers".to_owned()));
        }
        let ended = self.child.wait();
        let signals: Vec<&str> = rest.lines().collect();
        if !signals.is_empty() {
            return Some(format!("it received {}", signals.join(", ")));
        }
        match (state, ended) {
            (Some(state), _) => Some(state),
            (None, Ok(status)) if status.success() => None,
            (None, Ok(status)) => Some(format!("it ended with {status}")),
            (None, Err(error)) => Some(error.to_string()),
        }
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Body of the hidden command: says where its secret is, then every signal it receives, until
/// stdin ends.
pub fn main() -> i32 {
    let secret = std::env::var("VICTIM_SECRET").unwrap_or_default().into_bytes();
    let mut output = io::stdout().lock();
    // Root's capabilities protect a process from those who have fewer; a sandbox must do it alone.
    sandproof_probes::sys::drop_capabilities();
    sandproof_probes::sys::allow_any_tracer();
    let all = SigSet::all();
    if all.thread_block().is_err() {
        return 3;
    }
    let greeting = writeln!(output, "{} {}", secret.as_ptr() as usize, secret.len());
    if greeting.and_then(|()| output.flush()).is_err() {
        return 3;
    }
    let mut byte = [0_u8];
    // Signals are blocked, so nothing interrupts this; they wait until stdin ends.
    let _ = io::stdin().lock().read(&mut byte);
    for signal in Signal::iterator().filter(|signal| pending(*signal)) {
        let _ = writeln!(output, "{}", signal.as_str());
    }
    i32::from(secret.first() == Some(&0))
}

/// True when a blocked signal waits for this process.
fn pending(signal: Signal) -> bool {
    let mask = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = mask
        .lines()
        .filter(|line| line.starts_with("ShdPnd:") || line.starts_with("SigPnd:"))
        .filter_map(|line| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok())
        .fold(0, |all, bits| all | bits);
    bits & (1 << (signal as u64 - 1)) != 0
}
