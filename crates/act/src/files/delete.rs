//! `delete_file`: removes one file or link, after keeping it.

use rustix::fs::{AtFlags, FileType};

use super::replace::{self, temp_name};
use super::write::settle;
use super::{ChangeError, Changed, Record};
use crate::held::{Held, HeldError, Identity};
use crate::undo::{Change, Snapshot, State, state_of};

/// Removes the held file, or the held link itself.
///
/// The file is moved aside, compared with what was judged, and only then removed; another file that took
/// the name meanwhile is put back.
///
/// # Errors
/// Any of [`ChangeError`]; the file is then still there.
/// # Security
/// Other names of a hard-linked file stay. Directories are refused.
pub fn delete(held: &Held, record: &Record<'_>) -> Result<Changed, ChangeError> {
    let judged = held.judged().ok_or_else(|| HeldError::Absent(held.label()))?;
    let now = held.stat()?.ok_or_else(|| HeldError::Swapped(held.label()))?;
    if Identity::of(&now) == judged && FileType::from_raw_mode(now.st_mode) == FileType::Symlink {
        return unlink(held, record);
    }
    let before = record.undo.snapshot(held)?;
    let version = before.version.ok_or_else(|| HeldError::Swapped(held.label()))?;
    let temp = temp_name()?;
    let begun = record.undo.begin(record.meta.clone(), vec![gone(held, before.state.clone(), &temp)])?;
    let removed = replace::remove(held, &temp, version).map_err(ChangeError::from);
    let (step, ()) = settle(record, begun, removed)?;
    let bytes = u64::try_from(version.size).unwrap_or(0);
    Ok(Changed { step: Some(step), bytes, hash: None, told: tell(held, &before, bytes) })
}

/// Removes a link. Its text is its content, so nothing more has to be kept.
fn unlink(held: &Held, record: &Record<'_>) -> Result<Changed, ChangeError> {
    let before = state_of(held)?;
    let told = format!("deleted the link `{}`; what it pointed to is untouched", held.spot());
    let temp = temp_name()?;
    let begun = record.undo.begin(record.meta.clone(), vec![gone(held, before, &temp)])?;
    let removed = rustix::fs::unlinkat(held.parent(), held.name(), AtFlags::empty());
    let (step, ()) = settle(record, begun, removed.map_err(|errno| held.io(errno).into()))?;
    Ok(Changed { step: Some(step), bytes: 0, hash: None, told })
}

fn gone(held: &Held, before: State, temp: &str) -> Change {
    Change {
        root: held.spot().root.clone(),
        path: held.spot().path.clone(),
        before,
        after: State::Absent,
        temp: Some(temp.to_owned()),
        made: Vec::new(),
        undoes: Vec::new(),
    }
}

fn tell(held: &Held, before: &Snapshot, bytes: u64) -> String {
    let mut told = format!("deleted `{}` ({bytes} bytes); `tollgate undo` brings it back", held.spot());
    if before.links > 1 {
        told.push_str(&format!("; its {} other names still hold the content", before.links - 1));
    }
    told
}
