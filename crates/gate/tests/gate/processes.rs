//! Processes that race for one approval, and processes that are killed at any instant.
//!
//! This program starts itself again: a child is the test `the_child_does_its_part`, told by the
//! environment what its part is.

use crate::support::*;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tollgate_ledger::{PendingId, PendingState};

const PART: &str = "GATE_SUITE_PART";
const DIR: &str = "GATE_SUITE_DIR";
const OPERATOR: &str = "GATE_SUITE_OPERATOR";
const CALLS: usize = 200;
const KILLS: usize = 30;

fn spawn(part: &str, world: &World) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "processes::the_child_does_its_part", "--nocapture", "--test-threads=1"])
        .env(PART, part)
        .env(DIR, world.dir())
        .env(OPERATOR, serde_json::to_string(&world.operator).unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "started by the other tests, as the processes that race and die"]
fn the_child_does_its_part() {
    let mut world = World::at(Path::new(&std::env::var(DIR).unwrap()));
    world.operator = serde_json::from_str(&std::env::var(OPERATOR).unwrap()).unwrap();
    match std::env::var(PART).unwrap().as_str() {
        "race" => race(&world),
        "work" => work(&mut world),
        other => panic!("no part `{other}`"),
    }
}

/// Says it is ready, waits for the start, tries once.
fn race(world: &World) {
    let (gate, _seat) = world.gate("r");
    let proposal = world.hooked(&std::process::id().to_string(), "delete_file", &json!({ "path": "a" }));
    println!("\nready");
    std::io::stdin().read_exact(&mut [0]).unwrap();
    println!("{}", gate.advise(&proposal).decision);
}

/// Submits and settles calls, every eighth by an approval, and says which approvals it used.
fn work(world: &mut World) {
    world.settings.caps.tool_calls = u64::MAX;
    let (gate, seat) = world.gate("r");
    println!("\nready");
    for at in 0..CALLS {
        if at % 8 == 0 {
            world.file("gone", "x");
            let pending = pending(gate.submit(&world.delete("gone")));
            let (id, approval) = (pending.id().clone(), seat.approve(&pending));
            println!("asked {id}");
            let outcome = perform(permit(gate.redeem(pending, approval)));
            println!("spent {id}");
            drop(gate.settle(outcome).unwrap());
        } else {
            done(&gate, &world.write(&format!("f{at}"), &format!("{at}")));
        }
    }
    println!("finished");
}

fn line(out: &mut impl std::io::BufRead) -> String {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    line.trim().to_owned()
}

fn until_ready(child: &mut Child) -> BufReader<std::process::ChildStdout> {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    while line(&mut out) != "ready" {}
    out
}

#[test]
fn sixteen_processes_on_one_approval_get_one_permit() {
    let mut world = World::new();
    world.file("a", "x");
    world.operator = Some(operator());
    let asked = world.gate("r").0.advise(&world.hooked("first", "delete_file", &json!({ "path": "a" })));
    let store = world.store();
    let row = store.pending(&asked.pending.unwrap(), NOW).unwrap().unwrap().0;
    let key = world.operator.as_ref().unwrap().unlock("correct horse").unwrap();
    approve_stored(store.as_ref(), &key, &row, world.clock.as_ref(), &Random).unwrap();
    let mut children: Vec<_> = (0..16).map(|_| spawn("race", &world)).collect();
    let mut outs: Vec<_> = children.iter_mut().map(until_ready).collect();
    for child in &mut children {
        child.stdin.take().unwrap().write_all(b"g").unwrap();
    }
    let answers: Vec<String> = outs.iter_mut().map(line).collect();
    for mut child in children {
        child.wait().unwrap();
    }
    assert_eq!(answers.iter().filter(|answer| *answer == "allow").count(), 1, "{answers:?}");
    assert!(answers.iter().all(|answer| ["allow", "ask", "deny"].contains(&answer.as_str())), "{answers:?}");
    assert!(matches!(store.pending(&row.id, NOW).unwrap().unwrap().1, PendingState::Spent(_)));
    world.assert_log_is_sound();
}

/// Kills a worker after so many lines of its output and so many turns of a loop; returns what it said.
fn killed(world: &World, lines: usize, turns: u32) -> Vec<String> {
    let mut child = spawn("work", world);
    let mut out = until_ready(&mut child);
    let mut said: Vec<String> = (0..lines).map(|_| line(&mut out)).collect();
    for turn in 0..turns {
        std::hint::black_box(turn);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    said.extend(out.lines().map_while(Result::ok));
    said
}

fn random(below: u64) -> u64 {
    let mut bytes = [0; 8];
    Random.fill(&mut bytes).unwrap();
    u64::from_le_bytes(bytes) % below
}

#[test]
fn killed_at_any_instant_the_log_verifies_and_no_approval_is_spent_twice() {
    let world = World::new();
    let mut said = Vec::new();
    for _ in 0..KILLS {
        let lines = usize::try_from(random(12)).unwrap();
        said.extend(killed(&world, lines, u32::try_from(random(40_000_000)).unwrap()));
        world.assert_log_is_sound();
    }
    let ids = |word: &str| -> Vec<PendingId> {
        said.iter().filter_map(|line| line.strip_prefix(word).and_then(PendingId::parse)).collect()
    };
    // What was redeemed was asked before, and a worker says so before it redeems.
    let mut spent: Vec<u64> = ids("asked ").iter().filter_map(|id| spent_by(&world, id)).collect();
    spent.sort_unstable();
    let approved = all(&world).into_iter().filter(|record| record.data.value()["decision"] == "approved");
    assert_eq!(spent, approved.map(|record| record.seq).collect::<Vec<_>>(), "one approval, one permit");
    assert!(ids("spent ").iter().all(|id| spent_by(&world, id).is_some()));
    assert!(!ids("spent ").is_empty(), "some worker came as far as an approval");
    assert_budgets_match_the_log(&world);
}

/// The record that spent the approval of a pending call.
fn spent_by(world: &World, id: &PendingId) -> Option<u64> {
    match world.store().pending(id, NOW).unwrap().unwrap().1 {
        PendingState::Spent(seq) => Some(seq),
        PendingState::Open | PendingState::Approved | PendingState::Denied(_) | PendingState::Expired => None,
    }
}

fn all(world: &World) -> Vec<StoredRecord> {
    let filter = tollgate_ledger::log::Filter { limit: usize::MAX, ..Default::default() };
    tollgate_ledger::log::query(&world.state_dir(), &filter).unwrap()
}

/// Everything that was ever admitted is settled or charged, nothing is left reserved, nothing is lost.
fn assert_budgets_match_the_log(world: &World) {
    drop(world.open());
    let admitted = all(world).into_iter().filter(|record| {
        let said = &record.data.value()["decision"];
        record.event == Event::Decision && (said == "allow" || said == "approved")
    });
    assert_eq!(world.used("r", "calls"), (0, u64::try_from(admitted.count()).unwrap()));
}
