//! Plain scalars as booleans and integers, strictly.

/// `true` or `false`; anything else is no boolean, and the message says what to write.
pub(super) fn boolean(text: &str, plain: bool) -> Result<bool, String> {
    match (text, plain) {
        ("true", true) => Ok(true),
        ("false", true) => Ok(false),
        _ => Err("is no boolean; write true or false, without quotes".to_owned()),
    }
}

/// Decimal or `0x` hexadecimal, perhaps with `-` before it.
pub(super) fn integer(text: &str, plain: bool) -> Result<i128, String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let hexadecimal = digits.strip_prefix("0x");
    let well_formed = match hexadecimal {
        Some(hex) => !hex.is_empty() && hex.chars().all(|c| c.is_ascii_hexdigit()),
        None => !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()),
    };
    if !plain || !well_formed {
        return Err("is no whole number; write digits, without quotes".to_owned());
    }
    if hexadecimal.is_none() && digits.len() > 1 && digits.starts_with('0') {
        return Err("begins with 0, which some read as octal; write it without".to_owned());
    }
    let value = match hexadecimal {
        Some(hex) => i128::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let value = value.map_err(|_| "is too large a number".to_owned())?;
    Ok(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_words_are_booleans() {
        assert_eq!(boolean("true", true), Ok(true));
        assert_eq!(boolean("false", true), Ok(false));
        for loose in ["yes", "no", "on", "off", "True", "TRUE", "y", "1", ""] {
            assert!(boolean(loose, true).is_err(), "{loose}");
        }
        assert!(boolean("true", false).is_err());
    }

    #[test]
    fn integers_are_decimal_or_hexadecimal() {
        assert_eq!(integer("0", true), Ok(0));
        assert_eq!(integer("-12", true), Ok(-12));
        assert_eq!(integer("0x541B", true), Ok(0x541b));
        for wrong in ["0600", "0o600", "1_000", "1.0", "1e3", "+1", "--1", "-", "0x", "0x-1", ""] {
            assert!(integer(wrong, true).is_err(), "{wrong}");
        }
        assert!(integer("1", false).is_err());
        assert!(integer(&"9".repeat(60), true).is_err());
    }
}
