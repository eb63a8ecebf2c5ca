//! Whether a product is there, which version it is, and whether it can be started: by doing.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use sandproof_scenarios::{Platform, Rooms};

use super::ManifestBackend;
use super::scratch::Scratch;
use crate::{NotReady, Subject, identify};

/// No product may take longer to say its version or to start once.
const PATIENCE: Duration = Duration::from_secs(30);

/// See [`crate::Backend::detect`].
pub(super) fn detect(backend: &ManifestBackend) -> Result<Subject, NotReady> {
    let manifest = &backend.manifest;
    if manifest.agent {
        return Err(NotReady {
            why: "driving agents is not built yet".to_owned(),
            mend: "choose a backend with `drive: wrap`".to_owned(),
        });
    }
    let here = platform();
    if !manifest.platforms.iter().any(|platform| Some(*platform) == here) {
        let names: Vec<&str> = manifest.platforms.iter().map(|p| p.name()).collect();
        return Err(NotReady {
            why: format!("`{}` exists on {} only", manifest.name, names.join(" and ")),
            mend: "run it on such a machine".to_owned(),
        });
    }
    let program = installed(&manifest.command[0], &manifest.mend)?;
    let version = version(backend)?;
    let sha256 = hash(&program)?;
    ready(backend)?;
    Ok(Subject { name: manifest.name.clone(), version, sha256, helpers: helpers(backend) })
}

/// The platform this was built for.
fn platform() -> Option<Platform> {
    if cfg!(target_os = "linux") {
        Some(Platform::Linux)
    } else if cfg!(target_os = "macos") {
        Some(Platform::Macos)
    } else {
        None
    }
}

/// The real file of a program on `PATH`.
fn installed(program: &str, mend: &str) -> Result<PathBuf, NotReady> {
    identify::find(OsStr::new(program)).and_then(|path| path.canonicalize().ok()).ok_or_else(|| {
        NotReady { why: format!("`{program}` is not on PATH"), mend: mend.to_owned() }
    })
}

fn hash(program: &Path) -> Result<String, NotReady> {
    identify::sha256(program).map_err(|error| NotReady {
        why: format!("cannot read `{}`: {error}", program.display()),
        mend: "make it readable for this user".to_owned(),
    })
}

/// What the first group of the manifest's expression finds in what the product prints.
fn version(backend: &ManifestBackend) -> Result<String, NotReady> {
    let manifest = &backend.manifest;
    let output = run(&manifest.command, &elsewhere(backend), None)?;
    let found = [&output.stdout, &output.stderr].into_iter().find_map(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let captures = manifest.version.captures(&text)?;
        captures.get(1).map(|version| version.as_str().to_owned())
    });
    found.ok_or_else(|| NotReady {
        why: format!(
            "`{}` {}, and nothing in it matches `{}`",
            manifest.command.join(" "),
            said(&output),
            manifest.version.as_str()
        ),
        mend: manifest.mend.clone(),
    })
}

/// The product's environment, its paths pointing to where nothing is: asking for a version must
/// leave no trace in the configuration of whoever runs us.
fn elsewhere(backend: &ManifestBackend) -> Vec<(OsString, OsString)> {
    let rooms = Rooms::below("/nonexistent/sandproof".as_ref());
    backend.plain(&rooms).and_then(|values| backend.rendered_env(&values)).unwrap_or_default()
}

/// Runs the `ready` command in an arena of its own, with the files and the environment that a
/// real start would have.
fn ready(backend: &ManifestBackend) -> Result<(), NotReady> {
    let manifest = &backend.manifest;
    let Some(command) = &manifest.ready else { return Ok(()) };
    let cannot = |why: String| NotReady { why, mend: "make HOME writable".to_owned() };
    let scratch = Scratch::new(&manifest.name).map_err(|error| {
        cannot(format!("no place for the configuration of `{}`: {error}", manifest.name))
    })?;
    let put = |why: crate::Unsupported| cannot(why.to_string());
    let values = backend.plain(scratch.rooms()).map_err(put)?;
    let env = backend.rendered_env(&values).map_err(put)?;
    for (path, text) in backend.rendered_files(&values).map_err(put)? {
        scratch.write(&path, &text).map_err(|error| cannot(error.to_string()))?;
    }
    let output = run(command, &env, Some(&scratch.rooms().work))?;
    if output.status.success() {
        return Ok(());
    }
    Err(NotReady {
        why: format!("`{}` {}", command.join(" "), said(&output)),
        mend: "run that command by hand; where it speaks of namespaces or of a uid map, \
               `sysctl kernel.apparmor_restrict_unprivileged_userns=0` or more \
               `user.max_user_namespaces` may be what it needs"
            .to_owned(),
    })
}

