//! `tollgate halt` and `tollgate resume`.

use std::path::PathBuf;

use serde_json::json;
use tollgate::gate::Clock as _;
use tollgate::ledger::{Event, HALT_FLAG, HaltChange, HaltScope, Record, RunId, Scrubber, Store as _};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::home::Home;
use crate::printer::{Printer, Tone};
use crate::system::SystemClock;
use crate::verbs::secret;

/// Raises a halt. Anyone who can write the ledger may stop everything; no secret is asked for.
///
/// # Errors
/// [`Failure`] when the ledger cannot be written.
pub(crate) fn halt(run: Option<&str>, reason: Option<&str>, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let change = change(run, reason.unwrap_or("halted by the operator"), "raised")?;
    let flag = Flag::raise(home, &change.scope);
    let raised = home.ledger().and_then(|store| store.raise_halt(&change).map_err(|error| Failure::state(&error)));
    match raised {
        Ok(_state) => flag.lower_if_new(),
        Err(failure) => flag.stands(&failure, printer)?,
    }
    printer.line(&printer.paint(Tone::Bad, "halted: every call is denied until `tollgate resume`"));
    printer.json(&json!({ "halted": change.scope.key() }));
    Ok(Exit::Ok)
}

/// The flag file, which stops everything at once: while the ledger is waited for, and where it cannot be written, on a
/// full disk say.
enum Flag {
    /// It is there because of this halt.
    New(PathBuf),
    /// It was there before.
    Old(PathBuf),
    /// It is not there, and why.
    Missing(String),
}

impl Flag {
    fn raise(home: &Home, scope: &HaltScope) -> Self {
        if *scope != HaltScope::All {
            return Self::Missing("`tollgate halt` without `--run` stops everything all the same".to_owned());
        }
        let flag = home.state.join(HALT_FLAG);
        match std::fs::OpenOptions::new().create_new(true).write(true).open(&flag) {
            Ok(_file) => Self::New(flag),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Self::Old(flag),
            Err(error) => Self::Missing(format!("`{}` cannot be made either: {error}", flag.display())),
        }
    }

    /// The ledger tells who halted and why; that the file stays where it cannot be removed only halts twice.
    fn lower_if_new(&self) {
        if let Self::New(flag) = self {
            drop(std::fs::remove_file(flag));
        }
    }

    fn stands(&self, failure: &Failure, printer: Printer) -> Result<(), Failure> {
        match self {
            Self::New(flag) | Self::Old(flag) => {
                let why = &failure.message;
                printer.say(&format!("the ledger does not hold this halt ({why}); the file `{}` does", flag.display()));
                Ok(())
            }
            Self::Missing(why) => Err(Failure { message: format!("{}; {why}", failure.message), exit: failure.exit }),
        }
    }
}

/// Clears a halt, and removes the flag file. Needs the operator's secret.
///
/// # Errors
/// [`Failure`] when the secret is wrong or the ledger cannot be written.
pub(crate) fn resume(run: Option<&str>, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let change = change(run, "resumed by the operator", "cleared")?;
    secret::unlock(home, printer)?;
    let store = home.ledger()?;
    lower_flag(home)?;
    store.clear_halt(&change).map_err(|error| Failure::state(&error))?;
    printer.line(&printer.paint(Tone::Good, "resumed"));
    printer.json(&json!({ "resumed": change.scope.key() }));
    Ok(Exit::Ok)
}

fn lower_flag(home: &Home) -> Result<(), Failure> {
    let flag = home.state.join(HALT_FLAG);
    let gone = match flag.symlink_metadata() {
        Ok(is) if is.is_dir() => std::fs::remove_dir(&flag),
        Ok(_) => std::fs::remove_file(&flag),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    gone.map_err(|error| Failure::state(&format!("`{}` cannot be removed: {error}", flag.display())))
}

fn change(run: Option<&str>, reason: &str, what: &str) -> Result<HaltChange, Failure> {
    let scrub = Scrubber::formats_only();
    let parsed = run.map(RunId::parse).transpose().map_err(|error| Failure::usage(error.to_string()))?;
    let scope = parsed.clone().map_or(HaltScope::All, HaltScope::Run);
    let data = scrub.scrub_value(&json!({ "halt": what, "scope": scope.key(), "reason": reason, "by": "operator" }));
    let record = Record { ts: SystemClock.now_ms(), run: parsed.unwrap_or_else(RunId::none), event: Event::Halt, data };
    Ok(HaltChange { scope, reason: scrub.scrub_text(reason), by: scrub.scrub_text("operator"), record })
}
