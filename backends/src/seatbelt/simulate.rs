//! A small evaluator of the profiles that this crate writes, so that they can be tried without
//! macOS: text in, and for an operation on something the answer of the profile out.
//!
//! It reads the printed text, so that a mistake in printing shows, and knows exactly the forms
//! that are printed. Whatever else stands in a text is an error, never a guess. Two readings of a
//! profile are around, see [`super`]; each question is answered by both, and where they differ the
//! answer is [`Answer::Disputed`], which nobody may count on.
//!
//! Not simulated: the kernel. Which operations a system call asks for is written down in [`asks`]
//! from what is known of it; symlinks are followed here, before asking. Extensions are never held.
//! Code signing, the other sandboxes of macOS, and what programs do on request are out of sight.

pub mod asks;
pub mod operation;
mod regex;
mod rule;
mod sexpr;

use std::fmt;
use std::path::Path;

use operation::Operation;
use rule::Rule;

/// A profile that was read.
#[derive(Clone, Debug)]
pub struct Profile {
    rules: Vec<Rule>,
}

/// A text that the evaluator does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the profile: {what}")]
pub struct Unknown {
    /// Where.
    pub line: usize,
    /// What, a lower-case fragment.
    pub what: String,
}

/// What an operation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About<'a> {
    /// A path in the file system.
    Path(&'a Path),
    /// A unix socket with this path.
    Socket(&'a Path),
    /// An address of the internet.
    Internet,
    /// A socket of this domain is to be made.
    Domain(&'a str),
    /// A Mach service.
    Service(&'a str),
    /// A process: itself, one in the same sandbox, or another.
    Process(Relation),
    /// Nothing that a filter could tell apart.
    Nothing,
}

/// How a process stands to the one that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It is the same.
    Itself,
    /// It is in the same sandbox.
    Fellow,
    /// It is outside.
    Stranger,
}

/// What the profile says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// By both readings, and the rule that the first found.
    Allowed(String),
    /// By both readings, and the rule that the first found.
    Denied(String),
    /// The readings differ: the rule that each found.
    Disputed(String, String),
}

impl Profile {
    /// Reads the text of a profile.
    ///
    /// # Errors
    /// A form that this crate does not print.
    pub fn read(text: &str) -> Result<Self, Unknown> {
        let mut forms = sexpr::read(text)?.into_iter();
        match forms.next() {
            Some(form) if form.is(&["version", "1"]) => {}
            Some(_) | None => {
                return Err(Unknown { line: 1, what: "it does not begin with (version 1)".into() });
            }
        }
        let rules = forms.map(|form| Rule::read(&form)).collect::<Result<Vec<_>, _>>()?;
        match rules.first() {
            Some(rule) if rule.is_default() => Ok(Self { rules }),
            Some(_) | None => Err(Unknown { line: 2, what: "its first rule is no default".into() }),
        }
    }

    /// Asks whether an operation is allowed.
    #[must_use]
    pub fn ask(&self, operation: Operation, about: About<'_>) -> Answer {
        let (special, order) = (self.special(operation, about), self.order(operation, about));
        match (special.allows, order.allows) {
            (true, true) => Answer::Allowed(special.to_string()),
            (false, false) => Answer::Denied(special.to_string()),
            (true, false) | (false, true) => {
                Answer::Disputed(special.to_string(), order.to_string())
            }
        }
    }

    /// The kernel's reading: the operation, then its family, then the default; of each the last.
    fn special(&self, operation: Operation, about: About<'_>) -> &Rule {
        let last = |one: Operation| {
            self.rules.iter().rev().find(|rule| rule.names(one) && rule.covers(about))
        };
        operation.chain().into_iter().find_map(last).unwrap_or(&self.rules[0])
    }

    /// The documents' reading: of all, the last.
    fn order(&self, operation: Operation, about: About<'_>) -> &Rule {
        let chain = operation.chain();
        let hit = |rule: &&Rule| chain.iter().any(|one| rule.names(*one)) && rule.covers(about);
        self.rules.iter().rev().find(hit).unwrap_or(&self.rules[0])
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Allowed(rule) => write!(f, "allowed by {rule}"),
            Answer::Denied(rule) => write!(f, "denied by {rule}"),
            Answer::Disputed(one, other) => write!(f, "disputed between {one} and {other}"),
        }
    }
}

#[cfg(test)]
mod tests;
