//! The order of the steps, and the patterns.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use rstest::rstest;
use sandproof_scenarios::policy::EnvPolicy;

use super::{Environment, any_matches, matches};

fn left(policy: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let policy: EnvPolicy = serde_json::from_str(policy).unwrap();
    let odd = (OsString::from("ODD"), OsString::from_vec(vec![0xff]));
    let given = variables.iter().map(|(name, value)| (name.into(), value.into()));
    let environment = Environment::under(&policy, given.chain([odd]));
    let variables = environment.variables().unwrap();
    variables.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

#[rstest]
#[case::core(r#"{"inherit":"core"}"#, &["PATH=p", "home=h"])]
#[case::none(r#"{"inherit":"none"}"#, &[])]
#[case::exclude(r#"{"exclude":["*token*","HOM?"]}"#, &["PATH=p", "X=1"])]
#[case::set_comes_after_exclude(
    r#"{"inherit":"none","exclude":["A"],"set":{"A":"a"}}"#, &["A=a"]
)]
#[case::include_only_comes_last(
    r#"{"inherit":"none","set":{"A":"a","B":"b"},"include-only":["b"]}"#, &["B=b"]
)]
#[case::defaults(r#"{"ignore-default-excludes":false}"#, &["PATH=p", "X=1", "home=h"])]
#[case::set_comes_after_the_defaults(
    r#"{"inherit":"none","ignore-default-excludes":false,"set":{"MY_KEY":"k"}}"#, &["MY_KEY=k"]
)]
#[case::unlisted_set_is_lost(
    r#"{"inherit":"none","set":{"A":"a"},"include-only":["B"]}"#, &[]
)]
#[case::include_only_alone(r#"{"include-only":["P*"]}"#, &["PATH=p"])]
fn grok_9_2_steps(#[case] policy: &str, #[case] wanted: &[&str]) {
    let given = [("PATH", "p"), ("home", "h"), ("API_TOKEN", "t"), ("X", "1")];
    assert_eq!(left(policy, &given), wanted);
}

#[test]
fn grok_9_5_a_policy_that_says_nothing_changes_nothing() {
    let environment = Environment::under(&EnvPolicy::default(), std::iter::empty());
    assert_eq!(environment.variables(), None);
}

#[test]
fn grok_9_4_the_core_names() {
    let core = [
        "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TEMP", "TMP", "TMPDIR",
        "USER",
    ];
    let others = ["EDITOR", "LC_TIME", "PWD", "TERM", "PATHEXT", "HOMEDRIVE"];
    let given: Vec<(&str, &str)> = core.iter().chain(&others).map(|name| (*name, "x")).collect();
    let wanted: Vec<String> = core.iter().map(|name| format!("{name}=x")).collect();
    assert_eq!(left(r#"{"inherit":"core"}"#, &given), wanted);
}

#[rstest]
#[case("*KEY*", "monkey_wrench", true)]
#[case("*", "", true)]
#[case("a*b*c", "aXbYbc", true)]
#[case("a*b*c", "aXbYbcd", false)]
#[case("?", "", false)]
#[case("?*", "x", true)]
#[case("abc", "ab", false)]
#[case("ab", "abc", false)]
fn grok_9_3_patterns(#[case] pattern: &str, #[case] name: &str, #[case] wanted: bool) {
    let chars = |text: &str| text.chars().collect::<Vec<char>>();
    assert_eq!(any_matches(&[pattern.to_owned()], name), wanted);
    // Without letters of both cases the inner match is the same.
    if pattern == pattern.to_lowercase() && name == name.to_lowercase() {
        assert_eq!(matches(&chars(pattern), &chars(name)), wanted);
    }
}
