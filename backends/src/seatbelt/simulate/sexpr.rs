//! Reads the text of a profile into lists, words and strings.

use std::iter::Peekable;
use std::str::Chars;

use super::Unknown;

/// A piece of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `( ... )`, and the line where it begins.
    List(usize, Vec<Form>),
    /// A word.
    Word(String),
    /// `"..."`, without its escapes.
    Text(String),
    /// `#"..."`, with them.
    Raw(String),
}

impl Form {
    /// True for a list of exactly these words.
    pub(super) fn is(&self, words: &[&str]) -> bool {
        let Form::List(_, items) = self else { return false };
        let word = |(item, word): (&Form, &&str)| *item == Form::Word((*word).to_owned());
        items.len() == words.len() && items.iter().zip(words).all(word)
    }
}

/// All lists of a text.
pub(super) fn read(text: &str) -> Result<Vec<Form>, Unknown> {
    let mut reader = Reader { chars: text.chars().peekable(), line: 1 };
    let mut forms = Vec::new();
    while reader.space() {
        match reader.form()? {
            list @ Form::List(..) => forms.push(list),
            other @ (Form::Word(_) | Form::Text(_) | Form::Raw(_)) => {
                return Err(reader.unknown(format!("{other:?} stands alone")));
            }
        }
    }
    Ok(forms)
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    line: usize,
}

impl Reader<'_> {
    fn unknown(&self, what: impl Into<String>) -> Unknown {
        Unknown { line: self.line, what: what.into() }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.chars.next();
        self.line += usize::from(c == Some('\n'));
        c
    }

    /// Skips white space; true when something follows.
    fn space(&mut self) -> bool {
        while self.chars.peek().is_some_and(|c| c.is_ascii_whitespace()) {
            self.next();
        }
        self.chars.peek().is_some()
    }

    fn form(&mut self) -> Result<Form, Unknown> {
        match self.next() {
            Some('(') => self.list(),
            Some('"') => self.text(),
            Some('#') if self.chars.peek() == Some(&'"') => {
                self.next();
                self.raw()
            }
            Some(c) if word(c) => {
                let mut text = String::from(c);
                while let Some(c) = self.chars.next_if(|c| word(*c)) {
                    text.push(c);
                }
                Ok(Form::Word(text))
            }
            Some(c) => Err(self.unknown(format!("{c:?} is not expected"))),
            None => Err(self.unknown("it ends too soon")),
        }
    }

    fn list(&mut self) -> Result<Form, Unknown> {
        let line = self.line;
        let mut items = Vec::new();
        while self.space() {
            if self.chars.next_if_eq(&')').is_some() {
                return Ok(Form::List(line, items));
            }
            items.push(self.form()?);
        }
        Err(Unknown { line, what: "a list without its end".to_owned() })
    }

    fn text(&mut self) -> Result<Form, Unknown> {
        let mut text = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(Form::Text(text)),
                Some('\\') => match self.next() {
                    Some(c @ ('"' | '\\')) => text.push(c),
                    Some(c) => return Err(self.unknown(format!("the escape \\{c}"))),
                    None => return Err(self.unknown("a text without its end")),
                },
                Some(c) if c.is_control() => return Err(self.unknown("a control character")),
                Some(c) => text.push(c),
                None => return Err(self.unknown("a text without its end")),
            }
        }
    }

    /// As it stands; a backslash keeps the quote after it from ending the text.
    fn raw(&mut self) -> Result<Form, Unknown> {
        let mut text = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(Form::Raw(text)),
                Some('\\') => {
                    text.push('\\');
                    text.extend(self.next());
                }
                Some(c) if c.is_control() => return Err(self.unknown("a control character")),
                Some(c) => text.push(c),
                None => return Err(self.unknown("a text without its end")),
            }
        }
    }
}

/// What a word is made of.
fn word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '*' | '_')
}
