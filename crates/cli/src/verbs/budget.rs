//! `tollgate budget show`: what is used up, and of what.

use serde_json::{Value, json};
use tollgate::gate::{Clock as _, windows};
use tollgate::ledger::log::{self, Filter};
use tollgate::ledger::{BudgetRow, Event, RunId, Store};
use tollgate::policy::{Caps, Policy};

use super::log::when;
use crate::args::{BudgetVerb, Limits, Scope};
use crate::assembly;
use crate::configuration;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::home::Home;
use crate::printer::{Printer, Tone, visible};
use crate::system::SystemClock;

/// Runs the verb.
///
/// # Errors
/// [`Failure`] when the ledger or the configuration cannot be used.
pub(crate) fn run(what: &BudgetVerb, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let BudgetVerb::Show { run } = what;
    let store = home.ledger()?;
    let workspace = assembly::workspace(&Scope::default())?;
    let policy = configuration::load(home, &workspace, &Scope::default(), &Limits::default())?;
    for window in windows(SystemClock.now_ms()) {
        let caps = window.caps(&policy);
        let of = |counter: &str| match counter {
            "calls" => caps.tool_calls,
            "tokens" => caps.tokens,
            "microusd" => caps.cost_microusd,
            _ => None,
        };
        let name = format!("all runs, until {} UTC", when(window.ends_ms));
        show(store.as_ref(), &window.scope, &name, &of, printer)?;
    }
    if let Some(run) = wanted(run.as_deref(), home)? {
        let scope = format!("run:{run}");
        show(store.as_ref(), &scope, &format!("run {run}"), &|counter| cap(counter, &policy), printer)?;
    }
    Ok(Exit::Ok)
}

/// The run that is named, or the latest of the agent door.
fn wanted(run: Option<&str>, home: &Home) -> Result<Option<String>, Failure> {
    match run {
        Some(run) if run != "last" => RunId::parse(run)
            .map(|run| Some(run.as_str().to_owned()))
            .map_err(|error| Failure::usage(error.to_string())),
        Some(_) | None => {
            let dir = home.state_dir()?;
            let filter = Filter { event: Some(Event::RunStart), limit: 1, ..Filter::default() };
            let records = log::query(&dir, &filter).map_err(|error| Failure::state(&error))?;
            Ok(records.last().map(|record| record.run.as_str().to_owned()))
        }
    }
}

/// The cap as the configuration has it now; flags of a run are not known here.
fn cap(counter: &str, policy: &Policy) -> Option<u64> {
    let Caps { tool_calls, tokens, cost_microusd, per_tool, .. } = &policy.settings().caps;
    match counter {
        "calls" => Some(*tool_calls),
        "tokens" => *tokens,
        "microusd" => Some(*cost_microusd),
        _ => per_tool.get(counter.strip_prefix("calls:")?).copied(),
    }
}

fn show(
    store: &dyn Store,
    scope: &str,
    name: &str,
    cap: &dyn Fn(&str) -> Option<u64>,
    printer: Printer,
) -> Result<(), Failure> {
    let rows = store.budgets(scope).map_err(|error| Failure::state(&error))?;
    printer.line(&printer.paint(Tone::Strong, &visible(name)));
    if rows.is_empty() {
        printer.line("  nothing is used");
    }
    for row in &rows {
        let cap = cap(&row.counter);
        printer.line(&line(row, cap));
        printer.json(&counted(scope, row, cap));
    }
    Ok(())
}

fn line(BudgetRow { counter, reserved, settled }: &BudgetRow, cap: Option<u64>) -> String {
    let of = cap.map_or_else(|| "no cap".to_owned(), |cap| format!("of {cap}"));
    let open = if *reserved > 0 { format!(", {reserved} reserved") } else { String::new() };
    format!("  {:<24} {settled:>12} {of}{open}", visible(counter))
}

fn counted(scope: &str, row: &BudgetRow, cap: Option<u64>) -> Value {
    json!({ "scope": scope, "counter": row.counter, "used": row.settled, "reserved": row.reserved, "cap": cap })
}
