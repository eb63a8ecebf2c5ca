//! Who chooses, who outranks whom, and what a session insists on.

use std::fs;
use std::os::unix::ffi::OsStringExt;

use clap::Parser;
use rstest::rstest;
use sandproof_scenarios::Profile;
use tempfile::TempDir;

use super::{Chooser, Chosen, Saved, choose};
use crate::confine::args::Args;
use crate::confine::config::Config;
use crate::confine::surroundings::Surroundings;

/// Everything that may name a profile.
#[derive(Default)]
struct Said {
    requirement: Option<&'static str>,
    options: &'static [&'static str],
    variable: Option<&'static str>,
    session: Option<(&'static str, Option<String>)>,
    config: Option<&'static str>,
    profiles: &'static str,
}

impl Said {
    fn chosen(&self) -> Result<Chosen, String> {
        let dir = TempDir::new().unwrap();
        for (file, name) in [("requirements", self.requirement), ("config", self.config)] {
            if let Some(name) = name {
                let text = format!("[sandbox]\nprofile = \"{name}\"\n");
                fs::write(dir.path().join(format!("{file}.toml")), text).unwrap();
            }
        }
        fs::write(dir.path().join("sandbox.toml"), self.profiles).unwrap();
        let around = Surroundings {
            grok_home: dir.path().to_path_buf(),
            sandbox: self.variable.filter(|name| !name.is_empty()).map(Into::into),
            ..Surroundings::default()
        };
        let line = ["confine"].iter().chain(self.options).chain(&["--", "true"]);
        let args = Args::try_parse_from(line).unwrap();
        let saved = self.session.as_ref().map(|(profile, sha256)| Saved {
            profile: (*profile).to_owned(),
            sha256: sha256.clone(),
        });
        let config = Config::read(&around).map_err(|refusal| refusal.to_string())?;
        choose(&args, &around, &config, saved.as_ref()).map_err(|refusal| refusal.to_string())
    }

    fn name(&self) -> String {
        self.chosen().unwrap().name
    }
}

#[test]
fn grok_2_9_who_outranks_whom() {
    let mut said = Said {
        requirement: Some("strict"),
        options: &["--sandbox", "workspace"],
        variable: Some("read-only"),
        config: Some("devbox"),
        ..Said::default()
    };
    let by = |said: &Said| said.chosen().map(|chosen| (chosen.name, chosen.by)).unwrap();
    assert_eq!(by(&said), ("strict".to_owned(), Chooser::Requirement));
    said.requirement = None;
    assert_eq!(by(&said), ("workspace".to_owned(), Chooser::CommandLine));
    said.options = &["--sandbox", ""];
    assert_eq!(by(&said), ("read-only".to_owned(), Chooser::Environment));
    said.variable = Some("");
    assert_eq!(by(&said), ("devbox".to_owned(), Chooser::Config));
    said.config = Some("");
    assert_eq!(by(&said), ("off".to_owned(), Chooser::Nobody));
    said.config = None;
    assert_eq!(by(&said), ("off".to_owned(), Chooser::Nobody));
}

#[test]
fn grok_2_9_a_choice_that_is_overruled_is_told() {
    let overruled = |options| {
        let said = Said { requirement: Some("read-only"), options, ..Said::default() };
        said.chosen().unwrap().notes
    };
    assert!(overruled(&["--sandbox", "off"])[0].contains("`off` is not used"));
    assert!(overruled(&["--sandbox", "readonly"]).is_empty());
    assert!(overruled(&[]).is_empty());
}

#[test]
fn a_requirement_is_not_loosened_by_options() {
    let refused = |requirement, options| {
        let profiles = "[profiles.quiet]\nrestrict_network = true\n";
        let said = Said { requirement: Some(requirement), options, profiles, ..Said::default() };
        said.chosen().is_err()
    };
    assert!(refused("strict", &["--network", "open"]));
    assert!(refused("quiet", &["--network", "open"]));
    assert!(!refused("workspace", &["--network", "open"]));
    assert!(!refused("strict", &["--network", "blocked"]));
}

#[rstest]
#[case("workspace", Profile::Workspace)]
#[case("devbox", Profile::Devbox)]
#[case("read-only", Profile::ReadOnly)]
#[case("readonly", Profile::ReadOnly)]
#[case("strict", Profile::Strict)]
#[case("off", Profile::Off)]
#[case("none", Profile::Off)]
#[case("workspace-write", Profile::WorkspaceWrite)]
fn grok_1_1_names_and_aliases(#[case] name: &'static str, #[case] wanted: Profile) {
    let said = Said { variable: Some(name), ..Said::default() };
    let chosen = said.chosen().unwrap();
    assert_eq!((chosen.custom.base, chosen.name.as_str()), (wanted, wanted.name()));
}

#[test]
fn grok_1_1_letters_count_as_written() {
    let mut said = Said { options: &["--sandbox", "Workspace"], ..Said::default() };
    let told = said.chosen().unwrap_err();
    assert!(told.contains("did you mean `workspace`?"), "{told}");
    said.profiles = "[profiles.Workspace]\nextends = \"strict\"\n";
    assert_eq!(said.chosen().unwrap().custom.base, Profile::Strict);
}

