//! Which files are accepted, what they mean, and what is said about the others.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use rstest::rstest;
use sandproof_scenarios::{Network, Profile};
use tempfile::TempDir;

use super::{Config, Custom, GlobLimits};
use crate::confine::surroundings::Surroundings;

/// A GROK_HOME and a workspace.
struct World {
    dir: TempDir,
}

impl World {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        fs::create_dir_all(dir.path().join("grok")).unwrap();
        fs::create_dir_all(dir.path().join("work/.grok")).unwrap();
        Self { dir }
    }

    fn with(file: &str, text: &str) -> Self {
        Self::new().and(file, text)
    }

    fn and(self, file: &str, text: &str) -> Self {
        fs::write(self.at(file), text).unwrap();
        self
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    fn read(&self) -> Result<Config, String> {
        let around = Surroundings {
            workspace: self.at("work"),
            grok_home: self.at("grok"),
            cwd: self.at("work"),
            ..Surroundings::default()
        };
        Config::read(&around).map_err(|refusal| refusal.to_string())
    }

    fn refused(&self) -> String {
        self.read().expect_err("not refused")
    }
}

const GLOBAL: &str = "grok/sandbox.toml";
const PROJECT: &str = "work/.grok/sandbox.toml";

fn profile(text: &str) -> Custom {
    let text = format!("[profiles.mine]\n{text}\n");
    World::with(GLOBAL, &text).read().unwrap().profiles.remove("mine").unwrap()
}

fn paths(list: &[&str]) -> Vec<PathBuf> {
    list.iter().map(PathBuf::from).collect()
}

