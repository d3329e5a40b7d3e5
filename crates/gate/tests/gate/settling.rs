//! What was done, on the record, scrubbed and charged.

use crate::support::*;
use tollgate_ledger::Scrubber;

#[test]
fn a_result_is_scrubbed_for_the_model_and_for_the_record() {
    let world = World::new();
    world.file("a", "x");
    let known = "correct-horse-battery";
    let scrubber = Scrubber::new([("PASSWORD", known)]);
    let builder = world.builder(world.store(), world.clock.clone()).scrubber(scrubber);
    let (gate, _seat) = builder.open(RunId::parse("r").unwrap()).unwrap();
    let (_deed, settling) = permit(gate.submit(&world.read("a"))).into_parts();
    let told = gate.settle(settling.report(Report::read(format!("the password is {known}")))).unwrap();
    assert!(!told.text.contains(known), "{}", told.text);
    assert!(world.records().iter().all(|record| !record.data.value().to_string().contains(known)));
}

#[test]
fn a_long_result_is_cut_and_its_size_and_digest_kept() {
    let world = World::new();
    world.file("a", "x");
    let (gate, _seat) = world.gate("r");
    let (_deed, settling) = permit(gate.submit(&world.read("a"))).into_parts();
    assert!(gate.settle(settling.report(Report::read("é".repeat(10_000)))).is_ok());
    let record = world.last(Event::ToolResult);
    assert_eq!(record["result_bytes"], 20_000);
    assert!(record["result"].as_str().unwrap().len() <= 8 * 1024 + 200);
    assert_eq!(record["result_sha256"].as_str().unwrap().len(), 64);
}

#[test]
fn a_timeout_has_its_own_event_and_real_seconds_are_charged() {
    let world = World::new();
    world.file("a", "x");
    let (gate, _seat) = world.gate("r");
    let (_deed, settling) = permit(gate.submit(&world.read("a"))).into_parts();
    assert_eq!(world.used("r", "seconds"), (DEFAULT_TOOL_SECS, 0));
    world.clock.pass(2_001);
    assert!(gate.settle(settling.report(Report::ended(Finish::TimedOut, "too slow"))).unwrap().is_error);
    assert_eq!(world.used("r", "seconds"), (0, 3));
    assert_eq!(world.last(Event::ToolTimeout)["end"], "timed_out");
}

#[test]
fn a_permit_that_is_dropped_stays_charged() {
    let world = World::new();
    let (gate, _seat) = world.gate("r");
    drop(permit(gate.submit(&world.write("a", "x"))));
    assert_eq!(world.used("r", "calls"), (1, 0));
}

#[test]
fn a_call_whose_target_cannot_be_held_reserves_nothing() {
    let world = World::new();
    let (gate, _seat) = world.gate("r");
    let gone = world.call("glob_files", &json!({ "pattern": "*", "path": "nowhere" }));
    let denial = denial(gate.submit(&gone));
    assert_eq!(world.used("r", "calls"), (0, 0), "{}", denial.message());
}

#[test]
fn a_window_ends_and_the_next_one_begins_empty() {
    let mut world = World::new();
    world.settings.caps.hour.tool_calls = Some(2);
    world.settings.caps.wall_secs = 100_000;
    world.file("a", "1");
    world.file("b", "2");
    world.file("c", "3");
    done(&world.gate("one").0, &world.read("a"));
    done(&world.gate("two").0, &world.read("b"));
    let denial = denial(world.gate("three").0.submit(&world.read("c")));
    assert_eq!((denial.rule.as_str(), denial.kind), ("budget.calls", DenialKind::Budget), "{denial:?}");
    world.clock.pass(3_600_000);
    done(&world.gate("four").0, &world.read("c"));
}
