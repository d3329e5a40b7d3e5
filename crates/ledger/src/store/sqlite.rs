//! The local back end: one SQLite file in the state directory.

mod admit;
mod approvals;
mod halts;
mod runs;
mod schema;
mod settle;

use crate::admission::{
    Admission, AdmitError, Appended, BudgetRow, Receipt, ReservationId, SettleError, Settled, Settlement,
};
use crate::approval::{
    AdviceError, AdviceRow, ApprovalError, ApprovalKey, ApprovalRow, PendingId, PendingRow, PendingState,
};
use crate::chain::Digest;
use crate::error::StoreError;
use crate::halt::{HaltChange, HaltScope, HaltState, Raised};
use crate::log::jsonl::{Mirror, TornTail};
use crate::owner::Owner;
use crate::record::{Record, RunId};
use crate::run::{RunNote, RunRows};
use crate::scrub::Scrubbed;
use crate::state_dir::StateDir;
use crate::store::{MirrorState, Store};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// The database's name in the state directory.
pub(crate) const DATABASE: &str = "ledger.db";

/// A write-ahead log longer than this is written back and emptied when the store is opened, in bytes.
const LONG_WAL: u64 = 1 << 20;

/// A file of this name in the state directory halts every run for as long as it lies there.
pub const HALT_FLAG: &str = "HALT";

/// Keeps the ledger in one SQLite file, durable at every commit.
#[derive(Debug)]
pub struct SqliteStore {
    inner: Mutex<Inner>,
    owner: Owner,
    flag: PathBuf,
}

#[derive(Debug)]
struct Inner {
    connection: Connection,
    mirror: Mirror,
}

/// Says how to open the store.
#[derive(Clone, Copy, Debug)]
pub struct OpenOptions {
    /// The caller's clock: milliseconds since the epoch.
    pub now: i64,
    /// How long to wait for another process.
    pub busy: Duration,
    /// Charges open reservations older than this, whoever holds them.
    pub charge_older_than_ms: Option<i64>,
}

impl OpenOptions {
    /// Waits five seconds and charges only what is surely abandoned.
    #[must_use]
    pub const fn at(now: i64) -> Self {
        Self { now, busy: Duration::from_secs(5), charge_older_than_ms: None }
    }
}

/// Tells what opening found and put right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenReport {
    /// Reservations that were charged in full.
    pub charged: Vec<Charged>,
    /// The half-written end of the JSON Lines file that was repaired from the rows.
    pub torn_tail: Option<TornTail>,
}

/// Names a reservation that nobody settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charged {
    /// The reservation.
    pub reservation: ReservationId,
    /// The run it was made in.
    pub run: RunId,
    /// The record that made it.
    pub seq: u64,
}

impl SqliteStore {
    /// Opens the ledger of `dir`, making it if it is not there, and charges what was abandoned.
    ///
    /// # Errors
    /// [`StoreError`] when the file is not ours, damaged, of another version, or unusable.
    pub fn open(dir: &StateDir, options: OpenOptions) -> Result<(Self, OpenReport), StoreError> {
        if !dir.holds_private(DATABASE).map_err(|e| StoreError::CannotOpen(e.to_string()))? {
            schema::create(dir)?;
        }
        // What SQLite reads beside it is as good as the rows.
        for beside in ["-wal", "-shm"] {
            dir.holds_private(&format!("{DATABASE}{beside}")).map_err(|e| StoreError::CannotOpen(e.to_string()))?;
        }
        let wal = dir.path().join(format!("{DATABASE}-wal"));
        let unused = std::fs::metadata(&wal).map_or(0, |wal| wal.len()) == 0;
        let connection = connect(dir.path().join(DATABASE), OpenFlags::SQLITE_OPEN_READ_WRITE, options.busy)?;
        // Ours never syncs the directory, which SQLite would do anew for each process. Whoever finds the log unused
        // makes its name durable before anything is committed to it.
        if unused {
            dir.sync().map_err(|e| StoreError::CannotOpen(e.to_string()))?;
        }
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        shorten_wal(&connection, &wal, options.busy)?;
        let mirror = Mirror::new(dir.clone());
        let inner = Mutex::new(Inner { connection, mirror });
        let flag = dir.path().join(HALT_FLAG);
        let store = Self { inner, owner: Owner::this_process(), flag };
        let charged = store.charge_abandoned(options.now, options.charge_older_than_ms)?;
        let torn_tail = store.lock()?.mirror.torn_tail().cloned();
        Ok((store, OpenReport { charged, torn_tail }))
    }

