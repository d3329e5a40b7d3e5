//! What the suites share: a clock that is an argument, and short ways to say common things.

use serde_json::json;
use tollgate_ledger::{
    Admission, BudgetLine, Digest, Event, Hold, OpenOptions, PendingId, PendingRow, Record, RunId, Scrubber,
    SqliteStore, StateDir, Store,
};

/// The time at which every story begins.
pub(crate) const NOW: i64 = 1_750_000_000_000;

/// Keeps a state directory for the length of a test.
pub(crate) struct Home {
    _base: tempfile::TempDir,
    pub(crate) dir: StateDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        let dir = StateDir::open_or_create(&base.path().join("state")).unwrap();
        Self { _base: base, dir }
    }

    pub(crate) fn open(&self) -> SqliteStore {
        open(&self.dir)
    }

    pub(crate) fn file(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    /// Opens the database behind the store's back.
    pub(crate) fn raw(&self) -> rusqlite::Connection {
        let raw = rusqlite::Connection::open(self.file("ledger.db")).unwrap();
        raw.execute_batch(
            "DROP TRIGGER IF EXISTS record_is_never_changed; DROP TRIGGER IF EXISTS record_is_never_deleted;",
        )
        .unwrap();
        raw
    }
}

pub(crate) fn open(dir: &StateDir) -> SqliteStore {
    SqliteStore::open(dir, OpenOptions::at(NOW)).unwrap().0
}

pub(crate) fn run(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

pub(crate) fn pending_id(name: &str) -> PendingId {
    PendingId::parse(name).unwrap()
}

pub(crate) fn record(event: Event) -> Record {
    let data = Scrubber::formats_only().scrub_value(&json!({"note": "test"}));
    Record { ts: NOW, run: run("r1"), event, data }
}

pub(crate) fn line(scope: &str, counter: &str, amount: u64, cap: Option<u64>) -> BudgetLine {
    BudgetLine { scope: scope.into(), counter: counter.into(), amount, cap }
}

pub(crate) fn admission(lines: Vec<BudgetLine>) -> Admission {
    Admission {
        halt_generation: 0,
        approval: None,
        lines,
        hold: Hold::Process,
        advice: None,
        notes: Vec::new(),
        record: record(Event::Decision),
    }
}

pub(crate) fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

/// Stores a call that waits for ten minutes, its digest that of its id.
pub(crate) fn put_pending(store: &dyn Store, id: &str) {
    let row = PendingRow {
        id: pending_id(id),
        run: run("r1"),
        digest: digest(id),
        rendered: Scrubber::formats_only().scrub_text("rm tmp.txt"),
        created: NOW,
        expires: NOW + 600_000,
    };
    store.put_pending(&row, &record(Event::Decision), &[]).unwrap();
}
