//! Every scenario of the catalogue loads, has nothing to be warned of, and its id is its path.

use std::path::Path;

use sandproof_scenarios::{Complaint, Level, catalogue, load};

#[test]
fn every_scenario_loads_without_a_word() {
    let mut told = String::new();
    for (id, text) in catalogue::embedded() {
        let checked = load::checked(text, &catalogue::origin(id), Some(id));
        // A file may be a little longer than forty lines; nothing else is to be told.
        let long = |c: &&Complaint| c.level == Level::Warning && c.message.contains("lines");
        for complaint in checked.complaints.iter().filter(|complaint| !long(complaint)) {
            told.push_str(&format!("{complaint}\n"));
        }
        if let Some(scenario) = checked.scenario {
            assert_eq!(scenario.id, id);
        } else {
            told.push_str(&format!("{id} did not load\n"));
        }
    }
    assert!(told.is_empty(), "\n{told}");
}

#[test]
fn everything_on_disk_is_embedded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut on_disk = Vec::new();
    for area in ["config", "day", "env", "fs", "kernel", "net", "process", "session", "start"] {
        let entries = std::fs::read_dir(root.join(area)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let ids: Vec<String> = names
            .filter_map(|name| name.strip_suffix(".yaml").map(|stem| format!("{area}/{stem}")))
            .collect();
        assert!(!ids.is_empty(), "area {area} is empty");
        on_disk.extend(ids);
    }
    on_disk.sort();
    let embedded: Vec<&str> = catalogue::embedded().into_iter().map(|(id, _)| id).collect();
    assert_eq!(embedded, on_disk);
}

#[test]
fn the_catalogue_loads_as_a_whole() {
    let scenarios = catalogue::load_embedded().unwrap();
    assert_eq!(scenarios.len(), catalogue::embedded().len());
    assert!(!scenarios.is_empty());
    assert!(scenarios.is_sorted_by(|a, b| a.id < b.id));
}
