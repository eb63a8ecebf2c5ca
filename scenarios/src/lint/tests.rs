//! What lint refuses, what it warns of, and what it must let be.

use rstest::rstest;

use crate::complaint::Level;
use crate::load;

/// A scenario with these keys; each is a line or more of YAML.
fn file(policy: &str, given: &str, route: &str, rest: &str) -> String {
    format!(
        "schema: 1\nid: a/b\ntitle: t\nwhy: w\nclaim: ours\nseverity: low\npolicy: {policy}\n\
         given: {given}\nroutes: {{ one: {route} }}\n{rest}\n"
    )
}

/// Level and message of everything that is said about a file which has no other mistake.
fn said(text: &str) -> Vec<(Level, String)> {
    let checked = load::checked(text, "a/b.yaml", Some("a/b"));
    checked.complaints.into_iter().map(|c| (c.level, c.message)).collect()
}

const SECRET: &str = "[{ file: { path: work/s, holds: secret } }]";
const KEPT: &str = "then: { secrets: kept }\nstill-works: [{ shell: ls }]";

#[rstest]
#[case::outside_written("workspace", "write: outside/x", "outside/x")]
#[case::home_written("workspace", "create: home/x", "home/x")]
#[case::work_under_read_only("read-only", "mkdir: work/x", "work/x")]
#[case::home_read_under_strict("strict", "read: home/x", "home/x")]
#[case::outside_listed_under_strict("strict", "list: outside", "outside")]
#[case::opened_for_writing("read-only", "open: { path: work/x, flags: [rw] }", "work/x")]
#[case::renamed_out("workspace", "rename: { from: work/x, to: outside/x }", "outside/x")]
#[case::linked_out("workspace", "link: { from: work/x, to: home/x }", "home/x")]
#[case::metadata("workspace-write", "write: work/.git/config", "work/.git/config")]
#[case::grok_home("workspace-write", "write: home/.grok/x", "home/.grok/x")]
#[case::second_profile("workspace, strict", "read: outside/x", "outside/x")]
fn still_works_that_the_profile_forbids(
    #[case] profiles: &str,
    #[case] step: &str,
    #[case] word: &str,
) {
    let policy = format!("{{ profiles: [{profiles}], deny: [work/s] }}");
    let rest = format!("then: {{ secrets: kept }}\nstill-works: [{{ {step} }}]");
    let said = said(&file(&policy, SECRET, "[{ read: work/s }]", &rest));
    let [(Level::Error, message)] = said.as_slice() else { panic!("{said:?}") };
    assert!(message.contains(&format!("`{word}`")), "{message}");
}

#[rstest]
#[case::denied("deny: [work/s, work/d]", "read: work/d/x", "deny covers it")]
#[case::glob("deny: [work/s, 'work/**/*.pem']", "write: work/a/b.pem", "deny covers it")]
#[case::protected("deny: [work/s], protect: [work/p]", "write: work/p/x", "protect covers it")]
#[case::pinned(
    "deny: [work/s], protect: [work/p/q]",
    "rename: { from: work/p, to: work/o }",
    "pins"
)]
fn still_works_that_the_policy_forbids(
    #[case] policy: &str,
    #[case] step: &str,
    #[case] why: &str,
) {
    let policy = format!("{{ profiles: [workspace], {policy} }}");
    let rest = format!("then: {{ secrets: kept }}\nstill-works: [{{ {step} }}]");
    let said = said(&file(&policy, SECRET, "[{ read: work/s }]", &rest));
    let [(Level::Error, message)] = said.as_slice() else { panic!("{said:?}") };
    assert!(message.contains(why), "{message}");
}

#[rstest]
#[case::read_outside("workspace", "", "read: outside/x")]
#[case::extra_write_root("strict", "read-write: [outside/x], ", "write: outside/x/y")]
#[case::extra_read_root("strict", "read-only: [outside/x], ", "read: outside/x/y")]
#[case::temp("strict", "", "write: temp/x")]
#[case::grok_home("strict", "", "write: home/.grok/x")]
#[case::metadata_calls("read-only", "", "chmod: { path: work/x, mode: 0600 }")]
#[case::stat_is_no_read("strict", "", "stat: outside/x")]
#[case::path_only("strict", "", "open: { path: outside/x, flags: [path] }")]
#[case::protected_is_readable("workspace", "protect: [work/p], ", "read: work/p")]
#[case::neighbour("workspace", "protect: [work/p], ", "write: work/pp")]
#[case::nested_git("workspace-write", "", "write: work/sub/.git/x")]
#[case::system("strict", "", "read: /etc/passwd")]
fn still_works_that_is_granted(#[case] profile: &str, #[case] policy: &str, #[case] step: &str) {
    let policy = format!("{{ profiles: [{profile}], {policy} deny: [work/s] }}");
    let rest = format!("then: {{ secrets: kept }}\nstill-works: [{{ {step} }}]");
    assert_eq!(said(&file(&policy, SECRET, "[{ read: work/s }]", &rest)), []);
}

