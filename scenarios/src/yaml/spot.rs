//! Where a syntax error is best told, and which word stands there.

use serde_saphyr::granit_parser::{ErrorKind, Marker};

use crate::complaint::Mark;

/// A list or map between brackets that ended too early.
pub(super) fn in_brackets(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::InvalidIndentation
            | ErrorKind::UnclosedFlowCollection { .. }
            | ErrorKind::UnexpectedEof
            | ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
    )
}

/// A text between quotes that ended too early.
pub(super) fn in_quotes(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::InvalidQuotedScalarIndent
            | ErrorKind::UnclosedQuotedScalar
            | ErrorKind::DocumentIndicatorInQuotedScalar
    )
}

/// The last quote before a place that can have opened a text.
pub(super) fn open_quote(text: &str, before: &Marker) -> Option<Mark> {
    let lines = text.lines().enumerate().take(before.line());
    let mut found = None;
    for (index, line) in lines {
        let mut last = ' ';
        for (column, c) in line.chars().enumerate() {
            let reached = index + 1 == before.line() && column > before.col();
            if matches!(c, '"' | '\'') && (last.is_whitespace() || "[{,".contains(last)) && !reached
            {
                found = Some(Mark { line: index + 1, column: column + 1 });
            }
            last = c;
        }
    }
    found
}

/// The first place of the last line that holds anything.
pub(super) fn last_line(text: &str) -> Mark {
    let filled = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).last();
    filled.map_or(Mark { line: 1, column: 1 }, |(index, line)| {
        let indent = line.chars().take_while(|c| c.is_whitespace()).count();
        Mark { line: index + 1, column: indent + 1 }
    })
}

/// The word at a place; if none begins there, the last one before it on the line.
pub(super) fn word_at(text: &str, at: Mark) -> String {
    let line = text.lines().nth(at.line - 1).unwrap_or_default();
    let rest: String = line.chars().skip(at.column - 1).take(200).collect();
    let before: String = line.chars().take(at.column - 1).collect();
    let word = rest.split_whitespace().next().or_else(|| before.split_whitespace().last());
    word.unwrap_or_default().chars().take(40).collect()
}
