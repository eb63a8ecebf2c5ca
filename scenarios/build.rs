//! Embeds the catalogue: writes a table of (id, text) for every `*.yaml` in the area folders.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders of this crate that are no area of the catalogue.
const NO_AREA: [&str; 4] = ["src", "tests", "waivers", "target"];

fn main() -> io::Result<()> {
    let variable = |name| env::var(name).map_err(io::Error::other);
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let mut files = Vec::new();
    for area in sorted(&root)? {
        let name = area.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if area.is_dir() && !name.starts_with('.') && !NO_AREA.contains(&name.as_str()) {
            walk(&area, &mut files)?;
        }
    }
    // The whole crate folder: a new area must be noticed too.
    println!("cargo:rerun-if-changed=.");
    let mut table = String::from("&[\n");
    for file in files {
        let relative = file.strip_prefix(&root).map_err(io::Error::other)?.with_extension("");
        let id: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        let id = id.join("/");
        writeln!(table, "    ({id:?}, include_str!({:?})),", file.display().to_string())
            .map_err(io::Error::other)?;
    }
    table.push_str("]\n");
    fs::write(Path::new(&variable("OUT_DIR")?).join("catalogue.rs"), table)
}

fn walk(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for path in sorted(dir)? {
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|end| end == "yaml") {
            files.push(path);
        }
    }
    Ok(())
}

fn sorted(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries: Result<Vec<_>, _> = fs::read_dir(dir)?.map(|e| e.map(|e| e.path())).collect();
    let mut paths = entries?;
    paths.sort();
    Ok(paths)
}
