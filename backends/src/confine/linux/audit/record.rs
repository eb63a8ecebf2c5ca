//! [`Record`]: one line of the kernel's audit, taken apart.

/// A record: `audit(TIME:SERIAL): key=value key="value" ...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    /// Records of one event share it.
    pub(super) serial: &'a str,
    fields: &'a str,
}

impl<'a> Record<'a> {
    /// Takes a line apart.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let (serial, fields) = text.strip_prefix("audit(")?.split_once("): ")?;
        Some(Self { serial, fields })
    }

    /// The value of a field. The kernel writes text in quotes, and as hexadecimal digits when it
    /// holds a quote, a blank or anything odd.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        let value = self.raw(key)?;
        if let Some(quoted) = value.strip_prefix('"') {
            return Some(quoted.trim_end_matches('"').to_owned());
        }
        let bytes = hexadecimal(value).unwrap_or_else(|| value.as_bytes().to_vec());
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The value of a field that holds no text.
    pub(super) fn raw(&self, key: &str) -> Option<&'a str> {
        let fields = self.fields.split(' ').filter_map(|field| field.split_once('='));
        fields.into_iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    if text.is_empty() || !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? * 16 + digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_and_odd_text_is_read() {
        let text = r#"audit(1.2:3): domain=19 blockers=fs.read_file path="/a/b" dev="vda" ino=7"#;
        let record = Record::of(text).unwrap();
        assert_eq!(record.serial, "1.2:3");
        assert_eq!(record.raw("domain"), Some("19"));
        assert_eq!(record.text("path").as_deref(), Some("/a/b"));
        assert_eq!(record.text("nothing"), None);
        let odd = Record::of("audit(1.2:3): domain=1 path=2F61206222").unwrap();
        assert_eq!(odd.text("path").as_deref(), Some("/a b\""));
        assert_eq!(Record::of("no record"), None);
    }
}
