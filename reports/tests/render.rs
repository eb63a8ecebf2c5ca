//! One journal, every report of it: golden files under `tests/golden`.

use std::path::Path;

use sandproof_reports::{Format, Journal, Options, journal, render};

fn golden() -> Journal {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/journal.jsonl");
    journal::read(&path).unwrap()
}

fn shown(journal: &Journal, format: Format) -> String {
    render(journal, format, &Options::default()).unwrap()
}

#[test]
fn golden_reports() {
    let journal = golden();
    insta::with_settings!({ snapshot_path => "golden", prepend_module_to_snapshot => false,
                            omit_expression => true }, {
        for format in Format::ALL {
            insta::assert_snapshot!(format.name(), shown(&journal, format));
        }
    });
}
