//! Names of errno and signal numbers, both ways, as this platform counts them.

use std::str::FromStr;

use nix::errno::Errno;
use nix::sys::signal::Signal;

/// Second names of some numbers: nix knows each number by one name only.
const ALIASES: [(&str, Errno); 3] =
    [("EWOULDBLOCK", Errno::EAGAIN), ("EDEADLOCK", Errno::EDEADLK), ("ENOTSUP", Errno::EOPNOTSUPP)];

/// No platform counts its errnos as high as this.
const HIGHEST: i32 = 256;

/// The name of an errno (`EPERM`), or `errno N` when it has none.
#[must_use]
pub fn name(number: i32) -> String {
    let errno = Errno::from_raw(number);
    if errno == Errno::UnknownErrno { format!("errno {number}") } else { format!("{errno:?}") }
}

/// The number of an errno by name; `None` when this platform has none of that name.
#[must_use]
pub fn number(name: &str) -> Option<i32> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, errno)| *errno as i32);
    // A name that both tables know must come from this platform's own.
    (1..HIGHEST).find(|&number| self::name(number) == name).or(alias)
}

/// The name of a signal (`SIGTERM`), `SIGRTMIN+N`, or `signal N` when it has none.
#[must_use]
pub fn signal_name(number: i32) -> String {
    if let Ok(signal) = Signal::try_from(number) {
        return signal.as_str().to_owned();
    }
    match realtime() {
        Some((first, last)) if (first..=last).contains(&number) => {
            format!("SIGRTMIN+{}", number - first)
        }
        Some(_) | None => format!("signal {number}"),
    }
}

/// The number of a signal written `TERM`, `SIGTERM`, `15` or, to only ask, `0`.
#[must_use]
pub fn signal_number(text: &str) -> Option<i32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let highest = realtime().map_or(31, |(_, last)| last);
        return text.parse().ok().filter(|&number| (0..=highest).contains(&number));
    }
    let name = if text.starts_with("SIG") { text.to_owned() } else { format!("SIG{text}") };
    if let Some(offset) = name.strip_prefix("SIGRTMIN") {
        let (first, last) = realtime()?;
        let offset = if offset.is_empty() { 0 } else { offset.strip_prefix('+')?.parse().ok()? };
        return Some(first.checked_add(offset)?).filter(|number| (first..=last).contains(number));
    }
    Signal::from_str(&name).ok().map(|signal| signal as i32)
}

/// First and last real-time signal, where there are any.
fn realtime() -> Option<(i32, i32)> {
    #[cfg(target_os = "linux")]
    return Some((libc::SIGRTMIN(), libc::SIGRTMAX()));
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("EPERM", libc::EPERM)]
    #[case("ENOENT", libc::ENOENT)]
    #[case("EACCES", libc::EACCES)]
    #[case("EXDEV", libc::EXDEV)]
    #[case("EROFS", libc::EROFS)]
    #[case("ENOSYS", libc::ENOSYS)]
    #[case("EAFNOSUPPORT", libc::EAFNOSUPPORT)]
    #[case("EWOULDBLOCK", libc::EWOULDBLOCK)]
    #[case("ENOTSUP", libc::ENOTSUP)]
    fn an_errno_is_known_by_name(#[case] text: &str, #[case] expected: i32) {
        assert_eq!(number(text), Some(expected));
    }

    #[test]
    fn names_lead_back_to_their_numbers() {
        let named: Vec<i32> = (1..HIGHEST).filter(|&n| name(n).starts_with('E')).collect();
        assert!(named.len() > 100, "only {} errnos have names", named.len());
        for n in named {
            assert_eq!(number(&name(n)), Some(n), "{}", name(n));
        }
    }

    #[test]
    fn an_unknown_errno_keeps_its_number() {
        assert_eq!(name(4000), "errno 4000");
        assert_eq!(number("EPREM"), None);
    }

    #[rstest]
    #[case("TERM", Some(libc::SIGTERM))]
    #[case("SIGTERM", Some(libc::SIGTERM))]
    #[case("15", Some(15))]
    #[case("0", Some(0))]
    #[case("SIGSYS", Some(libc::SIGSYS))]
    #[case("TREM", None)]
    #[case("-9", None)]
    #[case("900", None)]
    #[case("SIG", None)]
    #[case("", None)]
    fn a_signal_is_known_by_name_or_number(#[case] text: &str, #[case] expected: Option<i32>) {
        assert_eq!(signal_number(text), expected);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn realtime_signals_count_from_the_first() {
        let third = signal_number("RTMIN+3").unwrap();
        assert_eq!(signal_name(third), "SIGRTMIN+3");
        assert_eq!(signal_number("RTMIN+300"), None);
        assert_eq!(signal_name(libc::SIGKILL), "SIGKILL");
    }
}
