//! The advisory half: a host acts by itself, and another process settles it.

use crate::support::*;

fn args(path: &str) -> Value {
    json!({ "path": path, "content": "x" })
}

fn approve(world: &World, pending: &tollgate_ledger::PendingId) {
    let store = world.store();
    let row = store.pending(pending, NOW).unwrap().unwrap().0;
    let key = world.operator.as_ref().unwrap().unlock("correct horse").unwrap();
    approve_stored(store.as_ref(), &key, &row, world.clock.as_ref(), &Random).unwrap();
}

#[test]
fn advice_is_settled_by_another_process_once() {
    let world = World::new();
    let advice = world.gate("s").0.advise(&world.hooked("t1", "write_file", &args("a")));
    assert_eq!(advice.decision, Decision::Allow, "{advice:?}");
    assert_eq!(world.last(Event::Decision)["assurance"], "advisory");
    assert_eq!(world.used("s", "calls"), (1, 0));
    let report = Report::changed("written by the host");
    let told = world.gate("s").0.settle_advice("s", "t1", &report).unwrap();
    assert_eq!((told.text.as_str(), told.is_error), ("written by the host", false));
    assert_eq!(world.used("s", "calls"), (0, 1));
    assert_eq!(world.last(Event::ToolResult)["tool"], "write_file");
    let again = world.gate("s").0.settle_advice("s", "t1", &report).unwrap_err();
    assert!(again.because.contains("taken before"), "{}", again.because);
    assert!(world.gate("s").0.settle_advice("s", "never", &report).is_err());
    world.assert_log_is_sound();
}

#[test]
fn a_tool_use_that_was_answered_before_is_refused() {
    let world = World::new();
    let (gate, _seat) = world.gate("s");
    assert_eq!(gate.advise(&world.hooked("t1", "write_file", &args("a"))).decision, Decision::Allow);
    let again = gate.advise(&world.hooked("t1", "write_file", &args("a")));
    assert_eq!((again.decision, again.rule.as_str()), (Decision::Deny, "advice.repeated"));
}

#[test]
fn what_no_host_settles_is_charged_in_full_at_the_next_open() {
    let world = World::new();
    let advice = world.gate("s").0.advise(&world.hooked("t1", "write_file", &args("a")));
    assert_eq!(advice.decision, Decision::Allow);
    world.clock.pass(60 * 60 * 1000 - 1);
    assert!(world.open().1.charged.is_empty());
    world.clock.pass(1);
    assert_eq!(world.open().1.charged.len(), 1);
    assert_eq!((world.used("s", "calls"), world.used("s", "seconds")), ((0, 1), (0, DEFAULT_TOOL_SECS)));
}

#[test]
fn a_report_that_comes_after_the_charge_is_still_recorded() {
    let world = World::new();
    let (gate, _seat) = world.gate("s");
    assert_eq!(gate.advise(&world.hooked("t1", "write_file", &args("a"))).decision, Decision::Allow);
    world.clock.pass(2 * 60 * 60 * 1000);
    assert_eq!(world.open().1.charged.len(), 1);
    assert_eq!(gate.settle_advice("s", "t1", &Report::changed("late")).unwrap().text, "late");
    assert_eq!(world.last(Event::ToolResult)["result"], "late");
    assert_eq!(world.used("s", "calls"), (0, 1));
}

#[test]
fn without_an_operator_ask_is_deny() {
    let world = World::new();
    world.file("a", "x");
    let advice = world.gate("s").0.advise(&world.hooked("t1", "delete_file", &json!({ "path": "a" })));
    assert_eq!((advice.decision, advice.rule.as_str(), advice.pending), (Decision::Deny, "rule.ask", None));
    assert!(advice.reason.contains("tollgate init"), "{}", advice.reason);
    assert_eq!(world.used("s", "calls"), (0, 0));
}

#[test]
fn with_an_operator_the_reason_names_what_to_approve_and_the_retry_passes_once() {
    let mut world = World::new();
    world.operator = Some(operator());
    world.file("a", "x");
    world.file("b", "x");
    let advise =
        |id: &str, path: &str| world.gate("s").0.advise(&world.hooked(id, "delete_file", &json!({ "path": path })));
    let asked = advise("t1", "a");
    let id = asked.pending.clone().unwrap();
    assert_eq!(asked.decision, Decision::Ask);
    assert!(asked.reason.contains(&format!("tollgate approve {id}")), "{}", asked.reason);
    approve(&world, &id);
    assert_eq!(advise("t2", "b").decision, Decision::Ask, "the neighbour is another call");
    let retried = advise("t3", "a");
    assert_eq!(retried.decision, Decision::Allow, "{retried:?}");
    assert_eq!(world.last(Event::Decision)["decision"], "approved");
    assert_eq!(advise("t4", "a").decision, Decision::Ask, "it was used");
}

#[test]
fn an_approval_of_another_session_does_not_count() {
    let mut world = World::new();
    world.operator = Some(operator());
    world.file("a", "x");
    let delete = json!({ "path": "a" });
    let asked = world.gate("s").0.advise(&world.hooked("t1", "delete_file", &delete));
    approve(&world, &asked.pending.unwrap());
    assert_eq!(world.gate("other").0.advise(&world.hooked("t2", "delete_file", &delete)).decision, Decision::Ask);
}

#[test]
fn the_hosts_own_prompt_answers_an_ordinary_ask_only() {
    let mut world = World::new();
    world.settings.host_prompt = HostPrompt::Accepted;
    world.file("a", "x");
    let (gate, _seat) = world.gate("s");
    let ordinary = gate.advise(&world.hooked("t1", "delete_file", &json!({ "path": "a" })));
    assert_eq!((ordinary.decision, ordinary.pending), (Decision::Ask, None));
    assert_eq!(world.last(Event::Decision)["decision"], "host-approved");
    let commands = ["rm -rf /", "git push --force origin main", "cargo publish", "terraform destroy"];
    for (at, command) in commands.into_iter().enumerate() {
        let advice = gate.advise(&world.hooked(&format!("u{at}"), "run_bash", &json!({ "command": command })));
        assert_eq!((advice.decision, advice.pending), (Decision::Deny, None), "{command}");
    }
}

#[test]
fn a_malformed_hook_call_is_denied_and_recorded() {
    let world = World::new();
    let (gate, _seat) = world.gate("s");
    let advice = gate.advise(&world.hooked("t1", "write_file", &json!({ "path": 1 })));
    assert_eq!((advice.decision, advice.rule.as_str()), (Decision::Deny, "call.malformed"));
    assert_eq!(world.last(Event::ValidationError)["args_raw"], r#"{"path":1}"#);
}
