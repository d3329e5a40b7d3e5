//! The file tools, each through the very handle that was judged.
//!
//! One operation per file: [`read`], [`write`], [`edit`], [`delete`], [`glob`], [`grep`].

pub mod delete;
pub mod edit;
pub mod glob;
pub mod grep;
pub(crate) mod parents;
pub mod read;
pub(crate) mod replace;
mod walk;
pub mod write;

use crate::held::HeldError;
use crate::undo::{Meta, Undo, UndoError};

pub use replace::{Hash, ReplaceError};
pub use walk::Bounds;

/// The most that a tool's result may hold, in bytes; longer results end with a notice.
pub const RESULT_CAP: usize = 32 * 1024;

/// Where a change is recorded before it happens.
#[derive(Debug)]
pub struct Record<'a> {
    /// The undo store.
    pub undo: &'a Undo,
    /// Who and what the change is for.
    pub meta: Meta,
}

/// What a change did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The undo step; `None` when there was nothing to change.
    pub step: Option<u64>,
    /// Bytes written, or removed.
    pub bytes: u64,
    /// SHA-256 of the content that is now there.
    pub hash: Option<Hash>,
    /// In words, for the model.
    pub told: String,
}

/// Why a change was not made. Unless it says otherwise, nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The name is not what was judged, or is not a regular file.
    #[error(transparent)]
    Held(#[from] HeldError),
    /// The content could not be put in place.
    #[error(transparent)]
    Replace(#[from] ReplaceError),
    /// The old state could not be kept.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// The edit does not fit the file.
    #[error(transparent)]
    Edit(#[from] edit::EditError),
}

impl ChangeError {
    /// Whether the file was changed before the error.
    pub const fn is_after_a_change(&self) -> bool {
        matches!(self, Self::Replace(ReplaceError::Unverified { .. }))
    }
}
