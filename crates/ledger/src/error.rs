//! What can go wrong beneath every operation.

use rusqlite::ErrorCode;

/// Says why the store could not answer; every one of them means deny.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Another process held the store for longer than the deadline.
    #[error("the ledger is locked by another process, try again when it is done")]
    Locked,
    /// No room is left.
    #[error("the disk holding the ledger is full, free some space")]
    Full,
    /// The file or its file system cannot be written.
    #[error("the ledger cannot be written, mount its directory writable")]
    ReadOnly,
    /// The file is damaged or no database.
    #[error("the ledger is damaged ({0}), run `tollgate log verify` and restore a copy")]
    Corrupt(String),
    /// The file could not be opened.
    #[error("the ledger cannot be opened ({0}), check the state directory")]
    CannotOpen(String),
    /// The file is a database of something else.
    #[error("`ledger.db` is no ledger (application id {0:#x}), choose another state directory")]
    NotALedger(i32),
    /// The file was written by another version.
    #[error("the ledger has schema version {found}, this build knows {known}: use the build that wrote it")]
    UnknownSchema {
        /// The version in the file.
        found: i32,
        /// The version of this build.
        known: i32,
    },
    /// A record could not be rendered.
    #[error("a record could not be rendered: {0}")]
    Encode(String),
    /// A row does not read back as what was written.
    #[error("a row of `{0}` does not read back, run `tollgate log verify`")]
    BadRow(&'static str),
    /// A call is said to have ended that was never noted.
    #[error("no call was noted under record {0} of this run")]
    UnknownCall(u64),
    /// A number does not fit.
    #[error("the number for `{0}` is too large to store")]
    TooLarge(&'static str),
    /// A thread died while it held the store.
    #[error("a thread of this process died while writing, start again")]
    Poisoned,
    /// Anything else the database said.
    #[error("the ledger failed: {0}")]
    Database(String),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let text = error.to_string();
        let Some(code) = error.sqlite_error_code() else { return Self::Database(text) };
        let is = |codes: &[ErrorCode]| codes.contains(&code);
        if is(&[ErrorCode::DatabaseBusy, ErrorCode::DatabaseLocked]) {
            Self::Locked
        } else if is(&[ErrorCode::DiskFull]) {
            Self::Full
        } else if is(&[ErrorCode::ReadOnly]) {
            Self::ReadOnly
        } else if is(&[ErrorCode::DatabaseCorrupt, ErrorCode::NotADatabase]) {
            Self::Corrupt(text)
        } else if is(&[ErrorCode::CannotOpen, ErrorCode::PermissionDenied]) {
            Self::CannotOpen(text)
        } else {
            Self::Database(text)
        }
    }
}
