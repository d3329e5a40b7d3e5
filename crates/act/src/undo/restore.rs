//! The way back: chooses changes, checks that nothing later is lost, and puts the old state in place.

use std::collections::BTreeMap;

use super::record::{Change, Meta, Recorded, State, Step};
use super::snapshot::{Roots, look};
use super::{Undo, UndoError};
use crate::files::replace::temp_name;
use crate::held::Spot;

mod apply;

/// Which changes to take back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// The newest step that still has something to take back.
    Last,
    /// One step, by its number; an undo step too.
    Step(u64),
    /// Some names of one step.
    Names(u64, Vec<Spot>),
    /// Every step of a run.
    Run(String),
    /// The newest change of one file.
    File(Spot),
}

impl std::fmt::Display for Which {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Last => f.write_str("the last step"),
            Self::Step(number) => write!(f, "step {number}"),
            Self::Names(number, names) => write!(f, "{} name(s) of step {number}", names.len()),
            Self::Run(run) => write!(f, "run `{run}`"),
            Self::File(spot) => write!(f, "`{spot}`"),
        }
    }
}

/// What to do about later changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Refuse, and change nothing.
    Careful,
    /// Overwrite them; they are kept as a step of their own.
    Forced,
}

/// What an undo did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// The number of the undo step itself; `None` when nothing had to change.
    pub step: Option<u64>,
    /// Names that are again as they were.
    pub restored: Vec<Spot>,
    /// Names that already were.
    pub already: Vec<Spot>,
    /// What could not be brought back, and why.
    pub lost: Vec<(Spot, String)>,
}

/// The net effect on one name of everything that is taken back.
#[derive(Debug)]
struct Net {
    spot: Spot,
    expected: State,
    target: State,
    made: Vec<String>,
    undoes: Vec<(u64, usize)>,
    broken: bool,
}

impl Undo {
    /// Takes back what `which` names.
    ///
    /// # Errors
    /// [`UndoError::Clobbers`] if somebody changed a file since, unless forced; then nothing is touched.
    pub fn undo(&self, which: &Which, how: How, meta: Meta) -> Result<Restored, UndoError> {
        let mut steps = self.steps()?;
        self.complete(&mut steps, which)?;
        let nets = plan(&steps, which);
        if nets.is_empty() {
            return Err(UndoError::Nothing(which.to_string()));
        }
        let mut done = Restored::default();
        let mut roots = Roots::default();
        let changes = self.check(nets, how, &mut roots, &mut done)?;
        if changes.is_empty() {
            return Ok(done);
        }
        let begun = self.begin(meta, changes)?;
        done.step = Some(begun.step);
        let applied = apply::apply(self, &mut roots, begun.changes, &mut done)?;
        self.end_with(begun.step, applied, done.lost.iter().map(|(spot, why)| format!("`{spot}`: {why}")).collect())?;
        Ok(done)
    }

    /// Fills in what steps that a crash cut off did, and removes what it left lying about.
    fn complete(&self, steps: &mut [Step], which: &Which) -> Result<(), UndoError> {
        let newest = steps.last().map(|step| step.number);
        let meant = |step: &Step| match which {
            Which::Step(number) | Which::Names(number, _) => step.number == *number,
            Which::Run(run) => step.meta.run == *run,
            Which::File(spot) => {
                step.trees.contains_key(&spot.root) || step.changes.iter().any(|c| c.change.spot() == *spot)
            }
            Which::Last => Some(step.number) == newest,
        };
        for step in steps.iter_mut().filter(|step| !step.finished && meant(step)) {
            let changes: Vec<Change> = step.changes.iter().map(|recorded| recorded.change.clone()).collect();
            super::tree::sweep(&changes);
            if !step.trees.is_empty() {
                let found = self.unfinished(&step.trees)?;
                // Recorded, so that the undo can name positions in it.
                self.end_with(step.number, found.clone(), vec!["it was cut off before its end".to_owned()])?;
                step.changes = found.into_iter().map(|change| Recorded { change, undone_by: None }).collect();
            }
        }
        Ok(())
    }

