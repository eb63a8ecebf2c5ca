//! The text that `sandproof new` begins a scenario with.

use crate::complaint::short;
use crate::names::is_kebab;

/// Every section filled with something that works, each with a hint.
const TEMPLATE: &str = include_str!("template.yaml");

/// A new scenario with this id, which loads and lints clean.
///
/// # Errors
/// An id that is not made of kebab-case words.
pub fn new_scenario(id: &str) -> Result<String, String> {
    if !id.split('/').all(is_kebab) {
        return Err(format!(
            "id `{}` is not made of kebab-case words between `/`, like fs/deny-survives-rename",
            short(id)
        ));
    }
    let up = "../".repeat(id.matches('/').count());
    let title = id.rsplit('/').next().unwrap_or(id).replace('-', " ");
    Ok(TEMPLATE.replace("{up}", &up).replace("{id}", id).replace("{title}", &title))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;

    #[test]
    fn a_new_scenario_loads_without_a_word() {
        for id in ["fs/deny-survives-rename", "a", "net/deep/er/x1"] {
            let text = new_scenario(id).unwrap();
            let checked = load::checked(&text, "new.yaml", Some(id));
            assert_eq!(checked.complaints, [], "{text}");
            let scenario = checked.scenario.unwrap();
            assert_eq!(scenario.id, id);
            assert!(!scenario.given.is_empty() && !scenario.still_works.is_empty());
            assert!(!text.contains('{') || !text.contains("{id}"));
        }
    }

    #[test]
    fn the_schema_is_found_from_the_folder() {
        assert!(new_scenario("a/b/c").unwrap().contains("$schema=../../scenario.schema.json"));
    }

    #[test]
    fn an_id_that_is_no_path_of_words_is_refused() {
        for id in ["", "A", "a b", "../x", "a//b", "/a", "a/", "a\nb", "a.yaml"] {
            let why = new_scenario(id).unwrap_err();
            assert!(why.contains("kebab-case"), "{why}");
        }
    }
}
