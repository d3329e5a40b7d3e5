//! `tollgate policy check`: what is wrong with the configuration, before anything runs by it.

use serde_json::json;

use crate::args::{Limits, PolicyVerb, Scope};
use crate::assembly;
use crate::configuration;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::home::{Home, absolute};
use crate::printer::{Printer, Tone, visible_lines};

/// Runs the verb. What is wrong is an answer, with exit code 1.
///
/// # Errors
/// [`Failure`] when the file that was named is not there.
pub(crate) fn run(what: &PolicyVerb, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let PolicyVerb::Check { file } = what;
    let mut home = home.clone();
    if let Some(file) = file {
        home.config = absolute(file)?;
        if !home.config.is_file() {
            return Err(Failure::usage(format!("`{}` is not a file", home.config.display())));
        }
    }
    let workspace = assembly::workspace(&Scope::default())?;
    match configuration::load(&home, &workspace, &Scope::default(), &Limits::default()) {
        Ok(policy) => {
            let rules = policy.settings().rules.len();
            printer.line(&format!(
                "{}: {rules} rules, each of them can decide something",
                printer.paint(Tone::Good, "sound")
            ));
            printer.json(&json!({ "sound": true, "rules": rules, "wrong": null }));
            Ok(Exit::Ok)
        }
        Err(failure) => {
            printer.line(&visible_lines(&failure.message));
            printer.json(&json!({ "sound": false, "rules": null, "wrong": failure.message }));
            Ok(Exit::Denied)
        }
    }
}