#[test]
fn a_link_leads_elsewhere_than_its_name() {
    let given = "[{ file: { path: work/s, holds: secret } }, \
                 { symlink: { path: outside/way, to: work } }]";
    let rest = "then: { secrets: kept }\nstill-works: [{ read: outside/way/x }]";
    let policy = "{ profiles: [strict], deny: [work/s] }";
    assert_eq!(said(&file(policy, given, "[{ shell: cat s }]", rest)), []);
}

#[test]
fn a_works_route_must_be_granted_too() {
    let policy = "{ profiles: [read-only] }";
    let said = said(&file(policy, "[]", "[{ read: work/x }, { write: work/x }]", "works: true"));
    assert!(matches!(said.as_slice(), [(Level::Error, m)] if m.contains("`work/x`")), "{said:?}");
}

#[rstest]
#[case::plain("workspace", "[{ file: { path: work/s, holds: secret } }]", "work/s")]
#[case::outside("read-only", "[{ file: { path: outside/s, holds: secret } }]", "outside/s")]
#[case::second_profile(
    "strict, off",
    "[{ file: { path: outside/s, holds: secret } }]",
    "outside/s"
)]
fn a_secret_that_may_be_read(#[case] profiles: &str, #[case] given: &str, #[case] path: &str) {
    let policy = format!("{{ profiles: [{profiles}] }}");
    let said = said(&file(&policy, given, &format!("[{{ read: {path} }}]"), KEPT));
    let [(Level::Error, message)] = said.as_slice() else { panic!("{said:?}") };
    assert!(message.contains("`secrets: kept` cannot hold"), "{message}");
}

#[rstest]
#[case::denied("profiles: [workspace], deny: [work/s]", SECRET, "read: work/s")]
#[case::glob("profiles: [workspace], deny: ['work/?']", SECRET, "read: work/s")]
#[case::strict("profiles: [strict]", "[{ file: { path: home/s, holds: secret } }]", "read: home/s")]
#[case::shut(
    "profiles: [off]",
    "[{ file: { path: work/s, holds: secret, mode: 0200 } }]",
    "read: work/s"
)]
#[case::denied_by_its_link(
    "profiles: [off], deny: [work/l]",
    "[{ file: { path: work/s, holds: secret } }, { symlink: { path: work/l, to: work/s } }]",
    "read: work/s"
)]
#[case::sent_not_read("profiles: [workspace], network: blocked", SECRET, "shell: nc < s")]
#[case::variable(
    "profiles: [off], env: { inherit: none }",
    "[{ env: { S: secret } }]",
    "shell: env"
)]
fn a_secret_that_may_not_be_read(#[case] policy: &str, #[case] given: &str, #[case] step: &str) {
    assert_eq!(
        said(&file(&format!("{{ {policy} }}"), given, &format!("[{{ {step} }}]"), KEPT)),
        []
    );
}

const FILE: &str = "[{ file: { path: work/x, holds: text } }]";

#[rstest]
#[case(FILE, "write: work/x", "unchanged")]
#[case(FILE, "append: work/x", "unchanged")]
#[case(FILE, "unlink: work/x", "unchanged")]
#[case("[]", "create: work/x", "absent")]
#[case("[]", "mkdir: work/x", "absent")]
fn a_path_that_may_be_written(#[case] given: &str, #[case] step: &str, #[case] effect: &str) {
    let rest = format!("then: {{ paths: {{ work/x: {effect} }} }}\nstill-works: [{{ shell: ls }}]");
    let step = format!("[{{ {step} }}]");
    let said = said(&file("{ profiles: [workspace] }", given, &step, &rest));
    let [(Level::Error, message)] = said.as_slice() else { panic!("{said:?}") };
    assert!(message.contains("`work/x` may be written"), "{message}");
    let read_only = file("{ profiles: [read-only] }", given, &step, &rest);
    assert_eq!(super::tests::said(&read_only), []);
}

#[test]
fn a_protected_dot_folder_is_let_be() {
    let given = "[{ file: { path: work/.git/config, holds: text } }]";
    let rest = "then: { paths: { work/.git/config: unchanged } }\nstill-works: [{ shell: ls }]";
    let text = file("{ profiles: [workspace] }", given, "[{ write: work/.git/config }]", rest);
    assert_eq!(said(&text), []);
}

