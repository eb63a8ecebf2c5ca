//! [`Evidence`]: what the arms of one cell did, in facts the judge needs. No paths, no clocks.

use std::fmt;

/// Facts of all arms of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Without a sandbox.
    pub control: Arm,
    /// Under the sandbox.
    pub subject: Arm,
    /// Under the sandbox with one harmless difference; start refusals only.
    pub twin: Option<Arm>,
}

/// Facts of one arm.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// Whether the command ran.
    pub start: Start,
    /// What ended the arm before its steps were through.
    pub disturbed: Option<Disturbance>,
    /// Attempts of the route that were carried out, in order.
    pub attempts: Vec<Attempted>,
    /// Attempts of `still-works`.
    pub still_works: Vec<Attempted>,
    /// The effects, judged from outside wherever that is possible.
    pub clauses: Vec<Clause>,
    /// What was left changed on the host and no step explains.
    pub residue: Vec<String>,
    /// What attempts claim to have done and nobody sees from outside.
    pub unseen: Vec<String>,
    /// Nothing confines the command: measured inside, it is as in the control arm.
    pub unconfined: bool,
}

/// Whether the command ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// The probe said hello.
    Ran,
    /// It never did, and the subject ended.
    Never {
        /// How it ended.
        end: End,
        /// The subject said something on stderr or stdout.
        message: String,
    },
    /// It never did, and the deadline passed.
    Hung,
    /// The subject could not even be started (no such program, say).
    Unstartable(String),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
}

/// What cut an arm short after the command ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// Its time was over.
    Deadline,
    /// The probe or the subject ended without being asked.
    ProbeDied(Option<End>),
    /// The child that performs the steps died of a signal other than SIGSYS.
    StepDied(i32),
    /// The probe did not understand.
    Protocol(String),
    /// The command ran as somebody else: denials would be those of ordinary file permissions.
    OtherUser(u32),
    /// An act of the host failed.
    HostAct(String),
    /// An attempt cannot be made on this machine.
    Unavailable(String),
}

/// One attempt with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempted {
    /// The step in one line.
    pub step: String,
    /// How it went.
    pub result: Attemptance,
    /// What was printed or read, with everything that varies between arms replaced.
    pub text: String,
}

/// How an attempt went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attemptance {
    /// It succeeded.
    Done,
    /// It was denied: errno name or signal name.
    Denied(String),
    /// It failed in a way that is no denial.
    Failed(String),
}

/// One effect and whether it held in this arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// In words: `work/secret.txt unchanged`.
    pub name: String,
    /// Whether it held; `None` when the arm was cut short before it could be known.
    pub held: Option<bool>,
    /// What was seen.
    pub seen: String,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Exited(code) => write!(f, "status {code}"),
            End::Signalled(number) => {
                write!(f, "signal {}", sandproof_probes::errno::signal_name(*number))
            }
        }
    }
}

impl Attempted {
    /// True when it succeeded.
    #[must_use]
    pub fn done(&self) -> bool {
        self.result == Attemptance::Done
    }
}

impl fmt::Display for Attemptance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attemptance::Done => f.write_str("done"),
            Attemptance::Denied(how) => write!(f, "denied ({how})"),
            Attemptance::Failed(how) => write!(f, "failed ({how})"),
        }
    }
}
