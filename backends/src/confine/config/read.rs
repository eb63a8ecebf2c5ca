//! Reads one configuration file into a type, or says with place and line why not.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::complain::{Source, first_line};
use crate::confine::mutant::{self, Mutant};
use crate::confine::refusal::Refusal;

/// Nobody writes a longer one by hand.
const LONGEST: u64 = 1 << 20;

/// The text of a file that exists.
///
/// # Errors
/// It exists and cannot be read as text.
pub(super) fn text(path: &Path) -> Result<Option<String>, Refusal> {
    let refuse = |what: String| {
        Refusal::at(what, path, "make it a readable text file, or remove it; nothing was started")
    };
    // Without this flag the open of a named pipe waits for a writer.
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file = match opened {
        Ok(file) => file,
        // A dangling symlink is a file that somebody meant to be there.
        Err(error) if absent(path, error.kind()) => return Ok(None),
        Err(error) => return Err(refuse(format!("a configuration file cannot be read ({error})"))),
    };
    let unread =
        |error: std::io::Error| refuse(format!("a configuration file cannot be read ({error})"));
    if !file.metadata().map_err(unread)?.is_file() {
        return Err(refuse("a configuration file is no regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > LONGEST {
        return Err(refuse(format!("a configuration file is longer than {LONGEST} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let line = first_line(error.as_bytes(), error.utf8_error().valid_up_to());
        refuse(format!("a configuration file is not UTF-8 (line {line})"))
    })
}

/// One that has come since is no different: other starts hold the place of a missing file for as
/// long as they run.
fn absent(path: &Path, kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
        && !std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink())
}

/// The file as `T`, with its text for further complaints.
///
/// # Errors
/// It exists and is not one.
pub(super) fn strictly<T: DeserializeOwned>(path: &Path) -> Result<Option<(T, Source)>, Refusal> {
    let Some(text) = text(path)? else { return Ok(None) };
    let source = Source::new(path, text);
    match toml::from_str(source.text()) {
        Ok(read) => Ok(Some((read, source))),
        Err(_) if mutant::on(Mutant::ConfigMisreadIgnored) => Ok(None),
        Err(error) => Err(source.misread(&error)),
    }
}
