//! What comes first, and what each refusal leaves behind.

use crate::support::*;
use tollgate_ledger::{HaltChange, HaltScope, Record, Scrubber};

fn halt(world: &World, run: &str) -> HaltChange {
    let scrub = |text| Scrubber::formats_only().scrub_text(text);
    let record =
        Record { ts: world.clock.now_ms(), run: RunId::parse(run).unwrap(), event: Event::Halt, data: scrub("halted") };
    let scope = HaltScope::Run(RunId::parse(run).unwrap());
    HaltChange { scope, reason: scrub("enough"), by: scrub("operator"), record }
}

#[test]
fn a_halt_comes_before_everything_even_before_a_malformed_call() {
    let world = World::new();
    let (gate, _seat) = world.gate("r");
    world.store().raise_halt(&halt(&world, "r")).unwrap();
    for proposal in [world.raw("write_file", b"{"), world.write("a", "x"), world.write("/etc/passwd", "x")] {
        assert_denied(gate.submit(&proposal), "halt.raised");
    }
    assert_eq!(world.last(Event::Halt)["rule"], "halt.raised");
    world.store().clear_halt(&halt(&world, "r")).unwrap();
    done(&gate, &world.write("a", "x"));
}

#[test]
fn a_halt_of_another_run_does_not_stop_this_one() {
    let world = World::new();
    let (gate, _seat) = world.gate("r");
    world.store().raise_halt(&halt(&world, "other")).unwrap();
    done(&gate, &world.write("a", "x"));
}

#[test]
fn a_halt_between_asking_and_redeeming_stops_the_call() {
    let world = World::new();
    world.file("a", "x");
    let (gate, seat) = world.gate("r");
    let pending = pending(gate.submit(&world.delete("a")));
    let approval = seat.approve(&pending);
    world.store().raise_halt(&halt(&world, "r")).unwrap();
    assert_denied(gate.redeem(pending, approval), "halt.raised");
}

