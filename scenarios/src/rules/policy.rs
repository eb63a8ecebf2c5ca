//! Rules for `policy`.

use super::{Check, no_twice, place};
use crate::complaint::short;
use crate::names::is_variable;
use crate::policy::{EnvPolicy, is_glob};
use crate::{PolicySpec, RoomPath, glob};

pub(super) fn check(policy: &PolicySpec, check: &mut Check<'_>) {
    let profiles: Vec<&str> = policy.profiles.iter().map(|profile| profile.name()).collect();
    if profiles.is_empty() && !check.tainted(&place!["policy", "profiles"]) {
        let message = "`profiles` names no profile; at least one is needed";
        check.wrong(&place!["policy", "profiles"], "profiles", message);
    }
    no_twice(&profiles, &place!["policy", "profiles"], check);
    deny(&policy.deny, check);
    for (key, list) in [
        ("protect", &policy.protect),
        ("read-only", &policy.read_only),
        ("read-write", &policy.read_write),
    ] {
        no_twice(list, &place!["policy", key], check);
    }
    for (index, entry) in policy.read_only.iter().enumerate() {
        if policy.read_write.contains(entry) {
            let word = entry.to_string();
            let message = format!("`{word}` is both `read-only` and `read-write`");
            check.wrong(&place!["policy", "read-only", index], &word, message);
        }
    }
    if let Some(env) = &policy.env {
        environment(env, check);
    }
    if policy.session.as_ref().is_some_and(|session| session.resume.is_empty()) {
        let message = "`resume` names no session";
        check.wrong(&place!["policy", "session", "resume"], "resume", message);
    }
}

fn deny(entries: &[String], check: &mut Check<'_>) {
    no_twice(entries, &place!["policy", "deny"], check);
    for (index, entry) in entries.iter().enumerate() {
        let verdict =
            if is_glob(entry) { glob::check(entry) } else { entry.parse::<RoomPath>().map(drop) };
        if let Err(message) = verdict {
            check.wrong(&place!["policy", "deny", index], entry, message);
        }
    }
}

fn environment(env: &EnvPolicy, check: &mut Check<'_>) {
    for (key, list) in [("exclude", &env.exclude), ("include-only", &env.include_only)] {
        no_twice(list, &place!["policy", "env", key], check);
        for (index, pattern) in list.iter().enumerate() {
            if !is_variable(&pattern.replace(['*', '?'], "_")) {
                let message = format!(
                    "`{}` is no pattern of variable names; letters, digits, `_`, `*` and `?` are",
                    short(pattern)
                );
                check.wrong(&place!["policy", "env", key, index], pattern, message);
            }
        }
    }
    for name in env.set.keys().filter(|name| !is_variable(name)) {
        let message = format!("`{}` is no name of a variable", short(name));
        check.wrong(&place!["policy", "env", "set", name.as_str()], name, message);
    }
}
