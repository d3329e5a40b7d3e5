//! What shells and `man` are told of the command line, made from its own description.

use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::Cli;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// Prints the completions of `shell`.
pub(crate) fn completions(shell: Shell, printer: Printer) -> Exit {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tollgate", &mut text);
    printer.data(&String::from_utf8_lossy(&text));
    Exit::Ok
}

/// Prints the page of the whole program, or writes `tollgate.1` and a page for each verb into `dir`.
///
/// # Errors
/// [`Failure`] when a page cannot be written.
pub(crate) fn pages(dir: Option<&Path>, printer: Printer) -> Result<Exit, Failure> {
    if let Some(dir) = dir {
        clap_mangen::generate_to(Cli::command(), dir)
            .map_err(|error| Failure::usage(format!("`{}`: {error}", dir.display())))?;
        printer.line(&format!("the pages are in {}", dir.display()));
    } else {
        let mut text = Vec::new();
        Man::new(Cli::command()).render(&mut text).map_err(|error| Failure::usage(error.to_string()))?;
        printer.data(&String::from_utf8_lossy(&text));
    }
    Ok(Exit::Ok)
}