#[test]
fn a_malformed_call_is_recorded_with_its_raw_arguments() {
    let world = World::new();
    let (gate, _seat) = world.gate("r");
    let cases: [(&str, &[u8], &str); 6] = [
        ("write_file", br#"{"path":"a","path":"b","content":""}"#, "call.malformed"),
        ("write_file", br#"{"path":"a","content":"","mode":1}"#, "call.malformed"),
        ("read_file", br#"{"path":"a","offset":true}"#, "call.malformed"),
        ("read_file", br#"{"path":"a","limit":2001}"#, "call.malformed"),
        ("write_file", b"{\"path\":\"a\\u0000b\",\"content\":\"\"}", "call.malformed"),
        ("rm_rf", b"{}", "tool.unknown"),
    ];
    for (tool, args, rule) in cases {
        let denial = denial(gate.submit(&world.raw(tool, args)));
        assert_eq!((denial.rule.as_str(), denial.kind), (rule, DenialKind::Malformed));
        let record = world.last(Event::ValidationError);
        assert_eq!(record["args_raw"], String::from_utf8_lossy(args).as_ref());
        assert_eq!((&record["tool"], &record["rule"]), (&json!(tool), &json!(rule)));
    }
    assert_eq!(world.used("r", "calls"), (0, 0));
}

#[test]
fn a_malformed_call_is_refused_before_a_cap_is_looked_at() {
    let mut world = World::new();
    world.settings.caps.tool_calls = 0;
    let (gate, _seat) = world.gate("r");
    assert_denied(gate.submit(&world.raw("write_file", b"[]")), "call.malformed");
}

#[test]
fn at_the_cap_nothing_is_performed() {
    let mut world = World::new();
    world.settings.caps.tool_calls = 5;
    let (gate, _seat) = world.gate("r");
    let mut written = 0;
    for at in 0..7 {
        match gate.submit(&world.write(&format!("f{at}"), "x")) {
            Verdict::Permitted(permit) => {
                assert!(gate.settle(perform(*permit)).is_ok());
                written += 1;
            }
            Verdict::Denied(denial) => {
                assert_eq!((denial.rule.as_str(), denial.kind), ("budget.calls", DenialKind::Budget));
            }
            Verdict::Pending(pending) => panic!("{pending:?}"),
        }
    }
    assert_eq!((written, std::fs::read_dir(world.workspace()).unwrap().count()), (5, 5));
    assert_eq!(world.used("r", "calls"), (0, 5));
    assert_eq!(world.last(Event::CapHit)["rule"], "budget.calls");
}

#[test]
fn a_cap_on_one_tool_leaves_the_others() {
    let mut world = World::new();
    world.settings.caps.per_tool.insert("write_file".to_owned(), 1);
    let (gate, _seat) = world.gate("r");
    done(&gate, &world.write("a", "x"));
    assert_denied(gate.submit(&world.write("b", "x")), "budget.tool");
    done(&gate, &world.read("a"));
}

#[test]
fn a_reached_cap_outranks_the_floor_and_asks_no_human() {
    let mut world = World::new();
    world.settings.caps.tool_calls = 1;
    world.file("a", "x");
    let (gate, _seat) = world.gate("r");
    done(&gate, &world.read("a"));
    assert_denied(gate.submit(&world.delete("a")), "budget.calls");
    assert_denied(gate.submit(&world.call("run_bash", &json!({ "command": "rm -rf /" }))), "budget.calls");
    assert!(world.store().list_pending(NOW).unwrap().is_empty());
}

#[test]
fn the_wall_clock_of_a_run_ends_it() {
    let world = World::new();
    let (gate, _seat) = world.gate("r");
    world.clock.pass(3_599_999);
    done(&gate, &world.write("a", "x"));
    world.clock.pass(1);
    assert_denied(gate.submit(&world.write("b", "x")), "budget.time");
    let refused = gate.open_turn(1, TurnCost::default(), &json!({})).unwrap_err();
    assert_eq!(refused.rule, "budget.time");
}

#[test]
fn a_run_without_an_approver_denies_what_would_ask() {
    let mut world = World::new();
    world.approver = Approver::Nobody;
    world.file("a", "x");
    let (gate, _seat) = world.gate("r");
    let denial = denial(gate.submit(&world.delete("a")));
    assert_eq!((denial.rule.as_str(), denial.kind), ("approval.none", DenialKind::Timeout));
    assert!(world.store().list_pending(NOW).unwrap().is_empty());
    assert_eq!(world.last(Event::Decision)["rule"], "approval.none");
}

#[test]
fn the_intent_is_on_the_record_before_the_permit_exists() {
    let world = World::new();
    let (gate, _seat) = world.gate("r");
    let permit = permit(gate.submit(&world.write("a", "x")));
    let record = world.records().pop().unwrap();
    assert_eq!((record.seq, record.event), (permit.seq(), Event::Decision));
    assert_eq!(record.data.value()["decision"], "allow");
    assert!(gate.settle(perform(permit)).is_ok());
    assert_eq!(world.last(Event::ToolResult)["of"], record.seq);
    world.assert_log_is_sound();
}

#[test]
fn turns_tokens_and_cost_stop_at_their_caps() {
    let mut world = World::new();
    (world.settings.caps.turns, world.settings.caps.tokens) = (2, Some(100));
    world.settings.caps.cost_microusd = 50;
    let (gate, _seat) = world.gate("r");
    let cost = |tokens, microusd| TurnCost { tokens, microusd };
    let open = |message, expected| gate.open_turn(message, expected, &json!({}));
    let turn = open(1, cost(10, 10)).unwrap();
    gate.close_turn(turn, cost(60, 20), TurnEnd::Answered, &json!({})).unwrap();
    assert_eq!(open(1, cost(41, 0)).unwrap_err().rule, "budget.tokens");
    assert_eq!(open(1, cost(0, 31)).unwrap_err().rule, "budget.cost");
    let turn = open(1, cost(0, 0)).unwrap();
    gate.close_turn(turn, cost(0, 0), TurnEnd::Failed, &json!({})).unwrap();
    assert_eq!(open(1, cost(0, 0)).unwrap_err().rule, "budget.turns");
    assert!(open(2, cost(0, 0)).is_ok());
    assert_eq!(world.last(Event::CapHit)["rule"], "budget.turns");
}
