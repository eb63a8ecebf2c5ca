//! The templates of a manifest: closed variables, a few words about paths, and no guessing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};

use super::values::text;
use crate::Unsupported;

/// Every variable a template may use.
pub(super) const VARIABLES: [&str; 18] = [
    "work",
    "home",
    "outside",
    "temp",
    "arena",
    "config",
    "program",
    "profile",
    "read_all",
    "read",
    "write",
    "deny",
    "deny_globs",
    "deny_now",
    "protect",
    "network",
    "uid",
    "command",
];

/// Functions a template may call; a static look at a template cannot tell them from variables.
const FUNCTIONS: [&str; 4] = ["cannot", "range", "dict", "namespace"];

/// What `{{ command }}` is rendered to. No path or option can hold it, as it begins a line of
/// its own and control characters are refused elsewhere.
pub(super) const COMMAND: &str = "\u{1}command\u{1}";

/// All templates of one manifest, by name.
#[derive(Clone, Debug)]
pub(super) struct Templates(Arc<Environment<'static>>);

/// What is wrong with a template, whatever its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TemplateFault {
    /// A lower-case fragment.
    pub(super) message: String,
    /// The offending word; empty when there is none.
    pub(super) word: String,
    /// Its line in the template, from 1, when it is known.
    pub(super) line: Option<usize>,
}

impl TemplateFault {
    pub(super) fn new(message: &str, word: &str) -> Self {
        Self { message: message.to_owned(), word: word.to_owned(), line: None }
    }
}

/// Why rendering failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RenderError {
    /// The template called `cannot`.
    Cannot(Unsupported),
    /// The template is wrong.
    Wrong(TemplateFault),
}

impl Templates {
    /// Parses templates given by name; those with a fault are left out.
    pub(super) fn new(sources: Vec<(String, String)>) -> (Self, Vec<(String, TemplateFault)>) {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        // What is written is what is put, the last newline of a file included. Building fails
        // for new delimiters only.
        if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
            environment.set_syntax(syntax);
        }
        words(&mut environment);
        let mut faults = Vec::new();
        for (name, source) in sources {
            if let Err(error) = environment.add_template_owned(name.clone(), source) {
                faults.push((name, fault(&error)));
            } else {
                faults.extend(unknown(&environment, &name).map(|fault| (name, fault)));
            }
        }
        (Self(Arc::new(environment)), faults)
    }

    /// Renders one template.
    pub(super) fn render(&self, name: &str, values: &Value) -> Result<String, RenderError> {
        let template = self.0.get_template(name).map_err(|error| wrong(&error))?;
        template
            .render(values)
            .map_err(|error| cannot_of(&error).map_or_else(|| wrong(&error), RenderError::Cannot))
    }
}

/// The first variable that does not exist, in whatever branch it stands.
fn unknown(environment: &Environment<'_>, name: &str) -> Option<TemplateFault> {
    let template = environment.get_template(name).ok()?;
    let mut used: Vec<String> = template.undeclared_variables(false).into_iter().collect();
    used.sort();
    let word = used
        .into_iter()
        .find(|word| !VARIABLES.contains(&word.as_str()) && !FUNCTIONS.contains(&word.as_str()))?;
    let message = format!("`{word}` is no variable; there are {}", VARIABLES.join(" "));
    Some(TemplateFault::new(&message, &word))
}

/// The lines of a rendered command line, the command in its place.
///
/// # Errors
/// The command does not stand alone on a line, or is missing.
pub(super) fn arguments(
    rendered: &str,
    command: &[OsString],
) -> Result<Vec<OsString>, TemplateFault> {
    let misplaced = |message: &str| TemplateFault::new(message, "command");
    let (mut argv, mut placed) = (Vec::new(), 0);
    for line in rendered.split('\n').map(str::trim_start).filter(|line| !line.is_empty()) {
        if line == COMMAND {
            placed += 1;
            argv.extend_from_slice(command);
        } else if line.contains(COMMAND) {
            return Err(misplaced("`{{ command }}` must stand alone on its line"));
        } else {
            argv.push(line.into());
        }
    }
    match placed {
        1 if argv.ends_with(command) && argv.len() > command.len() => Ok(argv),
        1 => Err(misplaced("`{{ command }}` must come last, behind a program")),
        0 => Err(misplaced("`{{ command }}` is missing, nothing would run inside")),
        _ => Err(misplaced("`{{ command }}` stands there more than once")),
    }
}

/// What minijinja says.
fn fault(error: &Error) -> TemplateFault {
    let text = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    TemplateFault { line: error.line(), ..TemplateFault::new(&text, "") }
}

fn wrong(error: &Error) -> RenderError {
    RenderError::Wrong(fault(error))
}

