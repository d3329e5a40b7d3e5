//! `write_file`: creates or replaces a whole file, by a temporary file and one rename.

use std::os::fd::AsFd as _;

use super::replace::{Hash, Keep, Staged, temp_name};
use super::{ChangeError, Changed, Record};
use crate::held::Held;
use crate::undo::{Begun, Change, Snapshot, State, hex};
use crate::verify::hash_of;

/// Permission bits of a new file, before the process's mask.
const FRESH_MODE: u32 = 0o666;

/// Writes `content` as the whole file.
///
/// The old content is kept first; then the new one is written beside, made durable, and takes the name
/// if nothing else has taken it since it was judged; then it is read back and compared. Mode and owner
/// stay. Missing parent directories are made.
///
/// # Errors
/// Any of [`ChangeError`]; the file is then as it was.
/// # Security
/// Other names of a hard-linked file keep the old content. Extended attributes and access lists are not
/// carried over. Does not stop others from writing the file afterwards.
pub fn write(held: Held, content: &[u8], record: &Record<'_>) -> Result<Changed, ChangeError> {
    let before = record.undo.snapshot(&held)?;
    replace_with(held, before, content, record)
}

/// Replaces what `before` describes with `content`.
pub(super) fn replace_with(
    held: Held,
    before: Snapshot,
    content: &[u8],
    record: &Record<'_>,
) -> Result<Changed, ChangeError> {
    let size = content.len() as u64;
    let hash = hash_of(&mut &*content).map_err(|error| held.io(error))?;
    let after = State::File { sha256: hex(&hash), mode: mode_of(&before), size };
    if same_file(&before.state, &after) {
        let told = format!("`{}` already has exactly this content; nothing was changed", held.spot());
        return Ok(Changed { step: None, bytes: 0, hash: Some(hash), told });
    }
    let told = tell(&held, &before, content);
    let temp = temp_name()?;
    let change = Change {
        root: held.spot().root.clone(),
        path: held.spot().path.clone(),
        before: before.state.clone(),
        after,
        temp: Some(temp.clone()),
        made: held.missing(),
        undoes: Vec::new(),
    };
    let begun = record.undo.begin(record.meta.clone(), vec![change])?;
    let hash = settle(record, begun, put(held, &before, content, temp))?;
    Ok(Changed { step: Some(hash.0), bytes: size, hash: Some(hash.1), told })
}

fn put(held: Held, before: &Snapshot, content: &[u8], temp: String) -> Result<Hash, ChangeError> {
    let (above, made) = (held.parent().try_clone_to_owned().map_err(|error| held.io(error))?, held.missing_below());
    let placed = place(held, before, content, temp);
    if placed.is_err() {
        // Parents made for nothing go again, as far as nobody else uses them.
        super::parents::remove_empty(above.as_fd(), &made)?;
    }
    placed
}

fn place(held: Held, before: &Snapshot, content: &[u8], temp: String) -> Result<Hash, ChangeError> {
    let held = held.arrive()?;
    let keep = before.owner.map_or(Keep::Fresh(FRESH_MODE), Keep::Of);
    let staged = Staged::write(&held, temp, &mut &*content, keep)?;
    Ok(staged.place(before.version)?)
}

/// Ends the step: with what was announced, or, after a failure that changed nothing, with nothing.
pub(super) fn settle<T>(
    record: &Record<'_>,
    begun: Begun,
    done: Result<T, ChangeError>,
) -> Result<(u64, T), ChangeError> {
    match done {
        Ok(value) => Ok((record.undo.end(begun)?, value)),
        // Changed, and not as meant: the step stays, so that it can be undone.
        Err(error @ ChangeError::Replace(super::ReplaceError::Unverified { .. })) => {
            record.undo.end(begun)?;
            Err(error)
        }
        Err(error) => {
            record.undo.abandon(begun)?;
            Err(error)
        }
    }
}

fn mode_of(before: &Snapshot) -> u32 {
    before.owner.map_or(FRESH_MODE, |owner| owner.mode())
}

fn same_file(a: &State, b: &State) -> bool {
    matches!((a, b), (State::File { sha256: a, .. }, State::File { sha256: b, .. }) if a == b)
}

fn tell(held: &Held, before: &Snapshot, content: &[u8]) -> String {
    let verb = if before.version.is_some() { "replaced" } else { "created" };
    let lines = content.split_inclusive(|byte| *byte == b'\n').count();
    let mut told = format!("{verb} `{}`: {} bytes, {lines} lines, read back and equal", held.spot(), content.len());
    if before.links > 1 {
        told.push_str(&format!("; its {} other names keep the old content", before.links - 1));
    }
    told
}
