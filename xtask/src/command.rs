//! Starts programs and speaks to the person at the terminal.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why a chore did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    /// A program that spoke for itself ended with this code; nothing is printed after it, so that a
    /// test runner's summary stays the last line.
    #[error("exit {0}")]
    Exit(u8),
    /// The chore is not known.
    #[error("{0}")]
    Usage(&'static str),
    /// A program could not be started.
    #[error("`{program}` did not start: {error}; {instead}")]
    Start { program: String, error: std::io::Error, instead: &'static str },
    /// A program's answer could not be read.
    #[error("the answer of `{program}` makes no sense: {why}")]
    Answer { program: &'static str, why: String },
    /// A file could not be read or written.
    #[error("`{}`: {error}", path.display())]
    File { path: PathBuf, error: std::io::Error },
    /// A file does not say what it should.
    #[error("`{}`: {why}", path.display())]
    Content { path: PathBuf, why: String },
    /// Checks that did not hold; each was printed.
    #[error("{0} check(s) failed; each line above says what to do")]
    Checks(usize),
    /// Something that this machine lacks.
    #[error("{0}")]
    Missing(String),
}

/// Prints one line for people, on standard error: standard output belongs to what the chore runs.
pub(crate) fn say(line: &str) {
    // Nobody is left to tell when standard error is gone.
    drop(writeln!(std::io::stderr().lock(), "{line}"));
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// A cargo of the same toolchain, started at the root.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// Runs a command to its end with the terminal's own output.
pub(crate) fn run(command: &mut Command) -> Result<(), Failed> {
    let status = command.stdin(Stdio::null()).status().map_err(|error| not_started(command, error))?;
    if status.success() {
        return Ok(());
    }
    Err(Failed::Exit(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// Runs a command to its end and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String, Failed> {
    let done = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let done = done.map_err(|error| not_started(command, error))?;
    if !done.status.success() {
        return Err(Failed::Exit(1));
    }
    String::from_utf8(done.stdout).map_err(|error| Failed::Answer { program: "cargo", why: error.to_string() })
}

/// Whether a program answers at all.
pub(crate) fn answers(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Reads a text file of the repository.
pub(crate) fn read(path: &Path) -> Result<String, Failed> {
    std::fs::read_to_string(path).map_err(|error| Failed::File { path: path.to_owned(), error })
}

fn not_started(command: &Command, error: std::io::Error) -> Failed {
    let program = command.get_program().to_string_lossy().into_owned();
    Failed::Start { program, error, instead: "install it or put it on PATH" }
}
