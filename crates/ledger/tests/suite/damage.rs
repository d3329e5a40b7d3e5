//! What was changed is found, what was torn is named, and bad files are errors, never panics.

use crate::support::*;
use rusqlite::params;
use std::os::unix::fs::PermissionsExt;
use tollgate_ledger::log::{Disagreement, Filter, LogError, Source, TornTail, Why, query, show, verify, verify_file};
use tollgate_ledger::*;

const COUNT: usize = 12;

fn written() -> Home {
    let home = Home::new();
    let store = home.open();
    for n in 0..COUNT {
        let mut one = record(Event::ALL[n].0);
        one.data = Scrubber::formats_only().scrub_value(&serde_json::json!({"n": n, "text": "é\n"}));
        store.append(&one, &[]).unwrap();
    }
    drop(store);
    home
}

fn lines(home: &Home) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(home.file("audit.jsonl")).unwrap();
    bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
}

fn put(home: &Home, lines: &[Vec<u8>]) {
    std::fs::write(home.file("audit.jsonl"), lines.concat()).unwrap();
}

fn head(home: &Home) -> Digest {
    verify(&home.dir).unwrap().head.unwrap().hash
}

#[test]
fn an_untouched_log_verifies_from_rows_and_from_the_file_alone() {
    let home = written();
    let report = verify(&home.dir).unwrap();
    assert!(report.is_sound() && report.torn_tail.is_none() && report.disagreement.is_none());
    assert_eq!(report.records, COUNT as u64);
    let alone = verify_file(&home.file("audit.jsonl"), report.head.map(|head| head.hash)).unwrap();
    assert_eq!(alone, report);
}

#[test]
fn a_process_for_each_record_leaves_no_log_that_grows_without_end() {
    let home = Home::new();
    let mut longest = 0;
    for _ in 0..300 {
        home.open().append(&record(Event::Decision), &[]).unwrap();
        longest = longest.max(std::fs::metadata(home.file("ledger.db-wal")).unwrap().len());
    }
    assert!((1 << 20..5 << 18).contains(&longest), "the longest write-ahead log had {longest} bytes");
    assert_eq!(verify(&home.dir).unwrap().records, 300);
}

#[test]
fn an_empty_ledger_verifies() {
    let home = Home::new();
    drop(home.open());
    assert_eq!(verify(&home.dir).unwrap(), log::Report::default());
}

#[test]
fn a_flipped_bit_in_any_byte_of_the_file_is_found_where_it_is() {
    let home = written();
    let whole = lines(&home);
    let head = head(&home);
    for (index, line) in whole.iter().enumerate() {
        for byte in 0..line.len() - 1 {
            let mut changed = whole.clone();
            changed[index][byte] ^= 1;
            put(&home, &changed);
            let seq = index as u64 + 1;
            let report = verify(&home.dir).unwrap();
            assert_eq!(report.disagreement, Some(Disagreement::Differs { seq }), "byte {byte}");
            let alone = verify_file(&home.file("audit.jsonl"), Some(head)).unwrap();
            let bad = alone.first_bad.unwrap();
            assert!(bad.seq == seq || bad.seq == seq + 1, "byte {byte} of {seq}: {bad:?}");
        }
    }
}

#[test]
fn a_flipped_bit_in_any_row_is_found_where_it_is() {
    let home = written();
    let raw = home.raw();
    for seq in 1..=COUNT as i64 {
        let body: Vec<u8> = raw.query_row("SELECT body FROM record WHERE seq = ?", [seq], |row| row.get(0)).unwrap();
        for byte in (0..body.len()).step_by(7) {
            let mut changed = body.clone();
            changed[byte] ^= 1;
            raw.execute("UPDATE record SET body = ? WHERE seq = ?", params![changed, seq]).unwrap();
            let bad = verify(&home.dir).unwrap().first_bad.unwrap();
            assert_eq!((bad.seq as i64, bad.why, bad.found_in), (seq, Why::Hash, Source::Rows));
        }
        raw.execute("UPDATE record SET body = ? WHERE seq = ?", params![body, seq]).unwrap();
    }
    assert!(verify(&home.dir).unwrap().is_sound());
}

