//! What a held name stands for now, its content kept.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{FileType, Stat};

use super::blobs::Durable;
use super::record::State;
use super::{Undo, UndoError};
use crate::files::replace::Owner;
use crate::held::Spot;
use crate::held::{Held, HeldError, Version, open_root};
use crate::verify::hash_of;

/// The largest file that is kept before a change.
pub(crate) const FILE_CAP: u64 = 256 * 1024 * 1024;

/// What was there: the state for the journal, the version for the comparison at the change.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) state: State,
    pub(crate) version: Option<Version>,
    pub(crate) owner: Option<Owner>,
    pub(crate) links: u64,
}

impl Snapshot {
    const fn absent() -> Self {
        Self { state: State::Absent, version: None, owner: None, links: 0 }
    }
}

impl Undo {
    /// Keeps what the held name stands for: nothing, or the judged regular file.
    ///
    /// # Errors
    /// A typed refusal for anything else, or if it is not what was judged.
    pub(crate) fn snapshot(&self, held: &Held) -> Result<Snapshot, UndoError> {
        if held.judged().is_none() {
            return match held.stat()? {
                None => Ok(Snapshot::absent()),
                Some(_) => Err(HeldError::Swapped(held.label()).into()),
            };
        }
        let (mut file, stat) = held.open()?;
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        if size > FILE_CAP {
            return Err(UndoError::TooLarge { path: held.label(), size, cap: FILE_CAP });
        }
        let blob = self.blobs().keep(&mut file, Durable::Now)?;
        let state = State::File { sha256: blob.sha256, mode: stat.st_mode & 0o7777, size: blob.size };
        Ok(Snapshot { state, version: Some(Version::of(&stat)), owner: Some(Owner::of(&stat)), links: links(&stat) })
    }
}

/// The number of names of a file.
pub(crate) fn links(stat: &Stat) -> u64 {
    stat.st_nlink
}

/// Looks at `spot` without keeping anything; where a parent is missing, or is no directory any more, nothing is there.
pub(crate) fn look(root: BorrowedFd<'_>, spot: &Spot) -> Result<(State, Option<Held>), UndoError> {
    match Held::beneath(root, spot.clone()) {
        Ok(held) => Ok((state_of(&held)?, Some(held))),
        Err(HeldError::Absent(_) | HeldError::Unreachable(_)) => Ok((State::Absent, None)),
        Err(error) => Err(error.into()),
    }
}

/// The state of a held name, whatever kind of thing is there.
pub(crate) fn state_of(held: &Held) -> Result<State, UndoError> {
    let Some(stat) = held.stat()? else { return Ok(State::Absent) };
    let mode = stat.st_mode & 0o7777;
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let (mut file, stat) = held.open()?;
            let hash = hash_of(&mut file).map_err(|error| held.io(error))?;
            State::File { sha256: super::blobs::hex(&hash), mode, size: u64::try_from(stat.st_size).unwrap_or(0) }
        }
        FileType::Directory => State::Dir { mode },
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(held.parent(), held.name(), Vec::new())
                .map_err(|errno| UndoError::Held(held.io(errno)))?;
            link_to(&target)
        }
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
            State::Unkept { why: "not a file, link or directory".to_owned() }
        }
    })
}

/// A link as it is kept: the journal is text, and a target that is none would come back as another.
pub(crate) fn link_to(target: &std::ffi::CStr) -> State {
    match target.to_str() {
        Ok(target) => State::Link { target: target.to_owned() },
        Err(_) => State::Unkept { why: "a link whose target is not UTF-8".to_owned() },
    }
}

/// Handles of the roots, opened once each.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    open: std::collections::BTreeMap<String, std::os::fd::OwnedFd>,
}

impl Roots {
    /// The handle of the root at `path`.
    pub(crate) fn at(&mut self, path: &str) -> Result<BorrowedFd<'_>, UndoError> {
        if !self.open.contains_key(path) {
            self.open.insert(path.to_owned(), open_root(path)?);
        }
        let fd = self.open.get(path).ok_or_else(|| HeldError::Absent(path.to_owned()))?;
        Ok(fd.as_fd())
    }
}
