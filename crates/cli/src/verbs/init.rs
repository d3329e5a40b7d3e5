//! `tollgate init`: the operator's secret, and a commented configuration file.

use serde_json::json;
use tollgate::gate::{MIN_PASSPHRASE, Operator};

use crate::args::Init;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::home::{Home, write_private};
use crate::printer::Printer;
use crate::system::SystemEntropy;
use crate::verbs::secret;

/// The file that `init` writes where there is none: every line is a comment, so it changes nothing.
const TEMPLATE: &str = include_str!("init.toml");

/// Runs the verb.
///
/// # Errors
/// [`Failure`] when a secret is set already, the passphrase is too short, or nothing can be written.
pub(crate) fn run(args: &Init, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    if let Some(current) = home.operator()? {
        if !args.replace {
            return Err(Failure::denied(
                "an operator's secret is set already; replace it with `tollgate init --replace`",
            ));
        }
        let old = secret::ask("Current passphrase: ", printer)?;
        current.unlock(&old).map_err(|error| Failure::denied(error.to_string()))?;
    }
    let passphrase = match &args.passphrase_file {
        Some(file) => secret::from_file(file)?,
        None => secret::ask(&format!("New operator's passphrase (at least {MIN_PASSPHRASE} characters): "), printer)?,
    };
    let operator = Operator::create(&passphrase, &SystemEntropy).map_err(|error| Failure::usage(error.to_string()))?;
    home.set_operator(&operator)?;
    let wrote_config = write_template(home)?;
    printer.line(&format!("The operator's secret is set. State: {}", home.state.display()));
    if wrote_config {
        printer.line(&format!("A commented configuration file is at {}", home.config.display()));
    }
    printer.line("Next: `tollgate run \"…\" --model …`, or `tollgate install claude-code`.");
    printer.json(&json!({ "state": home.state, "config": home.config, "config_written": wrote_config }));
    Ok(Exit::Ok)
}

fn write_template(home: &Home) -> Result<bool, Failure> {
    if home.config.exists() {
        return Ok(false);
    }
    if let Some(parent) = home.config.parent() {
        std::fs::create_dir_all(parent).map_err(|error| Failure::config(&error))?;
    }
    write_private(&home.config, TEMPLATE).map_err(|error| Failure::config(&error))?;
    Ok(true)
}
