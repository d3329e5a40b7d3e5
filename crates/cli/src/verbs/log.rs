//! `tollgate log`: reading and verifying the audit record.

use std::path::Path;

use serde_json::json;
use tollgate::gate::Clock as _;
use tollgate::ledger::log::{self, Filter, Report};
use tollgate::ledger::{Event, RunId, StateDir};

use crate::args::LogVerb;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::home::Home;
use crate::printer::{Printer, Tone, visible};
use crate::system::SystemClock;

/// Runs the verb.
///
/// # Errors
/// [`Failure`] when there is no log or it cannot be read.
pub(crate) fn run(what: &LogVerb, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    match what {
        LogVerb::Rebuild => rebuild(home, printer),
        LogVerb::Verify { file } => verify(file.as_deref(), home, printer),
        LogVerb::Show { run, event, last } => show(run.as_deref(), event.as_deref(), *last, home, printer),
    }
}

fn open(home: &Home) -> Result<StateDir, Failure> {
    StateDir::open(&home.state).map_err(|error| Failure::state(&error))
}

fn verify(file: Option<&Path>, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let report = match file {
        Some(file) => log::verify_file(file, None),
        None => log::verify(&open(home)?),
    };
    let report = report.map_err(|error| Failure::state(&error))?;
    for line in told(&report, printer) {
        printer.line(&line);
    }
    printer.json(&json!({
        "sound": report.is_sound(),
        "records": report.records,
        "head": report.head.as_ref().map(|head| head.hash.to_string()),
        "torn_tail": report.torn_tail.as_ref().map(ToString::to_string),
        "first_bad": report.first_bad.as_ref().map(ToString::to_string),
        "disagreement": report.disagreement.as_ref().map(ToString::to_string),
    }));
    Ok(if report.is_sound() { Exit::Ok } else { Exit::Denied })
}

fn rebuild(home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let aside = home.ledger()?.rebuild_mirror(SystemClock.now_ms()).map_err(|error| Failure::state(&error))?;
    printer.line(&format!("the file is written anew; the old one is `{}`", aside.display()));
    printer.json(&json!({ "aside": aside.display().to_string() }));
    Ok(Exit::Ok)
}

/// The report in lines.
pub(crate) fn told(report: &Report, printer: Printer) -> Vec<String> {
    let head = report.head.as_ref().map_or_else(|| "none".to_owned(), |head| head.hash.to_string());
    let verdict =
        if report.is_sound() { printer.paint(Tone::Good, "sound") } else { printer.paint(Tone::Bad, "BROKEN") };
    let mut lines = vec![format!("{verdict}: {} records hold, head {head}", report.records)];
    lines.extend(report.torn_tail.as_ref().map(|torn| format!("torn tail: {torn}")));
    lines.extend(report.first_bad.as_ref().map(|bad| format!("first bad record: {bad}")));
    if let Some(differs) = &report.disagreement {
        lines.push(format!("the JSON Lines file differs: {differs}; `tollgate log rebuild` writes it anew"));
    }
    lines
}

fn show(run: Option<&str>, event: Option<&str>, last: usize, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let run = run.map(RunId::parse).transpose().map_err(|error| Failure::usage(error.to_string()))?;
    let event = event.map(|name| Event::parse(name).ok_or_else(|| no_event(name))).transpose()?;
    let filter = Filter { run, event, limit: usize::MAX, ..Filter::default() };
    let records = log::query(&open(home)?, &filter).map_err(|error| Failure::state(&error))?;
    for record in records.iter().skip(records.len().saturating_sub(last)) {
        let data = record.data.value();
        let word = |name: &str| data.get(name).and_then(|value| value.as_str()).unwrap_or_default();
        printer.line(&format!(
            "{:>6}  {}  {:<16} {:<8} {:<12} {}",
            record.seq,
            when(record.ts),
            record.event.as_str(),
            visible(word("decision")),
            visible(word("tool")),
            visible(&clip(&data.to_string())),
        ));
        printer.json(&json!({
            "seq": record.seq, "ts": record.ts, "run": record.run.as_str(), "event": record.event.as_str(),
            "hash": record.hash.to_string(), "data": data,
        }));
    }
    Ok(Exit::Ok)
}

fn no_event(name: &str) -> Failure {
    Failure::usage(format!("there is no event `{name}`; see the table in docs/audit.md"))
}

/// UTC, to the second.
pub(crate) fn when(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms)
        .map_or_else(|_| ms.to_string(), |at| at.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

fn clip(text: &str) -> String {
    const MAX: usize = 120;
    text.get(..text.floor_char_boundary(MAX))
        .filter(|head| head.len() < text.len())
        .map_or_else(|| text.to_owned(), |head| format!("{head}…"))
}
