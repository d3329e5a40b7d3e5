//! The derived JSON Lines file, reading it, and verifying it.

pub(crate) mod jsonl;
mod lines;
mod query;
mod verify;

pub use jsonl::TornTail;
pub use query::{Filter, query, show};
pub use verify::{Bad, Disagreement, Report, Source, Why, verify, verify_file};

use crate::error::StoreError;
use std::io;
use std::path::PathBuf;

/// Says why a log could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// There is no ledger here.
    #[error("`{0}` holds no ledger, name another state directory")]
    Missing(PathBuf),
    /// A file could not be read.
    #[error("`{path}` cannot be read: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for LogError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}