#[test]
fn a_row_changed_together_with_its_hash_breaks_the_chain_after_it() {
    let home = written();
    let raw = home.raw();
    let body: Vec<u8> = raw.query_row("SELECT body FROM record WHERE seq = 4", [], |row| row.get(0)).unwrap();
    let forged = String::from_utf8(body).unwrap().replace("\"n\":3", "\"n\":8").into_bytes();
    let hash = Digest::of(&forged);
    raw.execute("UPDATE record SET body = ?, hash = ? WHERE seq = 4", params![forged, hash.bytes()]).unwrap();
    let report = verify(&home.dir).unwrap();
    assert_eq!(report.first_bad.map(|bad| (bad.seq, bad.why)), Some((5, Why::Prev)));
    assert_eq!(report.disagreement, Some(Disagreement::Differs { seq: 4 }));
}

#[test]
fn columns_that_queries_go_by_cannot_say_something_else() {
    for column in ["run = 'other'", "event = 'run_end'", "ts = 5"] {
        let home = written();
        home.raw().execute(&format!("UPDATE record SET {column} WHERE seq = 3"), []).unwrap();
        let bad = verify(&home.dir).unwrap().first_bad.unwrap();
        assert_eq!((bad.seq, bad.why), (3, Why::Columns), "{column}");
    }
}

#[test]
fn a_record_taken_out_is_found() {
    let home = written();
    home.raw().execute("DELETE FROM record WHERE seq = 6", []).unwrap();
    let bad = verify(&home.dir).unwrap().first_bad.unwrap();
    assert_eq!((bad.seq, bad.why), (6, Why::Seq(7)));
}

#[test]
fn records_cut_off_the_rows_show_against_the_file() {
    let home = written();
    home.raw().execute("DELETE FROM record WHERE seq > 9", []).unwrap();
    let report = verify(&home.dir).unwrap();
    assert_eq!(report.disagreement, Some(Disagreement::FileAhead { rows: 9, more: 3 }));
    assert!(!report.is_sound());
    let store = home.open();
    assert!(matches!(store.mirror(), MirrorState::Contradicts(_)));
    store.append(&record(Event::RunEnd), &[]).unwrap();
    assert_eq!(lines(&home).len(), COUNT, "the file is evidence and stays as it was");
}

#[test]
fn lines_cut_off_the_file_are_named_and_put_back() {
    let home = written();
    let whole = lines(&home);
    for keep in 0..COUNT {
        put(&home, &whole[..keep]);
        let report = verify(&home.dir).unwrap();
        let (file, rows) = (keep as u64, COUNT as u64);
        assert_eq!(report.disagreement, Some(Disagreement::FileBehind { file, rows }));
        drop(home.open());
        assert_eq!(lines(&home), whole);
    }
    std::fs::remove_file(home.file("audit.jsonl")).unwrap();
    assert_eq!(verify(&home.dir).unwrap().disagreement, Some(Disagreement::FileBehind { file: 0, rows: 12 }));
    drop(home.open());
    assert_eq!(lines(&home), whole);
}

#[test]
fn a_torn_tail_of_any_length_is_named_and_repaired() {
    let home = written();
    let whole = lines(&home);
    let last = &whole[COUNT - 1];
    for cut in 1..last.len() {
        let mut torn = whole.clone();
        torn[COUNT - 1].truncate(cut);
        put(&home, &torn);
        let tail = TornTail { after_seq: COUNT as u64 - 1, bytes: cut as u64 };
        let report = verify(&home.dir).unwrap();
        assert_eq!((report.torn_tail.as_ref(), report.is_sound()), (Some(&tail), true));
        assert_eq!(verify_file(&home.file("audit.jsonl"), None).unwrap().torn_tail.as_ref(), Some(&tail));
        let opened = SqliteStore::open(&home.dir, OpenOptions::at(NOW)).unwrap().1;
        assert_eq!(opened.torn_tail, Some(tail));
        assert_eq!(lines(&home), whole);
    }
}