    /// Charges in full what nobody can settle any more.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be written.
    pub fn charge_abandoned(&self, now: i64, older_than_ms: Option<i64>) -> Result<Vec<Charged>, StoreError> {
        let abandoned = settle::abandoned(&self.lock()?.connection, &self.owner, now, older_than_ms)?;
        if abandoned.is_empty() {
            self.lock()?.catch_up();
            return Ok(abandoned);
        }
        self.write(|tx| settle::charge(tx, abandoned))
    }

    /// Sets a JSON Lines file that contradicts the rows aside and writes it anew; returns where the
    /// old one is now.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be moved.
    pub fn rebuild_mirror(&self, now: i64) -> Result<PathBuf, StoreError> {
        let mut inner = self.lock()?;
        let aside = inner.mirror.set_aside(now).map_err(|e| StoreError::CannotOpen(e.to_string()))?;
        inner.catch_up();
        Ok(aside)
    }

    /// The halt that the flag file raises, if it is there, or if that cannot be told.
    fn flagged(&self) -> Option<Raised> {
        // The name counts, whatever it is: a link to nothing too.
        if self.flag.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            return None;
        }
        let reason = Scrubbed::fixed("the flag file `HALT` lies in the state directory");
        Some(Raised { scope: HaltScope::All, reason, by: Scrubbed::fixed("flag file"), since: 0 })
    }

    fn lock(&self) -> Result<MutexGuard<'_, Inner>, StoreError> {
        self.inner.lock().map_err(|_poisoned| StoreError::Poisoned)
    }

    /// Runs `work` in one transaction that takes the write lock at its beginning.
    fn write<T, E: From<StoreError>>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T, E>) -> Result<T, E> {
        let mut inner = self.lock()?;
        let tx =
            inner.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(StoreError::from)?;
        let done = work(&tx)?;
        tx.commit().map_err(StoreError::from)?;
        inner.catch_up();
        Ok(done)
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        work(&self.lock()?.connection)
    }
}

impl Inner {
    fn catch_up(&mut self) {
        self.mirror.catch_up(&self.connection);
    }
}

/// Opens a database of this schema version.
pub(crate) fn connect(path: PathBuf, mode: OpenFlags, busy: Duration) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(busy)?;
    schema::check(&connection)?;
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Writes a long write-ahead log back, and empties it.
///
/// A process that is alone reads the whole log to begin with, and forgets how much of it was written back before: with
/// a process for each call, as hooks are, SQLite's own checkpoint at commit would never let it start again, and every
/// call would take longer than the last.
fn shorten_wal(connection: &Connection, wal: &Path, busy: Duration) -> Result<(), StoreError> {
    if !std::fs::metadata(wal).is_ok_and(|wal| wal.len() > LONG_WAL) {
        return Ok(());
    }
    connection.busy_timeout(Duration::ZERO)?;
    // Somebody else at work, or a full disk, only leaves the log as long as it is: the next one tries again.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap_or_default();
    Ok(connection.busy_timeout(busy)?)
}

