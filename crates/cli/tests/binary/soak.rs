//! A long run: two thousand calls, in flat memory and with a ledger that grows by the call and by nothing else.

use std::fmt::Write as _;

use crate::world::*;

const CALLS: usize = 2_000;

/// Bytes of a process in memory.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

/// Milliseconds between the first and the last of some records.
fn span(records: &[serde_json::Value]) -> i64 {
    let at = |record: &serde_json::Value| record["ts"].as_i64().unwrap();
    at(records.last().unwrap()) - at(&records[0])
}

#[test]
fn a_soak_of_two_thousand_calls_stays_flat() {
    let world = World::new();
    for n in 0..50 {
        world.write(&format!("ws/f{n}.txt"), format!("line {n}\n").repeat(200));
    }
    let mut steps = String::new();
    for n in 0..CALLS {
        let (file, offset) = (n % 50, n / 50 + 1);
        let call = match n % 10 {
            0 => format!("write_file\", args = {{ path = \"out{file}.txt\", content = \"{n}\" }}"),
            _ => format!("read_file\", args = {{ path = \"f{file}.txt\", offset = {offset} }}"),
        };
        writeln!(steps, "[[step]]\ncalls = [{{ tool = \"{call} }}]").unwrap();
    }
    let model = world.script(&steps);
    let caps = ["--max-tool-calls", "5000", "--max-turns", "5000", "--max-cost-usd", "0"];
    let words: Vec<&str> = ["run", "-p", "work", "--model", &model].into_iter().chain(caps).collect();
    let running = world.start(&words);
    let log = world.path("state/audit.jsonl");
    let done = |least: usize| {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        text.matches("\"event\":\"tool_result\"").count() >= least
    };
    wait_long_until("a tenth is done", || done(CALLS / 10));
    let early = resident(running.id());
    wait_long_until("almost all is done", || done(CALLS - 50));
    let late = resident(running.id());
    let ended = world.finish(&words, running);
    assert_eq!(ended.exit, 0, "{ended}");
    assert!(late < early + 16 * 1024 * 1024, "{early} bytes after {} calls, {late} after {CALLS}", CALLS / 10);

    let results = world.records("tool_result");
    assert_eq!(results.len(), CALLS);
    let (first, last) = (span(&results[..CALLS / 10]), span(&results[CALLS - CALLS / 10..]));
    println!("soak: {early} bytes early, {late} late; {first} ms for the first tenth, {last} ms for the last");
    world.log_is_sound();
}
