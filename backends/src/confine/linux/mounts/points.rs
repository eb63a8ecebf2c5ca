//! Mount points, as `mountinfo` lists them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The mount points of such a text.
pub(in crate::confine::linux) fn mount_points(mountinfo: &str) -> impl Iterator<Item = PathBuf> {
    mountinfo.lines().filter_map(|line| line.split(' ').nth(4)).map(unescape)
}

/// A path as mountinfo writes it, with octal escapes.
fn unescape(text: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let octal = tail.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if first == b'\\' => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            Some(_) | None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn names_of_mounts_are_unescaped() {
        assert_eq!(unescape(r"/a\040b\134c\012"), Path::new("/a b\\c\n"));
        assert_eq!(unescape(r"/plain\9"), Path::new(r"/plain\9"));
    }
}
