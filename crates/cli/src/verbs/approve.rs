//! `tollgate approve` and `tollgate deny`: a human's answer from another process.

use serde_json::json;
use tollgate::gate::{Clock as _, approve_stored};
use tollgate::ledger::{Event, PendingId, PendingRow, PendingState, Record, Scrubber, Store};

use crate::doors::agent::whole_call;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::home::Home;
use crate::printer::{Printer, Tone, visible};
use crate::system::{SystemClock, SystemEntropy};
use crate::verbs::secret;

/// Lists what waits, or approves one call after showing it whole.
///
/// # Errors
/// [`Failure`] when the call is unknown or answered, or the secret is wrong.
pub(crate) fn approve(id: Option<&str>, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let store = home.ledger()?;
    let Some(id) = id else { return list(store.as_ref(), printer) };
    let row = waiting(store.as_ref(), id, Answer::Yes)?;
    show(&row, printer);
    let key = secret::unlock(home, printer)?;
    approve_stored(store.as_ref(), &key, &row, &SystemClock, &SystemEntropy)
        .map_err(|error| Failure::denied(error.to_string()))?;
    printer.line(&printer.paint(Tone::Good, "approved, once; the agent may send exactly this call again"));
    printer.json(&json!({ "approved": row.id.as_str() }));
    Ok(Exit::Ok)
}

/// Denies one call, also one that was approved and not yet sent again. Saying no needs no secret.
///
/// # Errors
/// [`Failure`] when the call is unknown or answered.
pub(crate) fn deny(id: &str, reason: Option<&str>, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let store = home.ledger()?;
    let row = waiting(store.as_ref(), id, Answer::No)?;
    let reason = Scrubber::formats_only().scrub_text(reason.unwrap_or("no reason given"));
    let data = Scrubber::formats_only()
        .scrub_value(&json!({ "answer": "denied", "pending": row.id.as_str(), "reason": reason.value() }));
    let record = Record { ts: SystemClock.now_ms(), run: row.run.clone(), event: Event::Approval, data };
    store.put_denial(&row.id, &reason, &record).map_err(|error| Failure::denied(error.to_string()))?;
    printer.line("denied");
    printer.json(&json!({ "denied": row.id.as_str() }));
    Ok(Exit::Ok)
}

/// What is about to be said; the last no wins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
}

fn waiting(store: &dyn Store, id: &str, answer: Answer) -> Result<PendingRow, Failure> {
    let unknown = || Failure::denied(format!("no call `{}` waits; list them with `tollgate approve`", visible(id)));
    let id = PendingId::parse(id).ok_or_else(unknown)?;
    match store.pending(&id, SystemClock.now_ms()).map_err(|error| Failure::state(&error))? {
        Some((row, PendingState::Open)) => Ok(row),
        Some((row, PendingState::Approved)) if answer == Answer::No => Ok(row),
        Some((_, PendingState::Approved | PendingState::Denied(_) | PendingState::Spent(_))) => {
            Err(Failure::denied(format!("`{id}` was answered before; the agent must ask again")))
        }
        Some((_, PendingState::Expired)) => {
            Err(Failure::denied(format!("`{id}` has expired; the agent must ask again")))
        }
        None => Err(unknown()),
    }
}

fn list(store: &dyn Store, printer: Printer) -> Result<Exit, Failure> {
    let rows = store.list_pending(SystemClock.now_ms()).map_err(|error| Failure::state(&error))?;
    if rows.is_empty() {
        printer.line("nothing waits for approval");
    }
    for row in &rows {
        show(row, printer);
        printer.json(&json!({ "id": row.id.as_str(), "run": row.run.as_str(), "call": row.rendered.value(), "expires": row.expires }));
    }
    Ok(Exit::Ok)
}

fn show(row: &PendingRow, printer: Printer) {
    printer.line(&format!("{} (run {})", printer.paint(Tone::Strong, row.id.as_str()), row.run));
    for line in whole_call(&row.rendered) {
        printer.line(&format!("    {line}"));
    }
}
