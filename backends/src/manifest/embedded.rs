//! The manifests that come with sandproof.

use sandproof_scenarios::complaint::Complaint;

use super::{ManifestBackend, parse_manifest};

/// File name and text of each.
const EMBEDDED: [(&str, &str); 2] = [
    ("manifests/bwrap.yaml", include_str!("../../manifests/bwrap.yaml")),
    ("manifests/codex.yaml", include_str!("../../manifests/codex.yaml")),
];

/// All of them.
///
/// # Errors
/// A mistake in one; a test sees to it that there is none.
pub fn embedded_manifests() -> Result<Vec<ManifestBackend>, Vec<Complaint>> {
    EMBEDDED.into_iter().map(|(name, text)| parse_manifest(text, name)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Backend;

    #[test]
    fn every_file_is_embedded_under_its_own_name() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| format!("manifests/{}", entry.unwrap().file_name().display()))
            .collect();
        files.sort();
        assert_eq!(files, EMBEDDED.map(|(name, _)| name));
        let backends = embedded_manifests()
            .unwrap_or_else(|complaints| panic!("{}", super::super::tests::shown(&complaints)));
        for (backend, (name, _)) in backends.iter().zip(EMBEDDED) {
            assert_eq!(format!("manifests/{}.yaml", backend.name()), name);
        }
    }
}