    /// Compares every name with what it should be now, and keeps what is there.
    fn check(
        &self,
        nets: Vec<Net>,
        how: How,
        roots: &mut Roots,
        done: &mut Restored,
    ) -> Result<Vec<Change>, UndoError> {
        let mut changes = Vec::new();
        let mut clobbered = Vec::new();
        for net in nets {
            let (now, _) = look(roots.at(&net.spot.root)?, &net.spot)?;
            if let State::Unkept { why } = &net.target {
                done.lost.push((net.spot, why.clone()));
            } else if now == net.target {
                done.already.push(net.spot.clone());
                // Still journaled, so that the change counts as taken back.
                changes.push(self.intend(net, now)?);
            } else if (net.broken || !same_content(&now, &net.expected)) && how == How::Careful {
                clobbered.push(net.spot);
            } else {
                changes.push(self.intend(net, now)?);
            }
        }
        if clobbered.is_empty() { Ok(changes) } else { Err(UndoError::Clobbers(clobbered)) }
    }

    fn intend(&self, net: Net, now: State) -> Result<Change, UndoError> {
        Ok(Change {
            root: net.spot.root,
            path: net.spot.path,
            before: now,
            after: net.target,
            temp: Some(temp_name()?),
            made: net.made,
            undoes: net.undoes,
        })
    }
}

/// Whether two states hold the same content; permission bits may differ.
fn same_content(a: &State, b: &State) -> bool {
    match (a, b) {
        (State::File { sha256: a, .. }, State::File { sha256: b, .. }) => a == b,
        (State::Dir { .. }, State::Dir { .. }) => true,
        _ => a == b,
    }
}

/// The net effect of taking back the chosen changes, newest first.
fn plan(steps: &[Step], which: &Which) -> Vec<Net> {
    let mut nets: BTreeMap<Spot, Net> = BTreeMap::new();
    for (step, at, change) in chosen(steps, which) {
        let spot = change.spot();
        match nets.get_mut(&spot) {
            Some(net) => {
                net.broken |= !same_content(&net.target, &change.after);
                net.target = change.before.clone();
                net.made.extend(change.made.iter().cloned());
                net.undoes.push((step, at));
            }
            None => {
                let (expected, target) = (change.after.clone(), change.before.clone());
                let (made, undoes) = (change.made.clone(), vec![(step, at)]);
                nets.insert(spot.clone(), Net { spot, expected, target, made, undoes, broken: false });
            }
        }
    }
    nets.into_values().collect()
}

/// The changes in force that `which` names, newest first.
fn chosen<'a>(steps: &'a [Step], which: &Which) -> Vec<(u64, usize, &'a Change)> {
    let live = steps.iter().rev().flat_map(|step| {
        let changes = step.changes.iter().enumerate().rev();
        changes.filter(|(_, change)| change.undone_by.is_none()).map(move |(at, change)| (step, at, &change.change))
    });
    let own = |step: &Step| step.meta.tool == UNDO_TOOL;
    let all: Vec<(&Step, usize, &Change)> = match which {
        Which::Step(number) => live.filter(|(step, ..)| step.number == *number).collect(),
        Which::Names(number, names) => {
            live.filter(|(step, _, change)| step.number == *number && names.contains(&change.spot())).collect()
        }
        Which::Run(run) => live.filter(|(step, ..)| step.meta.run == *run && !own(step)).collect(),
        Which::File(spot) => live.filter(|(step, _, change)| change.spot() == *spot && !own(step)).take(1).collect(),
        Which::Last => {
            let live: Vec<_> = live.filter(|(step, ..)| !own(step)).collect();
            let newest = live.first().map(|(step, ..)| step.number);
            live.into_iter().filter(|(step, ..)| Some(step.number) == newest).collect()
        }
    };
    all.into_iter().map(|(step, at, change)| (step.number, at, change)).collect()
}

/// The tool name of undo steps.
pub(crate) const UNDO_TOOL: &str = "undo";
