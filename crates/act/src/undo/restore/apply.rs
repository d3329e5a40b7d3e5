//! Puts planned states in place: removals from the deepest, then directories, then files and links.

use std::fs::File;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::super::record::{Change, State};
use super::super::snapshot::{Roots, look};
use super::super::{Undo, UndoError};
use super::Restored;
use crate::files::parents;
use crate::files::replace::{self, Keep, Staged, sync_dir};
use crate::held::{Held, HeldError, Version};

/// Applies every change; what fails is told in `done.lost` and left as it was.
pub(super) fn apply(
    undo: &Undo,
    roots: &mut Roots,
    changes: Vec<Change>,
    done: &mut Restored,
) -> Result<Vec<Change>, UndoError> {
    let mut order: Vec<usize> = (0..changes.len()).collect();
    order.sort_by_key(|at| changes.get(*at).map(rank));
    let mut slots: Vec<Option<Change>> = changes.into_iter().map(Some).collect();
    let mut applied = Vec::new();
    for at in order {
        let Some(mut change) = slots.get_mut(at).and_then(Option::take) else { continue };
        let spot = change.spot();
        if change.before == change.after {
            applied.push(change);
            continue;
        }
        match one(undo, roots.at(&spot.root)?, &mut change) {
            Ok(()) => {
                done.restored.push(spot);
                applied.push(change);
            }
            Err(error) => done.lost.push((spot, error.to_string())),
        }
    }
    Ok(applied)
}

/// Deep removals first, then shallow creations.
fn rank(change: &Change) -> (u8, isize, String) {
    let depth = isize::try_from(change.path.split('/').count()).unwrap_or(isize::MAX);
    match &change.after {
        State::Absent => (0, -depth, change.path.clone()),
        State::Dir { .. } => (1, depth, change.path.clone()),
        State::File { .. } | State::Link { .. } | State::Unkept { .. } => (2, depth, change.path.clone()),
    }
}

fn one(undo: &Undo, root: BorrowedFd<'_>, change: &mut Change) -> Result<(), UndoError> {
    let (now, held) = look(root, &change.spot())?;
    if now != change.before {
        return Err(HeldError::Swapped(change.path.clone()).into());
    }
    match change.after.clone() {
        State::Absent => {
            if let Some(held) = held {
                clear(undo, &held, &now, change)?;
            }
            parents::remove_empty(root, &change.made)?;
        }
        State::Dir { mode } => make_dir(undo, root, change, &now, mode)?,
        State::Link { target } => make_link(undo, root, change, &now, &target)?,
        State::File { sha256, mode, size } => {
            let content = undo.blobs().sound(&sha256, size)?;
            put_file(undo, root, change, &now, content, mode)?;
        }
        State::Unkept { why } => return Err(UndoError::Lost(why)),
    }
    Ok(())
}

/// Takes away what is there; its content is kept first, so that this can be undone too.
fn clear(undo: &Undo, held: &Held, now: &State, change: &Change) -> Result<(), UndoError> {
    match now {
        State::Absent => Ok(()),
        State::File { .. } => {
            let kept = undo.snapshot(held)?;
            let version = kept.version.ok_or_else(|| HeldError::Swapped(held.label()))?;
            Ok(replace::remove(held, temp_of(change), version)?)
        }
        State::Dir { .. } => unlink(held, AtFlags::REMOVEDIR),
        // What cannot be kept here is no file: a pipe, a socket, a link with an odd target.
        State::Link { .. } | State::Unkept { .. } => unlink(held, AtFlags::empty()),
    }
}

fn unlink(held: &Held, flags: AtFlags) -> Result<(), UndoError> {
    rustix::fs::unlinkat(held.parent(), held.name(), flags).map_err(|errno| held.io(errno))?;
    Ok(sync_dir(held)?)
}

fn temp_of(change: &Change) -> &str {
    change.temp.as_deref().unwrap_or(".tollgate-undo.tmp")
}

/// Holds the name again, with the parents it needs and with nothing of another kind in the way.
fn ready(undo: &Undo, root: BorrowedFd<'_>, change: &mut Change, now: &State) -> Result<Held, UndoError> {
    change.made = parents::make(root, &change.path)?;
    let held = Held::beneath(root, change.spot())?;
    let in_place = matches!((now, &change.after), (State::File { .. }, State::File { .. }));
    if in_place || *now == State::Absent {
        return Ok(held);
    }
    clear(undo, &held, now, change)?;
    Ok(Held::beneath(root, change.spot())?)
}

fn make_dir(undo: &Undo, root: BorrowedFd<'_>, change: &mut Change, now: &State, mode: u32) -> Result<(), UndoError> {
    if !matches!(now, State::Dir { .. }) {
        let held = ready(undo, root, change, now)?;
        match rustix::fs::mkdirat(held.parent(), held.name(), Mode::from_raw_mode(mode)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(held.io(errno).into()),
        }
    }
    let held = Held::beneath(root, change.spot())?;
    let dir = crate::held::open_dir_beneath(root, &change.path).map_err(|errno| held.io(errno))?;
    parents::set_mode(&dir, mode).map_err(|errno| held.io(errno))?;
    Ok(sync_dir(&held)?)
}

fn make_link(
    undo: &Undo,
    root: BorrowedFd<'_>,
    change: &mut Change,
    now: &State,
    target: &str,
) -> Result<(), UndoError> {
    let held = ready(undo, root, change, now)?;
    rustix::fs::symlinkat(target, held.parent(), held.name()).map_err(|errno| held.io(errno))?;
    Ok(sync_dir(&held)?)
}

fn put_file(
    undo: &Undo,
    root: BorrowedFd<'_>,
    change: &mut Change,
    now: &State,
    mut content: File,
    mode: u32,
) -> Result<(), UndoError> {
    let held = ready(undo, root, change, now)?;
    let kept = undo.snapshot(&held)?;
    let keep = kept.owner.map_or(Keep::Exactly(mode), |owner| Keep::Of(owner.with_mode(mode)));
    let staged = Staged::write(&held, temp_of(change).to_owned(), &mut content, keep)?;
    let expected: Option<Version> = kept.version;
    staged.place(expected)?;
    Ok(())
}
