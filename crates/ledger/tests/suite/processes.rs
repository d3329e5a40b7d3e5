//! Processes that race, and processes that are killed.
//!
//! This program starts itself again: a child is the test `the_child_does_its_part`, told by the
//! environment what its part is.

use crate::support::*;
use proptest::prelude::*;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tollgate_ledger::*;

const PART: &str = "LEDGER_SUITE_PART";
const STATE: &str = "LEDGER_SUITE_STATE";
const RECORDS: usize = 200;

fn spawn(part: &str, state: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "processes::the_child_does_its_part", "--nocapture", "--test-threads=1"])
        .env(PART, part)
        .env(STATE, state)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "started by the other tests, as the processes that race and die"]
fn the_child_does_its_part() {
    let part = std::env::var(PART).unwrap();
    let dir = StateDir::open_or_create(Path::new(&std::env::var(STATE).unwrap())).unwrap();
    match part.as_str() {
        "redeem" => redeem(&dir),
        "write" => write_records(&dir),
        "reserve" => reserve(&dir),
        "fill" => fill(&dir),
        "read-only" => read_only(&dir),
        other => panic!("no part `{other}`"),
    }
}

/// Says it is ready, waits for the start, tries once.
fn redeem(dir: &StateDir) {
    let store = open(dir);
    println!("\nready");
    std::io::stdin().read_exact(&mut [0]).unwrap();
    let (pending, digest, nonce) = (pending_id("p"), digest("p"), b"n".to_vec());
    let used = ApprovalUse::Stored { pending, digest, nonce };
    let outcome = store.admit(&Admission { approval: Some(used), ..admission(vec![]) });
    println!("{}", if outcome.is_ok() { "won" } else { "lost" });
    if let Err(error) = outcome {
        assert_eq!(error, AdmitError::ApprovalSpent(pending_id("p")));
    }
}

/// Admits and settles, and says after each that it is durable.
fn write_records(dir: &StateDir) {
    let store = open(dir);
    println!();
    for _ in 0..RECORDS / 2 {
        let receipt = store.admit(&admission(vec![line("user", "calls", 1, None)])).unwrap();
        println!("{}", receipt.seq());
        let (reservation, record) = (receipt.reservation(), record(Event::ToolResult));
        let settled = store.settle(&Settlement { reservation, actual: vec![], notes: vec![], record }).unwrap();
        println!("{}", settled.record.seq);
    }
}

/// Reserves, and waits to be killed.
fn reserve(dir: &StateDir) {
    open(dir).admit(&admission(vec![line("user", "calls", 3, None)])).unwrap();
    println!("\nready");
    std::io::stdin().read_exact(&mut [0]).unwrap();
}

/// Writes until the disk is full, and looks at what is left.
fn fill(dir: &StateDir) {
    let store = open(dir);
    let mut durable = 0;
    let refused = loop {
        match store.admit(&admission(vec![line("user", "calls", 1, None)])) {
            Ok(receipt) => durable = receipt.seq(),
            Err(error) => break error,
        }
    };
    assert_eq!(refused, AdmitError::Store(StoreError::Full));
    let report = log::verify(dir).unwrap();
    assert!(report.is_sound() && report.records == durable && durable > 0, "{durable}: {report:?}");
    assert_eq!(store.budgets("user").unwrap()[0].reserved, durable);
}

/// Finds the same ledger on a file system that has become read-only.
fn read_only(dir: &StateDir) {
    let refused =
        SqliteStore::open(dir, OpenOptions::at(NOW)).and_then(|(store, _)| store.append(&record(Event::RunEnd), &[]));
    assert!(matches!(refused, Err(StoreError::ReadOnly | StoreError::CannotOpen(_))), "{refused:?}");
}

/// Mounts a small disk where only this script sees it, fills it, and makes it read-only.
const SMALL_DISK: &str = r#"
    mount -t tmpfs -o size=768k,mode=700 none "$STATE" || exit 77
    export LEDGER_SUITE_STATE="$STATE"
    child() { LEDGER_SUITE_PART="$1" "$SUITE" --ignored --exact processes::the_child_does_its_part --nocapture; }
    child fill || exit 1
    mount -o remount,ro none "$STATE" || exit 77
    child read-only || exit 2
"#;

