//! Text to [`Tree`]: limits, and everything of YAML that this project does not want.

use std::collections::BTreeMap;

use serde_saphyr::granit_parser::{
    self, ErrorKind, Event, Marker, ScalarStyle, ScanError, Span, StrInput, StructureStyle,
};

use super::node::is_null;
use super::spot::{in_brackets, in_quotes, last_line, open_quote, word_at};
use super::{Entry, Key, MAX_BYTES, MAX_DEPTH, MAX_NODES, Node, Tree, Value};
use crate::complaint::{Fault, Mark, short};

/// Reads one document.
///
/// # Errors
/// A mistake after which the rest cannot be read, together with those before it.
pub fn parse(text: &str) -> Result<Tree, Vec<Fault>> {
    check_text(text).map_err(|fault| vec![fault])?;
    let mut parser = Parser::new(text);
    match parser.document() {
        Ok(root) => Ok(Tree { root, faults: parser.faults }),
        Err(fault) => {
            parser.faults.push(fault);
            Err(parser.faults)
        }
    }
}

/// What can be refused without parsing.
fn check_text(text: &str) -> Result<(), Fault> {
    let start = Mark { line: 1, column: 1 };
    if text.len() > MAX_BYTES {
        let size = text.len().to_string();
        let message = format!("the file has {size} bytes; at most {MAX_BYTES} are read");
        return Err(Fault::new(start, message, size));
    }
    for (index, line) in text.lines().enumerate() {
        let bad = |c: char| c.is_control() && c != '\t';
        if let Some(column) = line.chars().position(bad) {
            let word = short(&line.chars().skip(column).take(1).collect::<String>());
            let at = Mark { line: index + 1, column: column + 1 };
            let message = format!("control character `{word}`; write it as an escape in quotes");
            return Err(Fault::new(at, message, word));
        }
    }
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Err(Fault::new(start, "the file is empty", ""));
    }
    Ok(())
}

/// What a document is made of.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Document,
    Scalar { text: String, plain: bool },
    List { flow: bool },
    ListEnd,
    Map { flow: bool },
    MapEnd,
    Alias,
    End,
}

/// The token of an event; none for what is not part of the document.
#[expect(clippy::wildcard_enum_match_arm, reason = "the crate may add events, all of them notes")]
fn token(event: Event<'_>) -> Option<Token> {
    Some(match event {
        Event::DocumentStart(..) => Token::Document,
        Event::Scalar(text, style, ..) => {
            Token::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain }
        }
        Event::SequenceStart(style, ..) => Token::List { flow: style == StructureStyle::Flow },
        Event::SequenceEnd => Token::ListEnd,
        Event::MappingStart(style, ..) => Token::Map { flow: style == StructureStyle::Flow },
        Event::MappingEnd => Token::MapEnd,
        Event::Alias(_) | Event::UnresolvedAlias(_) => Token::Alias,
        Event::StreamEnd => Token::End,
        _ => return None,
    })
}