#[test]
fn grok_2_1_both_files_are_read_and_no_folder_above() {
    let world = World::with(GLOBAL, "[profiles.a]\n").and(PROJECT, "[profiles.b]\n");
    fs::create_dir(world.at(".grok")).unwrap();
    fs::write(world.at(".grok/sandbox.toml"), "[profiles.c]\n").unwrap();
    let config = world.read().unwrap();
    assert_eq!(config.profiles.keys().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn grok_2_1_a_workspace_that_is_home_has_one_file() {
    let world = World::with(PROJECT, "[profiles.a]\n[limits]\ndepth = 3\n");
    fs::remove_dir(world.at("grok")).unwrap();
    symlink(world.at("work/.grok"), world.at("grok")).unwrap();
    let config = world.read().unwrap();
    assert_eq!((config.limits.depth, config.warnings.len()), (Some(3), 0));
}

#[test]
fn grok_2_2_the_schema() {
    let mine = profile(
        "extends = \"strict\"\nrestrict_network = false\nread_only = [\"/opt\"]\n\
         read_write = [\"/srv/x\", \"rel\"]\ndeny = [\"secret\", \"**/*.pem\"]",
    );
    assert_eq!(mine.base, Profile::Strict);
    assert_eq!(mine.network, Some(Network::Open));
    assert_eq!(mine.read_only, paths(&["/opt"]));
    assert_eq!(mine.read_write, paths(&["/srv/x", "rel"]));
    assert_eq!(mine.deny, ["secret", "**/*.pem"]);
    assert_eq!(profile(""), Custom::built_in(Profile::Workspace));
}

#[rstest]
#[case::unknown_key("[profiles.p]\ndeney = []\n", "2:1", "did you mean `deny`?")]
#[case::underscore("[profiles.p]\nread-only = []\n", "2:1", "did you mean `read_only`?")]
#[case::top("[profile.p]\n", "1:2", "did you mean `profiles`?")]
#[case::type_of_list("[profiles.p]\ndeny = \"x\"\n", "2:8", "invalid type")]
#[case::type_of_flag("[profiles.p]\nrestrict_network = \"yes\"\n", "2:20", "invalid type")]
#[case::type_of_entry("[profiles.p]\ndeny = [1]\n", "2:9", "invalid type")]
#[case::twice("[profiles.p]\ndeny = []\ndeny = []\n", "3:1", "duplicate key")]
#[case::broken("[profiles.p\n", "1:12", "")]
#[case::limit("[limits]\nmatchs = 1\n", "2:1", "did you mean `matches`?")]
#[case::limit_of_nothing("[limits]\ndepth = 0\n", "2:9", "from 1 on")]
#[case::limit_below_nothing("[limits]\nentries = -1\n", "2:11", "from 1 on")]
fn grok_2_2_what_is_misread_is_refused(
    #[case] text: &str,
    #[case] place: &str,
    #[case] said: &str,
) {
    for file in [GLOBAL, PROJECT] {
        let told = World::with(file, text).refused();
        let line = text.lines().nth(place.as_bytes()[0] as usize - usize::from(b'1')).unwrap();
        assert!(told.contains(&format!("sandbox.toml:{place}: ")), "{told}");
        assert!(told.contains(said) && told.contains(line), "{told}");
    }
}

#[rstest]
#[case("workspace", Some(Profile::Workspace))]
#[case("devbox", Some(Profile::Devbox))]
#[case("read-only", Some(Profile::ReadOnly))]
#[case("readonly", Some(Profile::ReadOnly))]
#[case("strict", Some(Profile::Strict))]
#[case("off", None)]
#[case("none", None)]
#[case("other", None)]
#[case("Strict", None)]
#[case("", None)]
fn grok_2_3_what_can_be_extended(#[case] base: &str, #[case] wanted: Option<Profile>) {
    let text = format!("[profiles.other]\n[profiles.p]\nextends = \"{base}\"\n");
    let world = World::with(GLOBAL, &text);
    match wanted {
        Some(profile) => assert_eq!(world.read().unwrap().profiles["p"].base, profile),
        None => assert!(world.refused().contains("sandbox.toml:3:11: "), "{}", world.refused()),
    }
}

#[test]
fn grok_2_4_global_wins_a_clash_and_it_is_told() {
    let world = World::with(GLOBAL, "[profiles.p]\ndeny = [\"x\"]\n[profiles.same]\n")
        .and(PROJECT, "[profiles.p]\nread_write = [\"/srv\"]\n[profiles.same]\n[profiles.more]\n");
    let config = world.read().unwrap();
    assert_eq!(config.profiles["p"].deny, ["x"]);
    // Whole profiles at a time.
    assert_eq!(config.profiles["p"].read_write, paths(&[]));
    assert!(config.profiles.contains_key("more"));
    assert_eq!(config.warnings.len(), 1);
    assert!(config.warnings[0].contains("`p`"), "{:?}", config.warnings);
}

#[test]
fn grok_2_5_only_a_missing_file_is_absent() {
    let world = World::new();
    assert!(world.read().unwrap().profiles.is_empty());
    for file in [GLOBAL, PROJECT, "grok/config.toml", "grok/requirements.toml"] {
        let world = World::new();
        fs::write(world.at(file), [b'a', b'\n', 0xff]).unwrap();
        assert!(world.refused().contains("not UTF-8 (line 2)"), "{}", world.refused());
        fs::remove_file(world.at(file)).unwrap();
        fs::create_dir(world.at(file)).unwrap();
        assert!(world.refused().contains("no regular file"), "{}", world.refused());
        fs::remove_dir(world.at(file)).unwrap();
        symlink("nowhere", world.at(file)).unwrap();
        assert!(world.refused().contains("cannot be read"), "{}", world.refused());
        fs::remove_file(world.at(file)).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            world.at(file),
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        assert!(world.refused().contains("no regular file"), "{}", world.refused());
        fs::remove_file(world.at(file)).unwrap();
        fs::write(world.at(file), "x".repeat((1 << 20) + 1)).unwrap();
        assert!(world.refused().contains("longer than"), "{}", world.refused());
    }
}

#[rstest]
#[case("~")]
#[case("~/x")]
#[case("~other/x")]
#[case("$HOME/x")]
#[case("/a/${X}/b")]
#[case("")]
#[case(" /a")]
#[case("/a ")]
#[case("\\t")]
#[case("/a\\u0000b")]
fn grok_2_7_nothing_is_expanded_or_trimmed_so_it_is_refused(#[case] entry: &str) {
    for key in ["read_only", "read_write", "deny"] {
        let text = format!("[profiles.p]\n{key} = [\"/ok\", \"{entry}\"]\n");
        let told = World::with(GLOBAL, &text).refused();
        let column = key.len() + 12;
        assert!(told.contains(&format!("sandbox.toml:2:{column}: ")), "{told}");
    }
}

#[test]
fn grok_2_7_a_tilde_inside_a_name_is_one() {
    let mine = profile("deny = [\"backup~\", \"a/~b\", \"a$\"]");
    assert_eq!(mine.deny.len(), 3);
}

#[rstest]
#[case("/a/**/*", Some("/a"))]
#[case("/a/**/", Some("/a"))]
#[case("/a/**", Some("/a"))]
#[case("/a/*", Some("/a"))]
#[case("/tmp/scratch/*", Some("/tmp/scratch"))]
#[case("/**", Some("/"))]
#[case("/**/*", Some("/"))]
#[case("/*", Some("/"))]
#[case("/", Some("/"))]
#[case("/a/", Some("/a/"))]
#[case("/a b/c", Some("/a b/c"))]
#[case("rel/**", Some("rel"))]
#[case("/a/**/**", None)]
#[case("/a/*/*", None)]
#[case("/home/**/cache", None)]
#[case("/tmp/foo*", None)]
#[case("/tmp/fo?", None)]
#[case("/tmp/[ab]", None)]
#[case("**", None)]
#[case("*", None)]
fn grok_2_8_patterns_of_roots(#[case] entry: &str, #[case] wanted: Option<&str>) {
    let text = format!("[profiles.p]\nread_write = [\"{entry}\"]\n");
    let world = World::with(GLOBAL, &text);
    match wanted {
        Some(root) => assert_eq!(world.read().unwrap().profiles["p"].read_write, paths(&[root])),
        None => assert!(world.refused().contains(entry), "{}", world.refused()),
    }
}

#[test]
fn grok_2_8_deny_keeps_its_patterns() {
    assert_eq!(profile("deny = [\"/a/**\", \"b/*\"]").deny, ["/a/**", "b/*"]);
}

#[rstest]
#[case("*.{b,c}")]
#[case("a//*")]
#[case("[]a]")]
#[case("a**b/x")]
#[case("*/../b")]
fn a_wrong_glob_of_a_file_is_refused_with_its_line(#[case] glob: &str) {
    let text = format!("[profiles.p]\ndeny = [\"ok*\", \"{glob}\"]\n");
    let told = World::with(GLOBAL, &text).refused();
    assert!(told.contains("sandbox.toml:2:16: "), "{told}");
}

#[test]
fn grok_1_9_a_file_in_place_of_a_root_is_refused() {
    for key in ["read_only", "read_write"] {
        let text = format!("[profiles.never_chosen]\n{key} = [\"some\"]\n");
        let world = World::with(PROJECT, &text);
        assert!(world.read().is_ok(), "a missing root is none yet");
        fs::write(world.at("work/some"), "").unwrap();
        assert!(world.refused().contains("name the folder"), "{}", world.refused());
        fs::remove_file(world.at("work/some")).unwrap();
        fs::create_dir(world.at("work/some")).unwrap();
        assert!(world.read().is_ok());
    }
}

#[rstest]
#[case("workspace")]
#[case("devbox")]
#[case("readonly")]
#[case("none")]
#[case("off")]
#[case("")]
#[case("a ")]
#[case("a\\nb")]
fn grok_1_2_a_built_in_name_cannot_be_defined(#[case] name: &str) {
    let text = format!("[profiles.\"{name}\"]\nread_write = [\"/\"]\n");
    assert!(World::with(GLOBAL, &text).refused().contains("sandbox.toml:1:11: "));
    // The same in other letters is another name.
    assert!(World::with(GLOBAL, "[profiles.Workspace]\n").read().is_ok());
}

#[test]
fn limits_stand_in_the_global_file_only() {
    let limits = "[limits]\ndepth = 5\nmatches = 10000\n";
    let config = World::with(GLOBAL, limits).read().unwrap();
    let wanted = GlobLimits { depth: Some(5), matches: Some(10_000), entries: None };
    assert_eq!(config.limits, wanted);
    let told = World::with(PROJECT, limits).refused();
    assert!(told.contains(".grok/sandbox.toml:1:1: ") && told.contains("GROK_HOME"), "{told}");
}

#[test]
fn what_is_no_requirement_is_refused_and_other_tables_are_not_ours() {
    for text in [
        "profile = \"strict\"\n",
        "[sand]\nprofile = \"strict\"\n",
        "[Sandbox]\nprofile = \"strict\"\n",
        "[sandboxes]\n",
        "[shell_env_policy]\nexclude = []\n",
    ] {
        let told = World::with("grok/requirements.toml", text).refused();
        assert!(told.contains("requirements.toml:1:"), "{text}: {told}");
        assert!(World::with("grok/config.toml", text).read().is_ok(), "{text}");
    }
    assert!(World::with("grok/requirements.toml", "x = 1\n[models]\ny = 1\n").read().is_ok());
}

#[test]
fn grok_2_9_names_of_config_and_requirements() {
    let text = "[sandbox]\nprofile = \"strict\"\n[other]\nx = 1\n[ui]\ny = 1\n";
    let world = World::with("grok/config.toml", text).and("grok/requirements.toml", "[sandbox]\n");
    let config = world.read().unwrap();
    assert_eq!(config.settings.profile.unwrap().name, "strict");
    assert!(config.required.profile.is_none());
    let empty = "[sandbox]\nprofile = \"\"\n";
    assert!(World::with("grok/config.toml", empty).read().is_ok());
    let told = World::with("grok/requirements.toml", empty).refused();
    assert!(told.contains("requirements.toml:2:11: "), "{told}");
}

#[rstest]
#[case("[sandbox]\nprofil = \"strict\"\n", "did you mean `profile`?")]
#[case("[sandbox]\nprofile = 1\n", "invalid type")]
#[case("sandbox = \"strict\"\n", "invalid type")]
#[case("[shell_environment_policy]\nexclud = []\n", "did you mean `exclude`?")]
#[case("[shell_environment_policy]\nexclude = \"X\"\n", "invalid type")]
#[case("[shell_environment_policy]\ninherit = \"cor\"\n", "did you mean `core`?")]
#[case("[shell_environment_policy.set]\n\"A=B\" = \"c\"\n", "cannot be a variable")]
#[case("[shell_environment_policy.set]\nA = 1\n", "invalid type")]
#[case("[sandbox]\nprofile = strict\n", "")]
fn grok_9_1_both_tables_are_read_strictly(#[case] text: &str, #[case] said: &str) {
    for file in ["grok/config.toml", "grok/requirements.toml"] {
        let told = World::with(file, text).refused();
        assert!(told.contains(file) && told.contains(said), "{told}");
    }
}

#[test]
fn grok_2_10_auto_allow_bash_is_known_and_changes_nothing() {
    let text = "[sandbox]\nauto_allow_bash = true\n";
    assert!(World::with("grok/config.toml", text).read().unwrap().settings.profile.is_none());
    let wrong = "[sandbox]\nauto_allow_bash = \"true\"\n";
    assert!(World::with("grok/config.toml", wrong).refused().contains("invalid type"));
}

#[test]
fn grok_9_1_the_table_of_the_environment() {
    let text = "[shell_environment_policy]\ninherit = \"core\"\nignore_default_excludes = false\n\
                exclude = [\"A*\"]\ninclude_only = [\"B\"]\nset = { C = \"d\" }\n";
    let read = |text: &str| {
        World::with("grok/config.toml", text).read().unwrap().settings.environment.unwrap()
    };
    let policy = read(text);
    assert_eq!(
        serde_json::to_value(&policy).unwrap(),
        serde_json::json!({
            "inherit": "core", "ignore-default-excludes": false, "exclude": ["A*"],
            "include-only": ["B"], "set": {"C": "d"},
        })
    );
    assert_eq!(read("[shell_environment_policy]\n"), Default::default());
}

#[test]
fn a_misspelled_table_is_told() {
    let (file, text) = ("grok/config.toml", "[sanbox]\nprofile = \"strict\"\n[models]\n");
    let warnings = World::with(file, text).read().unwrap().warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains(file) && warnings[0].contains("`[sandbox]`"), "{warnings:?}");
}
