//! `tollgate undo`: taking back what runs changed in files.

use std::path::Path;

use serde_json::json;
use tollgate::act::Spot;
use tollgate::act::undo::{How, Meta, Recorded, Restored, Step, Undo, UndoError, Which};
use tollgate::gate::Clock as _;
use tollgate::ledger::{Event, Record, RunId, Scrubber, Store as _};

use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::home::{Home, absolute};
use crate::printer::{Printer, Tone, visible};
use crate::system::SystemClock;
use crate::verbs::log::when;

/// Runs the verb.
///
/// # Errors
/// [`Failure`] when there is nothing to undo, or later changes would be lost.
pub(crate) fn run(args: &args::Undo, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let dir = home.state_dir()?;
    let undo = Undo::open(dir.path()).map_err(|error| Failure::state(&error))?;
    let steps = undo.steps().map_err(|error| Failure::state(&error))?;
    if args.list {
        return Ok(list(&steps, printer));
    }
    let which = which(args, &steps)?;
    let how = if args.force { How::Forced } else { How::Careful };
    let restored = take_back(&undo, &which, how)?;
    record(home, &which, &restored)?;
    tell(&restored, printer);
    Ok(if restored.lost.is_empty() { Exit::Ok } else { Exit::Denied })
}

/// Takes back one choice.
///
/// # Errors
/// [`Failure`] when there is nothing to undo, or later changes would be lost.
pub(crate) fn take_back(undo: &Undo, which: &Which, how: How) -> Result<Restored, Failure> {
    let at_ms = u64::try_from(SystemClock.now_ms()).unwrap_or_default();
    let meta = Meta { run: "operator".to_owned(), call: String::new(), tool: "undo".to_owned(), at_ms };
    undo.undo(which, how, meta).map_err(|error| {
        if matches!(error, UndoError::Clobbers(_) | UndoError::Nothing(_)) {
            Failure::denied(error.to_string())
        } else {
            Failure::state(&error)
        }
    })
}

fn which(args: &args::Undo, steps: &[Step]) -> Result<Which, Failure> {
    match (args.step, &args.file, args.run.as_deref()) {
        (Some(step), None, None) => Ok(Which::Step(step)),
        (None, Some(file), None) => spot(&absolute(file)?, steps).map(Which::File),
        (None, None, Some("last")) => steps
            .iter()
            .rev()
            .find(|step| step.meta.tool != "undo")
            .map(|step| Which::Run(step.meta.run.clone()))
            .ok_or_else(|| Failure::denied("there is nothing to undo")),
        (None, None, Some(run)) => Ok(Which::Run(run.to_owned())),
        (None, None, None) => Ok(Which::Last),
        _ => Err(Failure::usage("choose one of `--step`, `--file` and `--run`")),
    }
}

/// The journal names files by root and path beneath it, both real; the file itself may be gone.
fn spot(file: &Path, steps: &[Step]) -> Result<Spot, Failure> {
    let name = file.display().to_string();
    let parent = file.parent().and_then(|dir| dir.canonicalize().ok());
    let real = parent.zip(file.file_name()).map(|(dir, name)| dir.join(name));
    let is_it = |spot: &Spot| {
        let at = Path::new(&spot.root).join(&spot.path);
        at == file || real.as_deref() == Some(&at)
    };
    let mut spots = steps.iter().rev().flat_map(|step| step.changes.iter().map(|recorded| recorded.change.spot()));
    spots
        .find(is_it)
        .ok_or_else(|| Failure::denied(format!("no step changed `{}`; see `tollgate undo --list`", visible(&name))))
}

fn list(steps: &[Step], printer: Printer) -> Exit {
    if steps.is_empty() {
        printer.line("there is nothing to undo");
    }
    for step in steps {
        let taken_back = !step.changes.is_empty() && step.changes.iter().all(|recorded| recorded.undone_by.is_some());
        let note = if taken_back { printer.paint(Tone::Dim, " (undone)") } else { String::new() };
        let at = when(i64::try_from(step.meta.at_ms).unwrap_or(i64::MAX));
        let (tool, run) = (visible(&step.meta.tool), visible(&step.meta.run));
        printer.line(&format!("{:>5}  {at}  {tool:<12} run {run}{note}", step.number));
        for Recorded { change, .. } in &step.changes {
            printer.line(&format!("         {}", visible(&change.spot().to_string())));
        }
        for partly in &step.partly {
            printer.line(&format!("         not restorable: {}", visible(partly)));
        }
        printer.json(&json!({
            "step": step.number, "run": step.meta.run, "tool": step.meta.tool, "at_ms": step.meta.at_ms,
            "files": step.changes.iter().map(|recorded| recorded.change.spot().to_string()).collect::<Vec<_>>(),
            "undone": taken_back, "not_restorable": step.partly,
        }));
    }
    Exit::Ok
}

fn tell(restored: &Restored, printer: Printer) {
    for spot in &restored.restored {
        printer.line(&format!("{} {}", printer.paint(Tone::Good, "restored"), visible(&spot.to_string())));
    }
    for spot in &restored.already {
        printer.line(&format!("already as before: {}", visible(&spot.to_string())));
    }
    for (spot, why) in &restored.lost {
        printer.line(&format!(
            "{} {}: {}",
            printer.paint(Tone::Bad, "not restored"),
            visible(&spot.to_string()),
            visible(why)
        ));
    }
    let names = |spots: &[Spot]| spots.iter().map(ToString::to_string).collect::<Vec<_>>();
    printer.json(&json!({
        "step": restored.step, "restored": names(&restored.restored), "already": names(&restored.already),
        "lost": restored.lost.iter().map(|(spot, why)| json!([spot.to_string(), why])).collect::<Vec<_>>(),
    }));
}

fn record(home: &Home, which: &Which, restored: &Restored) -> Result<(), Failure> {
    let data = json!({
        "which": which.to_string(),
        "step": restored.step,
        "restored": restored.restored.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "lost": restored.lost.len(),
    });
    let record = Record {
        ts: SystemClock.now_ms(),
        run: RunId::none(),
        event: Event::Undo,
        data: Scrubber::formats_only().scrub_value(&data),
    };
    home.ledger()?.append(&record, &[]).map(drop).map_err(|error| Failure::state(&error))
}
