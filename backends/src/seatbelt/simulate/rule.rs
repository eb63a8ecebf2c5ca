//! [`Rule`]: one rule of a profile, read strictly.

use std::fmt;
use std::path::{Path, PathBuf};

use ::regex::Regex;

use super::operation::Operation;
use super::sexpr::Form;
use super::{About, Relation, Unknown, regex};

/// `(allow|deny OPERATION... FILTER...)`.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) allows: bool,
    line: usize,
    operations: Vec<Operation>,
    /// One of them must match; none at all matches everything.
    filters: Vec<Filter>,
    /// The filters as they are printed, for answers.
    shown: String,
}

/// What a rule is about.
#[derive(Clone, Debug)]
enum Filter {
    Literal(PathBuf),
    Below(PathBuf),
    Regex(Box<Regex>),
    Socket(Box<Filter>),
    Domain(String),
    Service(String),
    Target(Relation),
    All(Vec<Filter>),
    /// One that is never held here.
    Extension,
}

impl Rule {
    pub(super) fn read(form: &Form) -> Result<Self, Unknown> {
        let Form::List(line, items) = form else {
            return Err(Unknown { line: 0, what: "no list".to_owned() });
        };
        let unknown = |what: String| Unknown { line: *line, what };
        let allows = match items.first() {
            Some(Form::Word(word)) if word == "allow" => true,
            Some(Form::Word(word)) if word == "deny" => false,
            other => return Err(unknown(format!("{other:?} is neither allow nor deny"))),
        };
        let mut operations = Vec::new();
        let mut filters = Vec::new();
        for item in &items[1..] {
            match item {
                Form::Word(word) if filters.is_empty() => operations.push(
                    Operation::named(word).ok_or_else(|| unknown(format!("operation {word}")))?,
                ),
                list @ Form::List(..) => filters.push(filter(list).map_err(unknown)?),
                other @ (Form::Word(_) | Form::Text(_) | Form::Raw(_)) => {
                    return Err(unknown(format!("{other:?} in a rule")));
                }
            }
        }
        if operations.is_empty() {
            return Err(unknown("a rule about no operation".to_owned()));
        }
        let shown = items[1..].iter().filter(|item| matches!(item, Form::List(..))).map(show);
        let shown = shown.collect::<Vec<_>>().join(" ");
        Ok(Self { allows, line: *line, operations, filters, shown })
    }

    /// True for `(allow default)` and `(deny default)`.
    pub(super) fn is_default(&self) -> bool {
        self.filters.is_empty() && self.operations.iter().all(|one| one.name() == "default")
    }

    /// True when it names this operation itself.
    pub(super) fn names(&self, operation: Operation) -> bool {
        self.operations.contains(&operation)
    }

    /// True when it is about this.
    pub(super) fn covers(&self, about: About<'_>) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| filter.matches(about))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = if self.allows { "allow" } else { "deny" };
        write!(f, "line {} ({action} {} {})", self.line, self.operations[0], self.shown)
    }
}

impl Filter {
    fn matches(&self, about: About<'_>) -> bool {
        match (self, about) {
            (Filter::Literal(own), About::Path(path)) => own == path,
            (Filter::Below(own), About::Path(path)) => path.starts_with(own),
            (Filter::Regex(regex), About::Path(path)) => regex.is_match(&path.to_string_lossy()),
            (Filter::Socket(own), About::Socket(path)) => own.matches(About::Path(path)),
            (Filter::Domain(own), About::Domain(domain)) => own == domain,
            (Filter::Service(own), About::Service(name)) => own == name,
            (Filter::Target(own), About::Process(other)) => match own {
                Relation::Itself => other == Relation::Itself,
                Relation::Fellow => other != Relation::Stranger,
                Relation::Stranger => false,
            },
            (Filter::All(filters), about) => filters.iter().all(|filter| filter.matches(about)),
            (
                Filter::Literal(_)
                | Filter::Below(_)
                | Filter::Regex(_)
                | Filter::Socket(_)
                | Filter::Domain(_)
                | Filter::Service(_)
                | Filter::Target(_)
                | Filter::Extension,
                _,
            ) => false,
        }
    }
}

/// A filter, or what is not known about it.
fn filter(form: &Form) -> Result<Filter, String> {
    let unknown = || format!("the filter {}", show(form));
    let Form::List(_, items) = form else { return Err(unknown()) };
    let Some(Form::Word(head)) = items.first() else { return Err(unknown()) };
    Ok(match (head.as_str(), &items[1..]) {
        ("literal", [Form::Text(path)]) => Filter::Literal(absolute(path)?),
        ("subpath", [Form::Text(path)]) => Filter::Below(absolute(path)?),
        ("regex", [Form::Raw(text)]) => Filter::Regex(Box::new(regex::read(text)?)),
        ("global-name", [Form::Text(name)]) => Filter::Service(name.clone()),
        ("extension", [Form::Text(_)]) => Filter::Extension,
        ("target", [Form::Word(word)]) if word == "self" => Filter::Target(Relation::Itself),
        ("target", [Form::Word(word)]) if word == "same-sandbox" => {
            Filter::Target(Relation::Fellow)
        }
        ("socket-domain", [Form::Word(word)]) => Filter::Domain(word.clone()),
        ("local" | "remote", [Form::Word(word), inner]) if word == "unix-socket" => {
            Filter::Socket(Box::new(filter(inner)?))
        }
        ("require-all", inner) if !inner.is_empty() => {
            Filter::All(inner.iter().map(filter).collect::<Result<_, _>>()?)
        }
        _ => return Err(unknown()),
    })
}

/// A path that the kernel could ever see.
fn absolute(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    let odd = |part: &str| matches!(part, "." | "..");
    let whole = text == "/" || (!text.ends_with('/') && !text.contains("//"));
    if path.is_absolute() && whole && !text.split('/').any(odd) {
        return Ok(path.to_path_buf());
    }
    Err(format!("the path {text:?}, which is no resolved one"))
}

fn show(form: &Form) -> String {
    match form {
        Form::List(_, items) => {
            format!("({})", items.iter().map(show).collect::<Vec<_>>().join(" "))
        }
        Form::Word(word) => word.clone(),
        Form::Text(text) => format!("{text:?}"),
        Form::Raw(text) => format!("#\"{text}\""),
    }
}