/// The refusal that a template asked for, somewhere below this error.
fn cannot_of(error: &Error) -> Option<Unsupported> {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(one) = cause {
        if let Some(unsupported) = one.downcast_ref::<Unsupported>() {
            return Some(unsupported.clone());
        }
        cause = one.source();
    }
    None
}

/// Filters, tests and functions beyond minijinja's own. They look at the file system as it is at
/// launch.
fn words(environment: &mut Environment<'_>) {
    environment.add_function("cannot", |item: String, why: String| -> Result<Value, Error> {
        let refusal = Unsupported { item, why };
        Err(Error::new(ErrorKind::InvalidOperation, "cannot express").with_source(refusal))
    });
    environment.add_filter("ancestors", |path: String| {
        let mut above: Vec<&Path> = Path::new(&path).ancestors().skip(1).collect();
        above.reverse();
        strings(above)
    });
    environment.add_filter("outermost", |paths: Vec<String>| {
        let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
        strings(crate::paths::outermost(&paths))
    });
    environment.add_test("folder", |path: String| Path::new(&path).is_dir());
    environment.add_test("missing", |path: String| Path::new(&path).symlink_metadata().is_err());
    environment.add_test("above", |path: String, inner: String| {
        path != inner && Path::new(&inner).starts_with(path)
    });
    environment.add_test("below", |path: String, root: String| {
        path != root && Path::new(&path).starts_with(root)
    });
}

/// Paths as text; a link may have led to one that no template can pass.
fn strings<P: AsRef<Path>>(paths: Vec<P>) -> Result<Vec<String>, Error> {
    let refused =
        |refusal| Error::new(ErrorKind::InvalidOperation, "cannot express").with_source(refusal);
    paths.iter().map(|path| text(path.as_ref()).map_err(refused)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(source: &str) -> Result<String, RenderError> {
        let sources = vec![("t".to_owned(), source.to_owned())];
        let (templates, faults) = Templates::new(sources);
        if let Some((_, fault)) = faults.into_iter().next() {
            return Err(RenderError::Wrong(fault));
        }
        let values = minijinja::context! {
            work => "/a/work", deny => ["/a/work/x", "/a/work/x/y"], command => COMMAND,
            read_all => true,
        };
        templates.render("t", &values)
    }

    fn why(source: &str) -> String {
        match render(source) {
            Err(RenderError::Wrong(fault)) => fault.message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn unknown_variables_are_found_in_dead_branches() {
        assert!(why("{% if not read_all %}{{ wrok }}{% endif %}").starts_with("`wrok` is no"));
        assert!(why("{{ work.inner }}").contains("undefined"));
        assert!(why("{{ work | nothing }}").contains("nothing"));
        assert!(why("a\n{% if %}").contains("syntax error"));
        assert_eq!(render("{% for d in range(2) %}{{ d }}{% endfor %}").unwrap(), "01");
    }

    #[test]
    fn words_about_paths() {
        assert_eq!(render("{{ deny | outermost | join(' ') }}").unwrap(), "/a/work/x");
        assert_eq!(render("{{ deny[0] | ancestors | join(' ') }}").unwrap(), "/ /a /a/work");
        let below = "{{ deny[0] is below(work) }} {{ work is below(work) }}";
        assert_eq!(render(below).unwrap(), "True False");
        assert_eq!(render("{{ work is above(deny[0]) }}").unwrap(), "True");
        assert_eq!(render("{{ work is missing and '/' is folder }}").unwrap(), "True");
    }

    #[test]
    fn cannot_is_a_refusal() {
        let expected = Unsupported { item: "deny".to_owned(), why: "no way".to_owned() };
        let source = "{% if deny %}{{ cannot('deny', 'no way') }}{% endif %}";
        assert_eq!(render(source), Err(RenderError::Cannot(expected)));
    }

    #[test]
    fn lines_become_arguments() {
        let command = ["probe".into(), " odd\nword ".into()];
        let argv = arguments(&format!("  box\n\n --a=b c \n \n{COMMAND}\n"), &command).unwrap();
        let expected: [OsString; 4] =
            ["box".into(), "--a=b c ".into(), "probe".into(), " odd\nword ".into()];
        assert_eq!(argv, expected);
    }

    #[test]
    fn a_misplaced_command_is_refused() {
        let of = |rendered: &str| arguments(rendered, &["p".into()]).unwrap_err().message;
        assert!(of("box").contains("missing"));
        assert!(of(&format!("box\nsh -c {COMMAND}")).contains("alone"));
        assert!(of(&format!("box\n{COMMAND}\n--late")).contains("last"));
        assert!(of(COMMAND).contains("behind a program"));
        assert!(of(&format!("box\n{COMMAND}\n{COMMAND}")).contains("more than once"));
    }
}
