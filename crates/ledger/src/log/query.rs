//! Reading records back.

use super::LogError;
use crate::error::StoreError;
use crate::record::{Event, RunId, StoredRecord};
use crate::state_dir::StateDir;
use crate::store::sqlite::{DATABASE, connect};
use rusqlite::{Connection, OpenFlags, params};
use std::time::Duration;

/// Says which records to read, in order, the latest `limit` of those that match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Only of this run.
    pub run: Option<RunId>,
    /// Only this event.
    pub event: Option<Event>,
    /// Only from this time on, milliseconds since the epoch.
    pub since: Option<i64>,
    /// Only before this time.
    pub until: Option<i64>,
    /// Only after this place in the chain; `log --follow` passes the last one it has.
    pub after_seq: u64,
    /// At most so many.
    pub limit: usize,
}

impl Default for Filter {
    fn default() -> Self {
        Self { run: None, event: None, since: None, until: None, after_seq: 0, limit: 1000 }
    }
}

/// Reads the records that match, oldest first.
///
/// # Errors
/// [`LogError`] when the ledger cannot be read or a record does not read back.
pub fn query(dir: &StateDir, filter: &Filter) -> Result<Vec<StoredRecord>, LogError> {
    let connection = open(dir)?;
    let mut statement = connection.prepare(
        "SELECT body FROM record WHERE seq > ?1 AND (?2 IS NULL OR run = ?2)
         AND (?3 IS NULL OR event = ?3) AND (?4 IS NULL OR ts >= ?4) AND (?5 IS NULL OR ts < ?5)
         ORDER BY seq DESC LIMIT ?6",
    )?;
    let mut rows = statement.query(params![
        i64::try_from(filter.after_seq).unwrap_or(i64::MAX),
        filter.run.as_ref().map(RunId::as_str),
        filter.event.map(Event::as_str),
        filter.since,
        filter.until,
        i64::try_from(filter.limit).unwrap_or(i64::MAX),
    ])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let body: Vec<u8> = row.get(0)?;
        found.push(StoredRecord::parse(&body).ok_or(StoreError::BadRow("record"))?);
    }
    found.reverse();
    Ok(found)
}

/// Reads one record.
///
/// # Errors
/// [`LogError`] when the ledger cannot be read or the record does not read back.
pub fn show(dir: &StateDir, seq: u64) -> Result<Option<StoredRecord>, LogError> {
    let connection = open(dir)?;
    let mut statement = connection.prepare("SELECT body FROM record WHERE seq = ?")?;
    let mut rows = statement.query([i64::try_from(seq).unwrap_or(i64::MAX)])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let body: Vec<u8> = row.get(0)?;
    Ok(Some(StoredRecord::parse(&body).ok_or(StoreError::BadRow("record"))?))
}

fn open(dir: &StateDir) -> Result<Connection, LogError> {
    let path = dir.path().join(DATABASE);
    if !path.is_file() {
        return Err(LogError::Missing(dir.path().to_owned()));
    }
    Ok(connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, Duration::from_secs(5))?)
}
