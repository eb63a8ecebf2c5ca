//! A scenario's id is its path: who reads an id in a report finds the file.

use crate::files::Source;
use crate::finding::Finding;

/// Folders under `scenarios/` that hold no catalogue: code, and files made to be refused.
const APART: [&str; 2] = ["src/", "tests/"];

/// Every file of the catalogue says its own path, once.
pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let catalogue: Vec<(&Source, &str)> =
        sources.iter().filter_map(|source| expected(source).map(|id| (source, id))).collect();
    if catalogue.is_empty() {
        return vec![Finding::whole("scenarios", "holds no scenario")];
    }
    catalogue.into_iter().filter_map(|(source, id)| wrong(source, id)).collect()
}

/// The id that a file of the catalogue must have.
fn expected(source: &Source) -> Option<&str> {
    let path = source.path.strip_prefix("scenarios/")?;
    if APART.iter().any(|folder| path.starts_with(folder)) {
        return None;
    }
    path.strip_suffix(".yaml")
}

fn wrong(source: &Source, id: &str) -> Option<Finding> {
    let lines = source.text.lines().enumerate();
    let ids: Vec<(usize, &str)> =
        lines.filter_map(|(index, line)| line.strip_prefix("id:").map(|id| (index, id))).collect();
    match ids.as_slice() {
        [(_, said)] if said.trim() == id => None,
        [(index, said)] => {
            let what = format!("id is `{}`, and the path says `{id}`", said.trim());
            Some(Finding::at(&source.path, *index, what))
        }
        [] => Some(Finding::whole(&source.path, "has no id")),
        [_, (index, _), ..] => Some(Finding::at(&source.path, *index, "has a second id")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source { path: path.to_string(), text: text.to_string() })
            .collect();
        check(&sources).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn ids_equal_paths() {
        assert_eq!(found(&[("scenarios/fs/a.yaml", "schema: 1\nid: fs/a\n")]), [""; 0]);
        assert_eq!(
            found(&[("scenarios/fs/a.yaml", "schema: 1\nid: fs/b\n")]),
            ["scenarios/fs/a.yaml:2: id is `fs/b`, and the path says `fs/a`"]
        );
        assert_eq!(
            found(&[("scenarios/fs/a.yaml", "schema: 1\n")]),
            ["scenarios/fs/a.yaml: has no id"]
        );
        assert_eq!(
            found(&[("scenarios/fs/a.yaml", "id: fs/a\nid: fs/a\n")]),
            ["scenarios/fs/a.yaml:2: has a second id"]
        );
    }

    #[test]
    fn an_empty_catalogue_is_found() {
        let apart = [("scenarios/tests/bad/a.yaml", "id: x\n"), ("backends/b.yaml", "id: x\n")];
        assert_eq!(found(&apart), ["scenarios: holds no scenario"]);
    }
}
