//! Asking for the operator's secret.

use std::io::IsTerminal as _;
use std::path::Path;

use tollgate::gate::OperatorKey;

use crate::failure::Failure;
use crate::home::{Home, read_small};
use crate::printer::Printer;

/// Unlocks the operator's key.
///
/// # Errors
/// [`Failure`] when no secret is set, nobody can be asked, or the answer is wrong.
pub(crate) fn unlock(home: &Home, printer: Printer) -> Result<OperatorKey, Failure> {
    let operator =
        home.operator()?.ok_or_else(|| Failure::denied("no operator's secret is set; set one with `tollgate init`"))?;
    let passphrase = ask("Operator's passphrase: ", printer)?;
    operator.unlock(&passphrase).map_err(|error| Failure::denied(error.to_string()))
}

/// Asks on the terminal without echo; otherwise reads one line of standard input.
///
/// # Errors
/// [`Failure`] when there is no answer.
pub(crate) fn ask(prompt: &str, printer: Printer) -> Result<String, Failure> {
    let stdin = std::io::stdin();
    let line = if stdin.is_terminal() {
        // Quiet first: whoever answers the moment the prompt is seen is neither shown nor flushed away.
        let line = without_echo(printer, || {
            printer.prompt(prompt);
            read_line(&mut stdin.lock())
        });
        printer.say("");
        line
    } else {
        read_line(&mut stdin.lock())
    };
    line.filter(|line| !line.is_empty()).ok_or_else(|| Failure::denied("no passphrase was given"))
}

/// Reads the passphrase from the first line of a file.
///
/// # Errors
/// [`Failure`] when it cannot be read or is empty.
pub(crate) fn from_file(path: &Path) -> Result<String, Failure> {
    let text = read_small(path).map_err(|error| Failure::usage(format!("`{}`: {error}", path.display())))?;
    let line = text.as_deref().and_then(|text| text.lines().next()).map(str::to_owned);
    line.ok_or_else(|| Failure::usage(format!("`{}` holds no passphrase", path.display())))
}

fn read_line(from: &mut dyn std::io::BufRead) -> Option<String> {
    let mut line = String::new();
    match from.read_line(&mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line.trim_end_matches(['\n', '\r']).to_owned()),
    }
}

/// Turns the terminal's echo off for the time of `read`. Where that fails, the line is read anyway.
fn without_echo<T>(printer: Printer, read: impl FnOnce() -> T) -> T {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let stdin = std::io::stdin();
    let Ok(before) = tcgetattr(&stdin) else { return read() };
    let mut quiet = before.clone();
    quiet.local_modes.remove(LocalModes::ECHO);
    // Without quiet the line is read all the same; echo is a nuisance, not a hole.
    let quieted = tcsetattr(&stdin, OptionalActions::Flush, &quiet).is_ok();
    let answer = read();
    if quieted && tcsetattr(&stdin, OptionalActions::Flush, &before).is_err() {
        printer.say("the terminal's echo could not be turned on again; `stty echo` does it");
    }
    answer
}