/// Appends the record's row and remembers what rides with it.
fn append_record(tx: &Transaction<'_>, record: &Record, notes: &[RunNote]) -> Result<Appended, StoreError> {
    let (seq, prev) = head(tx)?.map_or((0, Digest::GENESIS), |head| (head.seq, head.hash));
    let seq = seq.checked_add(1).ok_or(StoreError::TooLarge("seq"))?;
    let line = record.line(seq, &prev)?;
    let hash = Digest::of(&line);
    tx.prepare_cached("INSERT INTO record (seq, hash, ts, run, event, body) VALUES (?, ?, ?, ?, ?, ?)")?.execute(
        params![integer(seq, "seq")?, hash.bytes(), record.ts, record.run.as_str(), record.event.as_str(), line],
    )?;
    runs::note(tx, &record.run, seq, notes)?;
    Ok(Appended { seq, hash })
}

/// Reads the last record's place and hash.
pub(crate) fn head(connection: &Connection) -> Result<Option<Appended>, StoreError> {
    let row = connection
        .prepare_cached("SELECT seq, hash FROM record ORDER BY seq DESC LIMIT 1")?
        .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))
        .optional()?;
    row.map(|(seq, hash)| Ok(Appended { seq: natural(seq, "record")?, hash: digest(&hash, "record")? })).transpose()
}

fn integer(value: u64, what: &'static str) -> Result<i64, StoreError> {
    i64::try_from(value).map_err(|_| StoreError::TooLarge(what))
}

fn natural(value: i64, table: &'static str) -> Result<u64, StoreError> {
    u64::try_from(value).map_err(|_| StoreError::BadRow(table))
}

fn digest(raw: &[u8], table: &'static str) -> Result<Digest, StoreError> {
    Digest::from_slice(raw).ok_or(StoreError::BadRow(table))
}

fn scrubbed(json: &str, table: &'static str) -> Result<Scrubbed, StoreError> {
    serde_json::from_str(json).map(Scrubbed::from_store).map_err(|_| StoreError::BadRow(table))
}

fn run_id(raw: &str, table: &'static str) -> Result<RunId, StoreError> {
    RunId::parse(raw).map_err(|_| StoreError::BadRow(table))
}

impl Store for SqliteStore {
    fn admit(&self, admission: &Admission) -> Result<Receipt, AdmitError> {
        match self.flagged() {
            Some(raised) => Err(AdmitError::Halted(Box::new(raised))),
            None => self.write(|tx| admit::admit(tx, &self.owner, admission)),
        }
    }

    fn settle(&self, settlement: &Settlement) -> Result<Settled, SettleError> {
        self.write(|tx| settle::settle(tx, settlement))
    }

    fn append(&self, record: &Record, notes: &[RunNote]) -> Result<Appended, StoreError> {
        self.write(|tx| append_record(tx, record, notes))
    }

    fn put_pending(&self, row: &PendingRow, record: &Record, notes: &[RunNote]) -> Result<Appended, ApprovalError> {
        self.write(|tx| {
            approvals::put_pending(tx, row)?;
            Ok(append_record(tx, record, notes)?)
        })
    }

    fn list_pending(&self, now: i64) -> Result<Vec<PendingRow>, StoreError> {
        self.read(|connection| approvals::list(connection, now))
    }

    fn pending(&self, id: &PendingId, now: i64) -> Result<Option<(PendingRow, PendingState)>, StoreError> {
        self.read(|connection| approvals::pending(connection, id, now))
    }

    fn put_approval(&self, row: &ApprovalRow, record: &Record) -> Result<Appended, ApprovalError> {
        self.write(|tx| {
            approvals::put_approval(tx, row, record.ts)?;
            Ok(append_record(tx, record, &[])?)
        })
    }

    fn put_denial(&self, id: &PendingId, reason: &Scrubbed, record: &Record) -> Result<Appended, ApprovalError> {
        self.write(|tx| {
            approvals::put_denial(tx, id, reason, record.ts)?;
            Ok(append_record(tx, record, &[])?)
        })
    }

    fn approval_for(&self, key: &ApprovalKey, now: i64) -> Result<Option<ApprovalRow>, StoreError> {
        self.read(|connection| approvals::find(connection, key, now))
    }