#[rstest]
#[case("profiles: [workspace]", "tcp", true)]
#[case("profiles: [strict], network: open", "udp", true)]
#[case("profiles: [strict]", "tcp", false)]
#[case("profiles: [workspace], network: blocked", "tcp", false)]
#[case("profiles: [workspace]", "abstract", false)]
fn a_listener_that_may_be_called(#[case] policy: &str, #[case] kind: &str, #[case] wrong: bool) {
    let given = format!("[{{ listener: {{ kind: {kind} }} }}]");
    let rest = "then: { network: silent }\nstill-works: [{ shell: ls }]";
    let said = said(&file(&format!("{{ {policy} }}"), &given, "[{ connect: default }]", rest));
    assert_eq!(said.iter().any(|(_, m)| m.contains("the network is open")), wrong, "{said:?}");
    assert_eq!(said.is_empty(), !wrong, "{said:?}");
}

#[rstest]
#[case("secrets: kept", "`kept`")]
#[case("network: silent", "`silent`")]
#[case("victim: untouched", "`untouched`")]
fn a_clause_about_nothing(#[case] clause: &str, #[case] word: &str) {
    let rest = format!("then: {{ {clause} }}\nstill-works: [{{ shell: ls }}]");
    let said = said(&file("{ profiles: [off] }", "[]", "[{ shell: ls }]", &rest));
    let [(Level::Error, message)] = said.as_slice() else { panic!("{said:?}") };
    assert!(message.contains(word) && message.contains("never be broken"), "{message}");
}

#[test]
fn a_secret_of_the_host_is_one() {
    let route = "[{ host: { write: { path: work/s, holds: secret } } }, { shell: cat s }]";
    assert_eq!(said(&file("{ profiles: [off], deny: [work/s] }", "[]", route, KEPT)), []);
}

#[rstest]
#[case("[{ read: work/other }]", true)]
#[case("[{ unlink: work/sub/x }]", false)]
#[case("[{ rename: { from: work/sub, to: work/o } }]", false)]
#[case("[{ list: work/sub/x/below }]", false)]
#[case("[{ shell: ls }]", false)]
#[case("[{ again: [{ shell: ls }] }]", false)]
#[case("[{ write: /proc/self/cwd/sub/x }]", false)]
fn a_path_that_nothing_touches(#[case] route: &str, #[case] warned: bool) {
    let given = "[{ file: { path: work/sub/x, holds: text } }]";
    let rest = "then: { paths: { work/sub/x: unchanged } }\nstill-works: [{ shell: ls }]";
    let said = said(&file("{ profiles: [read-only] }", given, route, rest));
    let expected = if warned { vec![Level::Warning] } else { vec![] };
    assert_eq!(said.iter().map(|(level, _)| *level).collect::<Vec<_>>(), expected, "{said:?}");
}

#[test]
fn length_is_a_warning_that_does_not_refuse() {
    let text = file("{ profiles: [off] }", "[]", "[{ shell: ls }]", "works: true");
    let short = format!("{text}{}", "# a comment\n\n".repeat(50));
    assert_eq!(said(&short), []);
    let long = text.replace("why: w", &format!("why: >{}", "\n  words".repeat(40)));
    let checked = load::checked(&long, "a/b.yaml", None);
    assert!(checked.scenario.is_some());
    assert_eq!(checked.complaints.len(), 1);
    assert_eq!(checked.complaints[0].level, Level::Warning);
    assert!(checked.complaints[0].to_string().contains("warning: the file has"));
}

#[rstest]
#[case::mktemp("f=$(mktemp) && echo x > $f", "mktemp")]
#[case::pid("echo x > out.$$", "out.$$")]
#[case::quoted("echo x > \\\"$TMPDIR/a$RANDOM\\\"", "$TMPDIR/a$RANDOM")]
fn random_names_are_warned_of(#[case] script: &str, #[case] word: &str) {
    let said = said(&file(
        "{ profiles: [workspace] }",
        "[]",
        &format!("[{{ shell: \"{script}\" }}]"),
        "works: true",
    ));
    let [(Level::Warning, message)] = said.as_slice() else { panic!("{said:?}") };
    assert!(message.contains(&format!("`{word}`")), "{message}");
}

#[rstest]
#[case::removed("f=$(mktemp) && cat $f; rm $f")]
#[case::no_name("kill -TERM $$; echo $?")]
#[case::fixed("echo x > out.txt")]
fn fixed_names_are_let_be(#[case] script: &str) {
    let said = said(&file(
        "{ profiles: [workspace] }",
        "[]",
        &format!("[{{ shell: \"{script}\" }}]"),
        "works: true",
    ));
    assert_eq!(said, []);
}