#[test]
fn a_long_last_line_is_read_whole_when_the_store_opens() {
    let home = written();
    let texts = vec!["x".repeat(8000); 30];
    let long =
        Record { data: Scrubber::formats_only().scrub_value(&serde_json::json!(texts)), ..record(Event::Config) };
    home.open().append(&long, &[]).unwrap();
    let whole = lines(&home);
    assert!(whole[COUNT].len() > 200_000);
    for cut in [0, 1, 50_000] {
        put(&home, &[whole[..COUNT].concat(), whole[COUNT][..whole[COUNT].len() - cut].to_vec()]);
        assert_eq!(home.open().mirror(), MirrorState::Current(COUNT as u64 + 1));
        assert_eq!(lines(&home), whole);
    }
}

#[test]
fn a_tail_of_zeros_after_a_power_cut_is_torn_too() {
    let home = written();
    let whole = lines(&home);
    put(&home, &[whole.concat(), vec![0; 500]]);
    assert_eq!(home.open().mirror(), MirrorState::Current(COUNT as u64));
    assert_eq!(lines(&home), whole);
}

#[test]
fn a_tail_that_no_crash_leaves_is_kept_as_it_is() {
    let home = written();
    let whole = lines(&home);
    put(&home, &[whole.concat(), b"{\"data\":\"forged".to_vec()]);
    assert!(matches!(home.open().mirror(), MirrorState::Contradicts(_)));
    assert!(lines(&home).concat().ends_with(b"forged"));
    let aside = home.open().rebuild_mirror(NOW).unwrap();
    assert!(std::fs::read(aside).unwrap().ends_with(b"forged"));
    assert_eq!(lines(&home), whole);
}

#[test]
fn random_bytes_are_no_log_and_no_panic() {
    let home = written();
    for bytes in [vec![0xff; 3], vec![b'\n'; 9], vec![b'x'; 2 * MAX_LINE_BYTES], b"{}\n[]\n".to_vec()] {
        std::fs::write(home.file("audit.jsonl"), &bytes).unwrap();
        assert!(verify(&home.dir).unwrap().records == COUNT as u64);
        let alone = verify_file(&home.file("audit.jsonl"), None).unwrap();
        assert!(alone.records == 0 && (alone.first_bad.is_some() || alone.torn_tail.is_some()));
        assert!(matches!(home.open().mirror(), MirrorState::Contradicts(_)));
    }
}

#[test]
fn a_database_of_random_bytes_is_a_typed_error() {
    for bytes in [vec![0xaa; 4096], b"SQLite format 3\0 and then nothing of the kind".repeat(200)] {
        let home = written();
        std::fs::write(home.file("ledger.db"), &bytes).unwrap();
        let opened = SqliteStore::open(&home.dir, OpenOptions::at(NOW));
        assert!(matches!(opened, Err(StoreError::Corrupt(_) | StoreError::NotALedger(_))), "{opened:?}");
        assert!(verify(&home.dir).is_err());
    }
}

#[test]
fn damage_inside_the_database_is_a_finding_and_a_refusal() {
    let home = written();
    home.raw().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let mut bytes = std::fs::read(home.file("ledger.db")).unwrap();
    let len = bytes.len();
    bytes[4096..len].fill(0x55);
    std::fs::write(home.file("ledger.db"), &bytes).unwrap();
    let opened = SqliteStore::open(&home.dir, OpenOptions::at(NOW));
    assert!(matches!(opened, Err(StoreError::Corrupt(_))), "{opened:?}");
    assert!(!verify(&home.dir).is_ok_and(|report| report.is_sound()));
}