#[rstest]
#[case::option(Said { options: &["--sandbox", "mien"], ..Said::default() }, "--sandbox")]
#[case::variable(Said { variable: Some("mien"), ..Said::default() }, "GROK_SANDBOX")]
#[case::config(Said { config: Some("mien"), ..Said::default() }, "config.toml:2:11")]
#[case::requirement(Said { requirement: Some("mien"), ..Said::default() }, "requirements.toml:2:11")]
#[case::session(Said { session: Some(("mien", None)), ..Said::default() }, "the session")]
fn grok_2_3_a_profile_that_nobody_defined_is_refused(#[case] mut said: Said, #[case] place: &str) {
    said.profiles = "[profiles.mine]\n";
    let told = said.chosen().unwrap_err();
    assert!(told.contains(place) && told.contains("did you mean `mine`?"), "{told}");
}

#[test]
fn a_name_that_is_not_utf8_is_refused() {
    let around = Surroundings {
        sandbox: Some(std::ffi::OsString::from_vec(vec![0xff])),
        ..Surroundings::default()
    };
    let args = Args::try_parse_from(["confine", "--", "true"]).unwrap();
    let told = choose(&args, &around, &Config::default(), None).unwrap_err().to_string();
    assert!(told.contains("GROK_SANDBOX"), "{told}");
}

#[test]
fn grok_10_3_a_session_keeps_its_profile() {
    let mut said =
        Said { session: Some(("strict", None)), config: Some("devbox"), ..Said::default() };
    assert_eq!(said.name(), "strict");
    said.options = &["--sandbox", "workspace"];
    let told = said.chosen().unwrap_err();
    assert!(told.contains("`strict`") && told.contains("`workspace`"), "{told}");
    said.options = &["--sandbox", "strict"];
    assert_eq!(said.name(), "strict");
    said.options = &["--sandbox", ""];
    assert_eq!(said.name(), "strict");
    said.variable = Some("read-only");
    assert!(said.chosen().is_err());
}

#[rstest]
#[case("readonly", &["--sandbox", "read-only"], "read-only")]
#[case("read-only", &["--sandbox", "readonly"], "read-only")]
#[case("off", &["--sandbox", "none"], "off")]
#[case("none", &["--sandbox", "off"], "off")]
fn grok_10_3_aliases_are_equal(
    #[case] saved: &'static str,
    #[case] options: &'static [&'static str],
    #[case] wanted: &str,
) {
    let said = Said { session: Some((saved, None)), options, ..Said::default() };
    assert_eq!(said.name(), wanted);
}

#[test]
fn grok_10_4_a_requirement_outranks_the_session() {
    let said =
        Said { requirement: Some("strict"), session: Some(("workspace", None)), ..Said::default() };
    let chosen = said.chosen().unwrap();
    assert_eq!((chosen.name.as_str(), chosen.by), ("strict", Chooser::Requirement));
    assert!(chosen.notes[0].contains("`workspace`"), "{:?}", chosen.notes);
}

#[test]
fn grok_10_4_an_edited_profile_is_noticed() {
    let profiles = "[profiles.mine]\ndeny = [\"a\"]\n";
    let mut said = Said { options: &["--sandbox", "mine"], profiles, ..Said::default() };
    let then = said.chosen().unwrap().sha256();
    said.session = Some(("mine", Some(then.clone())));
    assert_eq!(said.name(), "mine");
    for edited in [
        "[profiles.mine]\n",
        "[profiles.mine]\ndeny = [\"b\"]\n",
        "[profiles.mine]\ndeny = [\"a\"]\nextends = \"devbox\"\n",
        "[profiles.mine]\ndeny = [\"a\"]\nread_write = [\"/srv\"]\n",
        "[profiles.mine]\ndeny = [\"a\"]\nread_only = [\"/srv\"]\n",
        "[profiles.mine]\ndeny = [\"a\"]\nrestrict_network = true\n",
    ] {
        said.profiles = edited;
        let told = said.chosen().unwrap_err();
        assert!(told.contains("`mine` is not what it was"), "{edited}: {told}");
        // A requirement for the same profile does not make the edit good.
        let required = Said { requirement: Some("mine"), profiles: edited, ..Said::default() };
        let session = Some(("mine", Some(then.clone())));
        assert!(Said { session, ..required }.chosen().is_err());
    }
    // Comments, order and words that mean the same are no edit.
    said.profiles = "# new\n[profiles.mine]\nextends = \"workspace\"\ndeny = ['a']\n\
                     restrict_network = false\n[profiles.other]\n";
    assert_eq!(said.name(), "mine");
    // Without a number nothing is known about what a custom profile was.
    said.session = Some(("mine", None));
    assert!(said.chosen().is_err());
}

#[test]
fn grok_10_4_a_saved_off_does_not_lift_what_is_configured() {
    let mut said = Said { session: Some(("off", None)), config: Some("strict"), ..Said::default() };
    let told = said.chosen().unwrap_err();
    assert!(told.contains("`strict`") && told.contains("--sandbox off"), "{told}");
    said.options = &["--sandbox", "off"];
    assert_eq!(said.name(), "off");
    said.options = &[];
    said.config = Some("none");
    assert_eq!(said.name(), "off");
}
