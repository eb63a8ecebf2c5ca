//! The committed schema is the generated one. `SNAPSHOTS=overwrite` writes it anew.

use std::fs;
use std::path::Path;

#[test]
fn the_committed_schema_is_the_generated_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenario.schema.json");
    let generated = sandproof_scenarios::schema::scenario_schema_text();
    if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
        fs::write(&path, &generated).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap();
    assert!(
        committed == generated,
        "scenarios/scenario.schema.json is not what the types say; run this test with \
         SNAPSHOTS=overwrite and commit the file"
    );
}