/// Runs a command with nothing on its standard input, for at most [`PATIENCE`].
fn run(
    command: &[String],
    env: &[(OsString, OsString)],
    folder: Option<&Path>,
) -> Result<Output, NotReady> {
    let line = command.join(" ");
    let failed = |what: String| NotReady {
        why: format!("`{line}` {what}"),
        mend: "run it by hand to see more".to_owned(),
    };
    let mut expression = duct::cmd(&command[0], &command[1..]);
    for (name, value) in env {
        expression = expression.env(name, value);
    }
    expression = expression.dir(folder.unwrap_or(Path::new("/")));
    let expression = expression.stdin_null().stdout_capture().stderr_capture().unchecked();
    let handle = expression.start().map_err(|error| failed(format!("cannot start: {error}")))?;
    match handle.wait_timeout(PATIENCE) {
        Ok(Some(output)) => Ok(output.clone()),
        Ok(None) => {
            // What it leaves behind when killed is none of ours to wait for.
            let _ = handle.kill();
            Err(failed(format!("did not end within {} s", PATIENCE.as_secs())))
        }
        Err(error) => Err(failed(format!("failed: {error}"))),
    }
}

/// How a command ended and the last line it said.
fn said(output: &Output) -> String {
    let all = [output.stdout.as_slice(), &output.stderr].concat();
    let text = String::from_utf8_lossy(&all);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
    let last: String = last.trim().chars().take(200).collect();
    format!("ended with {} and said `{last}`", output.status)
}

/// Version and hash of each helper; `absent` when there is none.
fn helpers(backend: &ManifestBackend) -> std::collections::BTreeMap<String, String> {
    let env = elsewhere(backend);
    let helpers = backend.manifest.helpers.iter();
    helpers.map(|(name, command)| (name.clone(), helper(command, &env))).collect()
}

fn helper(command: &[String], env: &[(OsString, OsString)]) -> String {
    let Ok(program) = installed(&command[0], "") else { return "absent".to_owned() };
    let version = run(command, env, None)
        .ok()
        .and_then(|output| number(&String::from_utf8_lossy(&output.stdout)))
        .unwrap_or_else(|| "unknown".to_owned());
    let sha256 = identify::sha256(&program).unwrap_or_else(|_| "unreadable".to_owned());
    format!("{version} sha256:{sha256}")
}

/// The first word that looks like a version.
fn number(text: &str) -> Option<String> {
    let digit = |c: char| c.is_ascii_digit();
    text.split_whitespace()
        .map(|word| word.trim_start_matches('v').trim_end_matches([',', ';', ')']))
        .find(|word| word.starts_with(digit) && word.contains('.'))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_among_words() {
        assert_eq!(number("bubblewrap 0.8.0\n").as_deref(), Some("0.8.0"));
        assert_eq!(number("ripgrep 13.0.0 (rev x)\n-SIMD").as_deref(), Some("13.0.0"));
        assert_eq!(number("v20.1.2").as_deref(), Some("20.1.2"));
        assert_eq!(number("no number 7"), None);
    }

    #[test]
    fn a_command_that_fails_says_why() {
        let command = ["sh", "-c", "echo broken >&2; exit 3"].map(str::to_owned);
        let output = run(&command, &[], None).unwrap();
        assert!(said(&output).contains("exit status: 3"), "{}", said(&output));
        assert!(said(&output).contains("broken"));
        let missing = run(&["no-such-program-anywhere".to_owned()], &[], None).unwrap_err();
        assert!(missing.why.contains("cannot start"), "{}", missing.why);
    }
}
