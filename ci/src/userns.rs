//! Whether AppArmor restricts user namespaces, so that a job named after one answer cannot run
//! under the other and be green for nothing.

use std::fs;
use std::path::Path;

use clap::ValueEnum;

use crate::finding::{CheckError, Finding};

/// The switch of Ubuntu kernels.
pub(crate) const SWITCH: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// What a job says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum State {
    /// Ordinary programs cannot make user namespaces.
    Restricted,
    /// They can.
    Open,
}

impl State {
    /// What the switch reads then.
    fn value(self) -> &'static str {
        match self {
            State::Restricted => "1",
            State::Open => "0",
        }
    }
}

/// The switch says what the job says.
pub(crate) fn check(switch: &Path, state: State) -> Result<Vec<Finding>, CheckError> {
    let text = fs::read_to_string(switch).map_err(CheckError::read(switch))?;
    let (wanted, read) = (state.value(), text.trim());
    let what = format!("reads {read}, and this job needs {wanted}: set it with sysctl first");
    let wrong = (read != wanted).then(|| Finding::whole(switch.display(), what));
    Ok(wrong.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    #[test]
    fn the_switch_must_agree() {
        let root = planted(&[("on", "1\n"), ("off", "0\n")]);
        let found = |name, state| check(&root.path().join(name), state).unwrap().len();
        assert_eq!(found("on", State::Restricted), 0);
        assert_eq!(found("off", State::Open), 0);
        assert_eq!(found("on", State::Open), 1);
        assert_eq!(found("off", State::Restricted), 1);
    }

    #[test]
    fn a_kernel_without_the_switch_is_an_error() {
        let root = planted(&[]);
        assert!(check(&root.path().join("none"), State::Open).is_err());
    }
}