#[test]
fn a_full_or_read_only_disk_refuses_and_keeps_what_was_durable() {
    let home = Home::new();
    let outcome = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", SMALL_DISK])
        .env("STATE", home.dir.path())
        .env("SUITE", std::env::current_exe().unwrap())
        .output();
    match outcome {
        Err(error) => println!("skipped: no `unshare` to mount a small disk with: {error}"),
        Ok(output)
            if output.status.code() == Some(77) || String::from_utf8_lossy(&output.stderr).contains("unshare") =>
        {
            println!("skipped: a small disk cannot be mounted here: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

fn wait_for(child: &mut Child, word: &str) -> BufReader<std::process::ChildStdout> {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while line.trim() != word {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "the child ended before it said `{word}`");
    }
    out
}

#[test]
fn of_many_processes_with_one_approval_exactly_one_wins() {
    let home = Home::new();
    let store = home.open();
    for round in 0..3 {
        // The row of the round before is spent, so each round has its own state.
        let dir = home.file(&format!("round{round}"));
        let state = StateDir::open_or_create(&dir).unwrap();
        let store = open(&state);
        put_pending(&store, "p");
        let row = ApprovalRow {
            pending: pending_id("p"),
            digest: digest("p"),
            nonce: b"n".to_vec(),
            expires: NOW + 1000,
            signature: vec![],
        };
        store.put_approval(&row, &record(Event::Approval)).unwrap();
        let mut racers: Vec<Child> = (0..6).map(|_| spawn("redeem", &dir)).collect();
        let outs: Vec<_> = racers.iter_mut().map(|racer| wait_for(racer, "ready")).collect();
        let starts: Vec<_> = racers.iter_mut().map(|racer| racer.stdin.take().unwrap()).collect();
        for mut start in starts {
            std::io::Write::write_all(&mut start, b"!").unwrap();
        }
        let mut won = 0;
        for (mut racer, mut out) in racers.into_iter().zip(outs) {
            let mut said = String::new();
            out.read_to_string(&mut said).unwrap();
            assert!(racer.wait().unwrap().success(), "{said}");
            won += said.lines().filter(|line| *line == "won").count();
        }
        assert_eq!(won, 1);
        assert!(log::verify(&state).unwrap().is_sound());
    }
    drop(store);
}

/// Kills a child after it said `after` records are durable, plus whatever it does until the signal.
fn kill_after(home: &Home, after: usize) -> u64 {
    let mut child = spawn("write", home.dir.path());
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut durable = 0;
    let mut line = String::new();
    let mut said = 0;
    while said < after && out.read_line(&mut line).unwrap() > 0 {
        if let Ok(seq) = line.trim().parse() {
            durable = seq;
            said += 1;
        }
        line.clear();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    rest.lines().filter_map(|line| line.trim().parse().ok()).max().unwrap_or(durable).max(durable)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn a_killed_writer_leaves_a_log_that_verifies(after in 0_usize..RECORDS) {
        let home = Home::new();
        drop(home.open());
        let durable = kill_after(&home, after);
        let report = log::verify(&home.dir).unwrap();
        prop_assert!(report.is_sound(), "{:?}", report);
        prop_assert!(report.records >= durable, "{} was said to be durable: {:?}", durable, report);

        let (store, opened) = SqliteStore::open(&home.dir, OpenOptions::at(NOW)).unwrap();
        prop_assert_eq!(&opened.torn_tail, &report.torn_tail);
        // At most the call under way was open, and it is charged: nothing is free, nothing twice.
        prop_assert_eq!(opened.charged.len() as u64, report.records % 2);
        let used = store.budgets("user").unwrap().first().map_or(0, |row| row.settled);
        prop_assert_eq!(used, report.records.div_ceil(2));
        let repaired = log::verify(&home.dir).unwrap();
        prop_assert_eq!((repaired.torn_tail, repaired.disagreement), (None, None));
    }
}

#[test]
fn what_a_killed_process_reserved_is_charged_once() {
    let home = Home::new();
    drop(home.open());
    let mut child = spawn("reserve", home.dir.path());
    let out = wait_for(&mut child, "ready");
    assert_eq!(SqliteStore::open(&home.dir, OpenOptions::at(NOW)).unwrap().1.charged, []);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(out);
    let (store, report) = SqliteStore::open(&home.dir, OpenOptions::at(NOW)).unwrap();
    assert_eq!(report.charged.len(), 1);
    assert_eq!(store.budgets("user").unwrap()[0], BudgetRow { counter: "calls".into(), reserved: 0, settled: 3 });
    assert_eq!(SqliteStore::open(&home.dir, OpenOptions::at(NOW)).unwrap().1.charged, []);
}

#[test]
fn many_processes_make_one_ledger() {
    let home = Home::new();
    let children: Vec<Child> = (0..4).map(|_| spawn("write", home.dir.path())).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    drop(home.open());
    let report = log::verify(&home.dir).unwrap();
    assert!(report.is_sound() && report.disagreement.is_none(), "{report:?}");
    assert_eq!(report.records, 4 * RECORDS as u64);
}
