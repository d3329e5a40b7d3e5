//! `tollgate halt` and `tollgate resume`.

use serde_json::json;
use tollgate::gate::Clock as _;
use tollgate::ledger::{Event, HaltChange, HaltScope, Record, RunId, Scrubber, Store as _};

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
    home.ledger()?.raise_halt(&change).map_err(|error| Failure::state(&error))?;
    printer.line(&printer.paint(Tone::Bad, "halted: every call is denied until `tollgate resume`"));
    printer.json(&json!({ "halted": change.scope.key() }));
    Ok(Exit::Ok)
}

/// Clears a halt, and removes the flag file. Needs the operator's secret.
///
/// # Errors
/// [`Failure`] when the secret is wrong or the ledger cannot be written.
pub(crate) fn resume(run: Option<&str>, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let change = change(run, "resumed by the operator", "cleared")?;
    secret::unlock(home, printer)?;
    let store = home.ledger()?;
    store.clear_halt(&change).map_err(|error| Failure::state(&error))?;
    let flag = home.state.join(tollgate::ledger::HALT_FLAG);
    match std::fs::remove_file(&flag) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Failure::state(&format!("`{}` cannot be removed: {error}", flag.display()))),
    }
    printer.line(&printer.paint(Tone::Good, "resumed"));
    printer.json(&json!({ "resumed": change.scope.key() }));
    Ok(Exit::Ok)
}

fn change(run: Option<&str>, reason: &str, what: &str) -> Result<HaltChange, Failure> {
    let scrub = Scrubber::formats_only();
    let parsed = run.map(RunId::parse).transpose().map_err(|error| Failure::usage(error.to_string()))?;
    let scope = parsed.clone().map_or(HaltScope::All, HaltScope::Run);
    let data = scrub.scrub_value(&json!({ "halt": what, "scope": scope.key(), "reason": reason, "by": "operator" }));
    let record = Record { ts: SystemClock.now_ms(), run: parsed.unwrap_or_else(RunId::none), event: Event::Halt, data };
    Ok(HaltChange { scope, reason: scrub.scrub_text(reason), by: scrub.scrub_text("operator"), record })
}
