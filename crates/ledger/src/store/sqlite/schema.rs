//! The tables, their version, and how a new file comes to be.

use crate::error::StoreError;
use crate::state_dir::StateDir;
use crate::store::sqlite::DATABASE;
use rusqlite::Connection;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::path::Path;

/// Grows whenever a table below changes; a file of any other version is refused.
pub(super) const VERSION: i32 = 1;
/// `TGLD`, so that a database of something else is told apart.
const APPLICATION: i32 = 0x5447_4c44;

const TABLES: &str = "
CREATE TABLE record (
    seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, ts INTEGER NOT NULL,
    run TEXT NOT NULL, event TEXT NOT NULL, body BLOB NOT NULL) STRICT;
CREATE TRIGGER record_is_never_changed BEFORE UPDATE ON record
    BEGIN SELECT RAISE(ABORT, 'a record is never changed'); END;
CREATE TRIGGER record_is_never_deleted BEFORE DELETE ON record
    BEGIN SELECT RAISE(ABORT, 'a record is never deleted'); END;
CREATE TABLE budget (
    scope TEXT NOT NULL, counter TEXT NOT NULL,
    reserved INTEGER NOT NULL CHECK (reserved >= 0), settled INTEGER NOT NULL CHECK (settled >= 0),
    PRIMARY KEY (scope, counter)) STRICT, WITHOUT ROWID;
CREATE TABLE reservation (
    id INTEGER PRIMARY KEY AUTOINCREMENT, seq INTEGER NOT NULL, run TEXT NOT NULL, owner TEXT NOT NULL,
    created INTEGER NOT NULL, hold_until INTEGER, state INTEGER NOT NULL) STRICT;
CREATE INDEX reservation_open ON reservation (owner) WHERE state = 0;
CREATE TABLE reservation_line (
    reservation INTEGER NOT NULL REFERENCES reservation (id), scope TEXT NOT NULL, counter TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (reservation, scope, counter)) STRICT, WITHOUT ROWID;
CREATE TABLE pending (
    id TEXT PRIMARY KEY, run TEXT NOT NULL, digest BLOB NOT NULL, rendered TEXT NOT NULL,
    created INTEGER NOT NULL, expires INTEGER NOT NULL, denied TEXT, spent_seq INTEGER) STRICT;
CREATE INDEX pending_digest ON pending (run, digest);
CREATE INDEX pending_open ON pending (created) WHERE denied IS NULL AND spent_seq IS NULL;
CREATE TABLE approval (
    nonce BLOB PRIMARY KEY, pending TEXT NOT NULL UNIQUE REFERENCES pending (id),
    digest BLOB NOT NULL, expires INTEGER NOT NULL, signature BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE halt (
    scope TEXT PRIMARY KEY, generation INTEGER NOT NULL,
    reason TEXT, raised_by TEXT, since INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE advice (
    name BLOB PRIMARY KEY, run TEXT NOT NULL, seq INTEGER NOT NULL, reservation INTEGER NOT NULL,
    row TEXT NOT NULL, taken INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE run_label (run TEXT PRIMARY KEY, bits INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE run_call (
    run TEXT NOT NULL, seq INTEGER NOT NULL, tool TEXT NOT NULL, call BLOB NOT NULL, result BLOB,
    outcome INTEGER NOT NULL, changed INTEGER NOT NULL, PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE run_denial (
    run TEXT NOT NULL, seq INTEGER NOT NULL, part INTEGER NOT NULL, intent BLOB NOT NULL, rule TEXT NOT NULL,
    PRIMARY KEY (run, seq, part)) STRICT, WITHOUT ROWID;
CREATE TABLE run_file (
    run TEXT NOT NULL, path BLOB NOT NULL, shown TEXT NOT NULL, content BLOB NOT NULL,
    PRIMARY KEY (run, path)) STRICT, WITHOUT ROWID;
CREATE TABLE run_given (
    run TEXT NOT NULL, kind INTEGER NOT NULL, address BLOB NOT NULL, shown TEXT NOT NULL,
    PRIMARY KEY (run, kind, address)) STRICT, WITHOUT ROWID;
CREATE TABLE run_counter (
    run TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL,
    PRIMARY KEY (run, name)) STRICT, WITHOUT ROWID;
";

/// Makes the database beside its place and moves it in whole, so that no process ever sees half of
/// one. Whoever comes second throws its own away.
pub(super) fn create(dir: &StateDir) -> Result<(), StoreError> {
    let beside = format!("{DATABASE}.new-{}-{:?}", std::process::id(), std::thread::current().id());
    let beside: String = beside.chars().filter(|c| !matches!(c, '(' | ')')).collect();
    let path = dir.path().join(&beside);
    remove(&path)?; // of a process with the same id that was killed here
    drop(dir.private_file(&beside).map_err(|e| StoreError::CannotOpen(e.to_string()))?);
    let made = fill(&path).and_then(|()| move_in(&path, dir));
    remove(&path)?;
    made
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::CannotOpen(error.to_string())),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn fill(path: &Path) -> Result<(), StoreError> {
    let connection = Connection::open(path)?;
    connection.execute_batch(&format!(
        "BEGIN; {TABLES} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
    ))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.close().map_err(|(_, error)| error.into())
}

fn move_in(path: &Path, dir: &StateDir) -> Result<(), StoreError> {
    match renameat_with(CWD, path, CWD, dir.path().join(DATABASE), RenameFlags::NOREPLACE) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(StoreError::CannotOpen(error.to_string())),
    }
    dir.sync().map_err(|error| StoreError::CannotOpen(error.to_string()))
}

/// Refuses a database of something else and of any other version.
pub(super) fn check(connection: &Connection) -> Result<(), StoreError> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let found: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if application != APPLICATION {
        return Err(StoreError::NotALedger(application));
    }
    if found != VERSION {
        return Err(StoreError::UnknownSchema { found, known: VERSION });
    }
    Ok(())
}
