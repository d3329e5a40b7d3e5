//! Undo: what was there before each change, kept until it is pruned, and the way back.
//!
//! A change goes: snapshot → [`Undo::begin`] (durable) → change → [`Undo::end`]. A crash in between
//! loses nothing: the journal already names what was there and what was meant.
//!
//! # Security
//! The store lies in the guard's state directory, which no tool and no boxed command reaches. It holds
//! the old content of changed files in the clear, secrets among it, readable by the owner only. It does
//! not protect against an agent of the same uid outside the box, and it cannot bring back what a
//! command did elsewhere: remote systems, processes, databases.

mod blobs;
mod journal;
mod prune;
mod record;
mod restore;
mod snapshot;
mod tree;

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::files::replace::ReplaceError;
use crate::held::{HeldError, Spot};
use blobs::Blobs;
use journal::Journal;

pub(crate) use blobs::{hash_of_hex, hex, now_ms};
pub use prune::{Keep, Pruned};
pub use record::{Change, Meta, Recorded, State, Step};
pub use restore::{How, Restored, Which};
pub(crate) use snapshot::{Snapshot, state_of};
pub use tree::{Limits, TreeChange, TreeSnapshot};

/// Why undo could not do its part.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// The store cannot be read or written; nothing was changed.
    #[error("the undo store cannot be used, so nothing was changed: {0}")]
    Store(std::io::Error),
    /// The state directory is not private.
    #[error("the undo store `{0}` must be a directory of this user with mode 0700")]
    Exposed(String),
    /// The journal comes from another version.
    #[error("the undo journal has version {0}; this build knows version 1")]
    Version(u32),
    /// A kept content is missing.
    #[error("the kept content `{0}` is missing; it may have been pruned")]
    Lost(String),
    /// A kept content is not what was kept.
    #[error("the kept content `{0}` was changed since; nothing was put in its place")]
    Damaged(String),
    /// The file is larger than a snapshot may be.
    #[error("`{path}` has {size} bytes, and undo keeps at most {cap}; change it by a command and a backup of your own")]
    TooLarge {
        /// Which file.
        path: String,
        /// Its size.
        size: u64,
        /// The largest that is kept.
        cap: u64,
    },
    /// Nothing matches what was asked for.
    #[error("there is nothing to undo for {0}; `tollgate undo --list` shows the steps")]
    Nothing(String),
    /// Later changes would be lost.
    #[error("{} changed since: {}; undo the later steps first, or force it", plural(.0), join(.0))]
    Clobbers(Vec<Spot>),
    /// A name cannot be reached or looked at.
    #[error(transparent)]
    Held(#[from] HeldError),
    /// Content could not be put in place.
    #[error(transparent)]
    Replace(#[from] ReplaceError),
}

impl UndoError {
    pub(crate) fn store(error: impl Into<std::io::Error>) -> Self {
        Self::Store(error.into())
    }
}

fn plural(spots: &[Spot]) -> String {
    if spots.len() == 1 { "one file".to_owned() } else { format!("{} files", spots.len()) }
}

fn join(spots: &[Spot]) -> String {
    let names: Vec<String> = spots.iter().take(5).map(|spot| format!("`{spot}`")).collect();
    let more = spots.len().saturating_sub(5);
    if more == 0 { names.join(", ") } else { format!("{} and {more} more", names.join(", ")) }
}

/// The undo store of one state directory. Several processes may share it.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// use tollgate_act::undo::{How, Meta, Undo, UndoError, Which};
/// let undo = Undo::open(&dir.path().join("state"))?;
/// assert!(undo.steps()?.is_empty());
/// let meta = Meta { run: "operator".into(), call: String::new(), tool: "undo".into(), at_ms: 0 };
/// assert!(matches!(undo.undo(&Which::Last, How::Careful, meta), Err(UndoError::Nothing(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Undo {
    blobs: Blobs,
    trees: OwnedFd,
    journal: Mutex<Journal>,
}

/// A step that has begun: to be ended, whatever became of it.
#[derive(Debug)]
#[must_use = "a step that has begun must be ended"]
pub(crate) struct Begun {
    pub(crate) step: u64,
    pub(crate) changes: Vec<Change>,
}

impl Undo {
    /// Opens the store in `undo` beneath `state_dir`, and makes it if needed.
    ///
    /// # Errors
    /// [`UndoError::Exposed`] if others could read or replace it.
    pub fn open(state_dir: &std::path::Path) -> Result<Self, UndoError> {
        let dir = private_dir(rustix::fs::CWD, state_dir)?;
        let undo = private_dir(&dir, std::path::Path::new("undo"))?;
        let blobs = private_dir(&undo, std::path::Path::new("blobs"))?;
        let trees = private_dir(&undo, std::path::Path::new("trees"))?;
        Ok(Self { blobs: Blobs::new(blobs), trees, journal: Mutex::new(Journal::open(undo)?) })
    }

    /// Every step that is still kept, oldest first.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn steps(&self) -> Result<Vec<Step>, UndoError> {
        Ok(self.journal().steps()?.values().cloned().collect())
    }

    /// How many lines of the journal could not be read; a crash leaves at most one each.
    pub fn torn_lines(&self) -> u64 {
        self.journal().torn()
    }

    /// Records, durably, what is about to change.
    pub(crate) fn begin(&self, meta: Meta, changes: Vec<Change>) -> Result<Begun, UndoError> {
        self.begin_trees(meta, changes, BTreeMap::new())
    }

    pub(crate) fn begin_trees(
        &self,
        meta: Meta,
        changes: Vec<Change>,
        trees: BTreeMap<String, String>,
    ) -> Result<Begun, UndoError> {
        let step = self.journal().begin(meta, changes.clone(), trees)?;
        Ok(Begun { step, changes })
    }

    /// Records that everything that was announced has happened.
    pub(crate) fn end(&self, begun: Begun) -> Result<u64, UndoError> {
        self.journal().end(begun.step, begun.changes, Vec::new())?;
        Ok(begun.step)
    }

    /// Records that nothing has happened.
    pub(crate) fn abandon(&self, begun: Begun) -> Result<(), UndoError> {
        self.journal().end(begun.step, Vec::new(), Vec::new())
    }

    pub(crate) fn end_with(&self, step: u64, changes: Vec<Change>, partly: Vec<String>) -> Result<(), UndoError> {
        self.journal().end(step, changes, partly)
    }

    pub(crate) const fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    pub(crate) fn trees(&self) -> std::os::fd::BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.trees)
    }

    pub(crate) fn journal(&self) -> MutexGuard<'_, Journal> {
        // A panic elsewhere leaves the journal as the file tells it: every use catches up first.
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens `path` in `at` as a private directory, made if absent.
fn private_dir(at: impl std::os::fd::AsFd, path: &std::path::Path) -> Result<OwnedFd, UndoError> {
    match rustix::fs::mkdirat(&at, path, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(UndoError::store(errno)),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = rustix::fs::openat(&at, path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::LOOP | Errno::NOTDIR => UndoError::Exposed(path.display().to_string()),
        other => UndoError::store(other),
    })?;
    let stat = rustix::fs::fstat(&dir).map_err(UndoError::store)?;
    let own = stat.st_uid == rustix::process::geteuid().as_raw();
    if !own || stat.st_mode & 0o077 != 0 {
        return Err(UndoError::Exposed(path.display().to_string()));
    }
    Ok(dir)
}
