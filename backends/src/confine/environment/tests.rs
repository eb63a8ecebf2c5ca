//! The order of the steps, and the patterns.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use rstest::rstest;
use sandproof_scenarios::policy::EnvPolicy;

use super::{Environment, matches};

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
#[case::include_only_alone(r#"{"include-only":["P*"]}"#, &["PATH=p"])]
fn steps(#[case] policy: &str, #[case] wanted: &[&str]) {
    let given = [("PATH", "p"), ("home", "h"), ("API_TOKEN", "t"), ("X", "1")];
    assert_eq!(left(policy, &given), wanted);
}

#[test]
fn a_policy_that_says_nothing_changes_nothing() {
    let environment = Environment::under(&EnvPolicy::default(), std::iter::empty());
    assert_eq!(environment.variables(), None);
}

#[rstest]
#[case("*", "", true)]
#[case("a*b*c", "aXbYbc", true)]
#[case("a*b*c", "aXbYbcd", false)]
#[case("?", "", false)]
#[case("?*", "x", true)]
#[case("abc", "ab", false)]
#[case("ab", "abc", false)]
fn patterns(#[case] pattern: &str, #[case] name: &str, #[case] wanted: bool) {
    let chars = |text: &str| text.chars().collect::<Vec<char>>();
    assert_eq!(matches(&chars(pattern), &chars(name)), wanted);
}