    fn raise_halt(&self, change: &HaltChange) -> Result<HaltState, StoreError> {
        self.write(|tx| halts::change(tx, change, halts::Change::Raise))
    }

    fn clear_halt(&self, change: &HaltChange) -> Result<HaltState, StoreError> {
        self.write(|tx| halts::change(tx, change, halts::Change::Clear))
    }

    fn halt_state(&self, scope: &HaltScope) -> Result<HaltState, StoreError> {
        let mut state = self.read(|connection| halts::state(connection, scope))?;
        if state.raised.is_none() {
            state.raised = self.flagged();
        }
        Ok(state)
    }

    fn take_advice(&self, session: &str, tool_use_id: &str) -> Result<AdviceRow, AdviceError> {
        self.write(|tx| admit::take_advice(tx, session, tool_use_id))
    }

    fn load_run(&self, run: &RunId, calls: usize) -> Result<RunRows, StoreError> {
        // One look at all tables: rows of two moments would not fit each other.
        self.read(|connection| runs::load(&*connection.unchecked_transaction()?, run, calls))
    }

    fn budgets(&self, scope: &str) -> Result<Vec<BudgetRow>, StoreError> {
        self.read(|connection| settle::budgets(connection, scope))
    }

    fn mirror(&self) -> MirrorState {
        match self.lock() {
            Ok(inner) => inner.mirror.state().clone(),
            Err(error) => MirrorState::Behind(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::verify;
    use crate::record::Event;

    fn record() -> Record {
        Record { ts: 1, run: RunId::none(), event: Event::RunStart, data: Scrubbed::fixed("x") }
    }

    fn store() -> (tempfile::TempDir, StateDir, SqliteStore) {
        let base = tempfile::tempdir().unwrap();
        let dir = StateDir::open_or_create(&base.path().join("s")).unwrap();
        let store = SqliteStore::open(&dir, OpenOptions::at(1)).unwrap().0;
        (base, dir, store)
    }

    fn say(store: &SqliteStore, sql: &str) {
        store.lock().unwrap().connection.execute_batch(sql).unwrap();
    }

    /// The database's own limit stands in for the disk: the error and its way are the same.
    #[test]
    fn a_full_disk_is_a_typed_error_and_changes_nothing() {
        let (_base, dir, store) = store();
        say(&store, "PRAGMA max_page_count = 1");
        let mut durable = 0;
        let refused = loop {
            match store.append(&record(), &[]) {
                Ok(appended) => durable = appended.seq,
                Err(error) => break error,
            }
        };
        assert_eq!(refused, StoreError::Full);
        say(&store, "PRAGMA max_page_count = 100000");
        assert_eq!(store.append(&record(), &[]).unwrap().seq, durable + 1);
        assert!(verify(&dir).unwrap().is_sound());
    }

    #[test]
    fn a_ledger_that_cannot_be_written_is_a_typed_error() {
        let (_base, dir, store) = store();
        say(&store, "PRAGMA query_only = ON");
        assert_eq!(store.append(&record(), &[]), Err(StoreError::ReadOnly));
        assert_eq!(verify(&dir).unwrap().records, 0);
    }

    #[test]
    fn every_commit_is_synced_and_rows_are_never_changed() {
        let (_base, _dir, store) = store();
        let inner = store.lock().unwrap();
        let pragma = |name| inner.connection.pragma_query_value(None, name, |row| row.get::<_, String>(0));
        let number = |name| inner.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        assert_eq!((pragma("journal_mode").unwrap().as_str(), number("synchronous").unwrap()), ("wal", 2));
        drop(inner);
        store.append(&record(), &[]).unwrap();
        let inner = store.lock().unwrap();
        assert!(inner.connection.execute("UPDATE record SET ts = 2", []).is_err());
        assert!(inner.connection.execute("DELETE FROM record", []).is_err());
    }
}
