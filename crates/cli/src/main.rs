//! The doors of Tollgate.
#![forbid(unsafe_code)]

mod args;
mod assembly;
mod configuration;
mod demo;
mod doors;
mod exit;
mod exposure;
mod failure;
mod hands;
mod home;
mod model;
mod printer;
mod relay;
mod system;
mod verbs;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;

use crate::args::{Cli, Verb};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::home::Home;
use crate::printer::{Printer, Style};

fn main() -> ExitCode {
    // The box's helper is this very program; it must start before anything else does.
    if std::env::args_os().nth(1).is_some_and(|word| word == "__box") {
        return tollgate::act::sandbox::box_main();
    }
    // A file that may not grow is an error to be told, not a death without an answer.
    drop(signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default()));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return unparsed(&error),
    };
    let printer = Printer::new(if cli.common.json { Style::Json } else { Style::Text });
    match run(cli, printer) {
        Ok(exit) => exit.into(),
        Err(Failure { exit, message }) => {
            printer.json(&serde_json::json!({ "error": message, "exit": exit.code() }));
            printer.say(&format!("tollgate: {message}"));
            exit.into()
        }
    }
}

fn run(cli: Cli, printer: Printer) -> Result<Exit, Failure> {
    let Cli { common, verb } = cli;
    let home = || Home::of(&common);
    match verb {
        Verb::Run(args) => doors::agent::run(&args, &home()?, printer),
        Verb::Check(args) => verbs::check::run(&args, &home()?, printer),
        Verb::Explain(args) => verbs::check::explain(&args, &home()?, printer),
        // The hook answers whatever happens, so it finds its own way.
        Verb::Hook(args) => Ok(doors::hook::run(args, &common, printer)),
        Verb::Install(args) => verbs::install::install(&args, &home()?, printer),
        Verb::Uninstall(args) => verbs::install::uninstall(&args, &home()?, printer),
        Verb::Init(args) => verbs::init::run(&args, &home()?, printer),
        Verb::Approve { id } => verbs::approve::approve(id.as_deref(), &home()?, printer),
        Verb::Deny { id, reason } => verbs::approve::deny(&id, reason.as_deref(), &home()?, printer),
        Verb::Halt { run, reason } => verbs::halt::halt(run.as_deref(), reason.as_deref(), &home()?, printer),
        Verb::Resume { run } => verbs::halt::resume(run.as_deref(), &home()?, printer),
        Verb::Undo(args) => verbs::undo::run(&args, &home()?, printer),
        Verb::Log { what } => verbs::log::run(&what, &home()?, printer),
        Verb::Budget { what } => verbs::budget::run(&what, &home()?, printer),
        Verb::Policy { what } => verbs::policy::run(&what, &home()?, printer),
        Verb::Demo => demo::run(printer),
        Verb::Completions { shell } => Ok(verbs::manual::completions(shell, printer)),
        Verb::Man { dir } => verbs::manual::pages(dir.as_deref(), printer),
        Verb::Doctor => verbs::doctor::run(&home()?, printer),
    }
}

/// Help and version are answers; anything else is a usage error, which hosts read as "block".
fn unparsed(error: &clap::Error) -> ExitCode {
    drop(error.print());
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Ok.into() }
}
