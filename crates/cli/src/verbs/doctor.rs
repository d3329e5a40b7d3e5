//! `tollgate doctor`: what is enforced here, what is missing, and how to get it.

use serde_json::json;
use tollgate::act::sandbox::{Helper, State, Walls, probe};

use crate::exit::Exit;
use crate::exposure::Exposure;
use crate::failure::Failure;
use crate::home::Home;
use crate::printer::{Printer, Tone, visible};

/// Tries every wall with a real child.
///
/// # Errors
/// [`Failure`] when the state directory cannot be used.
pub(crate) fn walls(home: &Home) -> Result<Walls, Failure> {
    let dir = home.state_dir()?;
    Ok(probe(&Helper::this_program(), dir.path()))
}

/// Runs the verb.
///
/// # Errors
/// [`Failure`] when the state directory cannot be used.
pub(crate) fn run(home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let walls = walls(home)?;
    printer.line(&printer.paint(Tone::Strong, "Walls around commands, each tried just now by a real child:"));
    for (wall, state) in walls.states() {
        match state {
            State::Up => printer.line(&format!("  {}  {wall}", printer.paint(Tone::Good, "up  "))),
            State::Down { why, remedy } => {
                printer.line(&format!("  {}  {wall}: {why}; {remedy}", printer.paint(Tone::Bad, "DOWN")));
            }
        }
    }
    printer.line(&format!("  not in this build: {}", Walls::not_built().join(", ")));
    let operator = home.operator()?.is_some();
    let secret = if operator { "set" } else { "not set; `tollgate init` sets it" };
    printer.line(&format!("Operator's secret: {secret}"));
    printer.line(&format!("State directory: {}", home.state.display()));
    let exposure = Exposure::look(home);
    exposure.lines().iter().for_each(|line| printer.line(&visible(line)));
    printer.json(&json!({
        "walls": walls.states().iter().map(|(wall, state)| json!({
            "wall": wall.to_string(),
            "up": *state == State::Up,
            "why": match state { State::Up => None, State::Down { why, .. } => Some(why) },
        })).collect::<Vec<_>>(),
        "not_built": Walls::not_built(),
        "claimed_all_up": walls.claimed_all_up(),
        "operator": operator,
        "exposed": exposure.json(),
    }));
    Ok(if walls.claimed_all_up() { Exit::Ok } else { Exit::Denied })
}