/// The crate's parser, and what has been learnt so far.
struct Parser<'a> {
    text: &'a str,
    events: granit_parser::Parser<'a, StrInput<'a>>,
    faults: Vec<Fault>,
    nodes: usize,
    /// The last line that holds anything.
    end: Mark,
    /// Where the `[` and `{` stand that are not closed yet.
    brackets: Vec<Mark>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let options = granit_parser::options! {
            strict_indentation: true,
            disallow_directives: true,
            emit_unresolved_aliases: true,
            emit_anchor_events: true,
            emit_comments: false,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
        };
        let events = granit_parser::Parser::new_from_str_with_options(text, options);
        Self {
            text,
            events,
            faults: Vec::new(),
            nodes: 0,
            end: last_line(text),
            brackets: Vec::new(),
        }
    }

    /// The next token of the document; anchors and tags are complained about on the way.
    fn next(&mut self) -> Result<(Token, Span), Fault> {
        loop {
            let Some(next) = self.events.next() else {
                return Err(self.fault(self.end, "the file ends too early"));
            };
            let (event, span) = next.map_err(|error| self.syntax(&error))?;
            self.no_tag(&event, &span);
            if let Event::Anchor(_, name) = &event {
                self.no_alias(&span, format!("&{name}"));
            }
            if let Some(token) = token(event) {
                return Ok((token, span));
            }
        }
    }

    /// The only document of the stream.
    fn document(&mut self) -> Result<Node, Fault> {
        let mut root = None;
        loop {
            let (token, span) = self.next()?;
            match (token, root) {
                (Token::Document, None) => {
                    let (token, span) = self.next()?;
                    root = Some(self.node(token, &span, 0)?);
                }
                (Token::Document, Some(_)) => {
                    let message = "`---` begins a second document; one file holds one";
                    return Err(Fault::new(self.mark(&span.start), message, "---"));
                }
                (Token::End, Some(root)) if !root.is_null() => return Ok(root),
                (Token::End, _) => {
                    return Err(Fault::new(Mark { line: 1, column: 1 }, "the file is empty", ""));
                }
                (_, _) => return Err(self.fault(self.mark(&span.start), "this is out of order")),
            }
        }
    }

    /// The node that begins with this token.
    fn node(&mut self, token: Token, span: &Span, depth: usize) -> Result<Node, Fault> {
        let at = self.mark(&span.start);
        let id = self.nodes;
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!("more than {MAX_NODES} values in one file");
            return Err(self.fault(at, message));
        }
        let value = match token {
            Token::Scalar { text, plain } => Value::Scalar { text, plain },
            Token::List { flow } => {
                self.brackets.extend(flow.then_some(at));
                let items = self.sequence(at, depth + 1)?;
                self.brackets.truncate(self.brackets.len() - usize::from(flow));
                items
            }
            Token::Map { flow } => {
                self.brackets.extend(flow.then_some(at));
                let entries = self.map(at, depth + 1)?;
                self.brackets.truncate(self.brackets.len() - usize::from(flow));
                entries
            }
            Token::Alias => {
                let word = span.slice(self.text).unwrap_or("*").to_owned();
                self.no_alias(span, word);
                Value::Reported
            }
            Token::ListEnd | Token::MapEnd | Token::Document | Token::End => {
                return Err(self.fault(at, "a value is missing here"));
            }
        };
        Ok(Node { id, at, value })
    }

    fn sequence(&mut self, at: Mark, depth: usize) -> Result<Value, Fault> {
        self.not_too_deep(at, depth)?;
        let mut items = Vec::new();
        loop {
            let (token, span) = self.next()?;
            if token == Token::ListEnd {
                return Ok(Value::Sequence(items));
            }
            items.push(self.node(token, &span, depth)?);
        }
    }

    fn map(&mut self, at: Mark, depth: usize) -> Result<Value, Fault> {
        self.not_too_deep(at, depth)?;
        let mut entries: Vec<Entry> = Vec::new();
        let mut lines: BTreeMap<String, usize> = BTreeMap::new();
        loop {
            let (token, span) = self.next()?;
            if token == Token::MapEnd {
                return Ok(Value::Map(entries));
            }
            let key = self.key(token, &span)?;
            let (token, span) = self.next()?;
            let value = self.node(token, &span, depth)?;
            if let Some(line) = lines.get(&key.text) {
                let word = short(&key.text);
                let message =
                    format!("key `{word}` stands here a second time, first in line {line}");
                self.faults.push(Fault::new(key.at, message, word));
            } else if key.text == "<<" {
                let message = "merge keys (`<<`) are not read; write the keys out";
                self.faults.push(Fault::new(key.at, message, "<<"));
            } else {
                lines.insert(key.text.clone(), key.at.line);
                entries.push(Entry { key, value });
            }
        }
    }

    /// A key: a scalar that is not empty.
    fn key(&mut self, token: Token, span: &Span) -> Result<Key, Fault> {
        let at = self.mark(&span.start);
        match token {
            Token::Scalar { text, plain } if !(text.is_empty() || plain && is_null(&text)) => {
                Ok(Key { text, at })
            }
            Token::Scalar { .. } => Err(self.fault(at, "a key is missing before `:`")),
            Token::Alias => {
                let word = span.slice(self.text).unwrap_or("*").to_owned();
                Err(Fault::new(at, alias_message(&word), word))
            }
            Token::List { .. }
            | Token::ListEnd
            | Token::Map { .. }
            | Token::MapEnd
            | Token::Document
            | Token::End => Err(self.fault(at, "a key is plain text, not a list or map")),
        }
    }

    fn not_too_deep(&self, at: Mark, depth: usize) -> Result<(), Fault> {
        if depth > MAX_DEPTH { Err(self.fault(at, too_deep())) } else { Ok(()) }
    }

    fn no_alias(&mut self, span: &Span, word: String) {
        self.faults.push(Fault::new(self.mark(&span.start), alias_message(&word), word));
    }

    fn no_tag(&mut self, event: &Event<'a>, span: &Span) {
        if event.tag().is_none() {
            return;
        }
        let at = self.mark(&span.tag_start().unwrap_or(span.start));
        let word = word_at(self.text, at);
        let message = format!("`{word}`: tags are not read; leave it out");
        self.faults.push(Fault::new(at, message, word));
    }

    /// A place in the text; what lies behind its end is told at its last line.
    fn mark(&self, marker: &Marker) -> Mark {
        if marker.line() > self.end.line {
            return self.end;
        }
        Mark { line: marker.line().max(1), column: marker.col() + 1 }
    }

    /// A fault whose word is what stands there.
    fn fault(&self, at: Mark, message: impl Into<String>) -> Fault {
        let word = word_at(self.text, at);
        let message = message.into();
        let message =
            if word.is_empty() { message } else { format!("{message}, at `{}`", short(&word)) };
        Fault::new(at, message, word)
    }

    /// What the crate complains about, with a place that lies in the file. What was not closed is
    /// told where it was opened, not where that was noticed.
    fn syntax(&self, error: &ScanError) -> Fault {
        let at = self.mark(error.marker());
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            return self.fault(at, too_deep());
        }
        let unclosed = if in_quotes(error.kind()) {
            open_quote(self.text, error.marker())
        } else if in_brackets(error.kind()) {
            self.brackets.last().copied()
        } else {
            None
        };
        match unclosed {
            Some(open) => self.fault(open, "not YAML: this is not closed"),
            None => self.fault(at, format!("not YAML: {}", error.info())),
        }
    }
}

fn too_deep() -> String {
    format!("lists and maps are nested more than {MAX_DEPTH} deep")
}

fn alias_message(word: &str) -> String {
    format!("`{}`: anchors and aliases are not read; write the value out", short(word))
}
