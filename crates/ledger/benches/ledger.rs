//! What remembering costs. `TMPDIR` says on which file system; an fsync is part of every append.
#![expect(clippy::expect_used, reason = "a bench that cannot be set up has nothing to measure")]

use divan::counter::{BytesCount, ItemsCount};
use std::fmt::Write as _;
use std::io::Write as _;
use tollgate_ledger::log::{verify, verify_file};
use tollgate_ledger::{
    Admission, BudgetLine, Digest, Event, Hold, OpenOptions, Record, RunId, Scrubbed, Scrubber, SqliteStore, StateDir,
    Store,
};

const NOW: i64 = 1_750_000_000_000;

fn main() {
    divan::main();
}

struct Home {
    _base: tempfile::TempDir,
    dir: StateDir,
}

fn home() -> Home {
    let base = tempfile::tempdir().expect("a temporary directory");
    let dir = StateDir::open_or_create(&base.path().join("state")).expect("a state directory");
    Home { _base: base, dir }
}

fn open(home: &Home) -> SqliteStore {
    SqliteStore::open(&home.dir, OpenOptions::at(NOW)).expect("a store").0
}

fn record() -> Record {
    let call =
        serde_json::json!({"tool": "run_bash", "args": {"command": "cargo test -p parser"}, "decision": "allow"});
    let data = Scrubber::formats_only().scrub_value(&call);
    Record { ts: NOW, run: RunId::parse("01bench").expect("a run"), event: Event::Decision, data }
}

fn admission() -> Admission {
    let line = |scope: &str, counter: &str| BudgetLine {
        scope: scope.into(),
        counter: counter.into(),
        amount: 1,
        cap: Some(u64::MAX >> 2),
    };
    let lines = vec![line("run:01bench", "calls"), line("run:01bench", "calls:run_bash"), line("user", "calls")];
    let (notes, record) = (Vec::new(), record());
    Admission {
        halt_generation: 0,
        approval: None,
        lines,
        hold: Hold::Until(NOW + 600_000),
        advice: None,
        notes,
        record,
    }
}

/// Writes a million chained records as the store would, without an fsync for each.
fn million() -> Home {
    let home = home();
    drop(open(&home));
    let mut raw = rusqlite::Connection::open(home.dir.path().join("ledger.db")).expect("the database");
    let tx = raw.transaction().expect("a transaction");
    let mut file = std::io::BufWriter::new(std::fs::File::create(home.dir.path().join("audit.jsonl")).expect("a file"));
    let mut prev = Digest::GENESIS;
    for seq in 1..=1_000_000_i64 {
        let mut line = String::new();
        write!(
            line,
            r#"{{"data":{{"args":{{"command":"cargo test -p parser"}},"decision":"allow","tool":"run_bash"}},"event":"decision","prev":"{prev}","run":"01bench","seq":{seq},"ts":{NOW},"v":1}}"#
        )
        .expect("a line");
        prev = Digest::of(line.as_bytes());
        let sql = "INSERT INTO record (seq, hash, ts, run, event, body) VALUES (?, ?, ?, '01bench', 'decision', ?)";
        let values = rusqlite::params![seq, prev.bytes(), NOW, line.as_bytes()];
        tx.prepare_cached(sql).and_then(|mut insert| insert.execute(values)).expect("a row");
        file.write_all(line.as_bytes()).and_then(|()| file.write_all(b"\n")).expect("a line");
    }
    tx.commit().expect("a commit");
    file.flush().expect("a flush");
    home
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn verify_a_million_rows_and_their_file(bencher: divan::Bencher<'_, '_>) {
    let home = million();
    bencher.counter(ItemsCount::new(1_000_000_u32)).bench_local(|| {
        let report = verify(&home.dir).expect("a report");
        assert!(report.is_sound() && report.records == 1_000_000 && report.disagreement.is_none());
    });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn verify_a_million_lines_alone(bencher: divan::Bencher<'_, '_>) {
    let home = million();
    bencher.counter(ItemsCount::new(1_000_000_u32)).bench_local(|| {
        let report = verify_file(&home.dir.path().join("audit.jsonl"), None).expect("a report");
        assert!(report.is_sound() && report.records == 1_000_000);
    });
}

#[divan::bench]
fn admit_durably(bencher: divan::Bencher<'_, '_>) {
    let home = home();
    let store = open(&home);
    let admission = admission();
    bencher.bench_local(|| store.admit(&admission).expect("a receipt"));
}

/// What a hook process does: open, read the run and the halt, admit, leave.
#[divan::bench]
fn open_and_admit_durably(bencher: divan::Bencher<'_, '_>) {
    let home = home();
    let first = open(&home);
    let admission = admission();
    bencher.bench_local(|| {
        let store = open(&home);
        store.load_run(&admission.record.run, 50).expect("the run");
        store.admit(&admission).expect("a receipt")
    });
    drop(first);
}

#[divan::bench]
fn scrub_eight_kilobytes_of_source(bencher: divan::Bencher<'_, '_>) {
    let names: Vec<String> = (0..20).map(|n| format!("secret-value-number-{n}")).collect();
    let scrubber = Scrubber::new(names.iter().map(|name| ("S", name.as_str())));
    let text: String = include_str!("../src/store.rs").chars().cycle().take(8000).collect();
    bencher.counter(BytesCount::new(text.len())).bench_local(|| -> Scrubbed { scrubber.scrub_text(&text) });
}