#[test]
fn another_database_and_another_version_are_refused() {
    let home = written();
    home.raw().execute_batch("PRAGMA user_version = 99").unwrap();
    let opened = SqliteStore::open(&home.dir, OpenOptions::at(NOW)).map(|_| ());
    assert_eq!(opened, Err(StoreError::UnknownSchema { found: 99, known: 1 }));
    home.raw().execute_batch("PRAGMA application_id = 7").unwrap();
    assert_eq!(SqliteStore::open(&home.dir, OpenOptions::at(NOW)).map(|_| ()), Err(StoreError::NotALedger(7)));
    let empty = Home::new();
    std::fs::write(empty.file("ledger.db"), "").unwrap();
    std::fs::set_permissions(empty.file("ledger.db"), std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(SqliteStore::open(&empty.dir, OpenOptions::at(NOW)).map(|_| ()), Err(StoreError::NotALedger(0)));
}

#[test]
fn a_locked_ledger_is_a_typed_error_and_changes_nothing() {
    let home = written();
    let options = OpenOptions { busy: std::time::Duration::ZERO, ..OpenOptions::at(NOW) };
    let (store, _) = SqliteStore::open(&home.dir, options).unwrap();
    let raw = home.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(store.admit(&admission(vec![])), Err(AdmitError::Store(StoreError::Locked)));
    assert_eq!(store.append(&record(Event::RunEnd), &[]), Err(StoreError::Locked));
    raw.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.admit(&admission(vec![])).unwrap().seq(), COUNT as u64 + 1);
}

#[test]
fn every_file_is_for_its_owner_only() {
    let home = written();
    let store = home.open();
    store.append(&record(Event::RunEnd), &[]).unwrap();
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(home.dir.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o7777, 0o600, "{entry:?}");
        seen.push(entry.file_name().into_string().unwrap());
    }
    seen.sort();
    assert_eq!(seen, ["audit.jsonl", "ledger.db", "ledger.db-shm", "ledger.db-wal"]);
}

#[test]
fn a_ledger_that_others_can_read_is_refused() {
    let home = written();
    std::fs::set_permissions(home.file("ledger.db"), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(SqliteStore::open(&home.dir, OpenOptions::at(NOW)), Err(StoreError::CannotOpen(_))));
}

#[test]
fn a_missing_ledger_is_named() {
    let home = Home::new();
    assert!(matches!(verify(&home.dir), Err(LogError::Missing(_))));
    assert!(matches!(query(&home.dir, &Filter::default()), Err(LogError::Missing(_))));
    assert!(matches!(verify_file(&home.file("audit.jsonl"), None), Err(LogError::Io { .. })));
}

#[test]
fn records_are_found_by_run_event_time_and_place() {
    let home = written();
    let store = home.open();
    let other = Record { ts: NOW + 50, run: run("r2"), ..record(Event::Halt) };
    store.append(&other, &[]).unwrap();
    let seqs =
        |filter: Filter| -> Vec<u64> { query(&home.dir, &filter).unwrap().iter().map(|record| record.seq).collect() };
    let all = Filter::default;
    assert_eq!(seqs(all()), (1..=13).collect::<Vec<u64>>());
    assert_eq!(seqs(Filter { run: Some(run("r2")), ..all() }), [13]);
    assert_eq!(seqs(Filter { event: Some(Event::Decision), ..all() }), [6]);
    assert_eq!(seqs(Filter { since: Some(NOW + 1), ..all() }), [13]);
    assert_eq!(seqs(Filter { until: Some(NOW + 1), after_seq: 10, ..all() }), [11, 12]);
    assert_eq!(seqs(Filter { limit: 2, ..all() }), [12, 13]);
    let shown = show(&home.dir, 6).unwrap().unwrap();
    assert_eq!((shown.event, shown.data.value()["n"].as_u64()), (Event::Decision, Some(5)));
    assert!(show(&home.dir, 99).unwrap().is_none() && show(&home.dir, 0).unwrap().is_none());
}

#[test]
fn the_mirror_catches_up_after_it_could_not_be_written() {
    let home = written();
    let store = home.open();
    let whole = lines(&home).len();
    std::fs::remove_file(home.file("audit.jsonl")).unwrap();
    std::fs::create_dir(home.file("audit.jsonl")).unwrap();
    store.append(&record(Event::RunEnd), &[]).unwrap();
    assert!(matches!(store.mirror(), MirrorState::Behind(_)));
    std::fs::remove_dir(home.file("audit.jsonl")).unwrap();
    store.append(&record(Event::RunEnd), &[]).unwrap();
    assert_eq!((lines(&home).len(), store.mirror()), (whole + 2, MirrorState::Current(14)));
}
