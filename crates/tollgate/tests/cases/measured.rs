//! Everyday commands of others, counted and not copied: how many are allowed outside a box.

use std::collections::BTreeMap;

use serde::Deserialize;
use tollgate_call::places::Layout;
use tollgate_call::run_state::RunState;
use tollgate_call::{Call, Door, Origin, Person, Proposal, Untrusted, assume};
use tollgate_policy::{Decision, Policy, judge};

use crate::files::shared;

#[derive(Deserialize)]
struct Line {
    tool: String,
    args: serde_json::Value,
    cwd: String,
    expect: String,
    class: String,
}

/// How many of a hundred everyday commands are allowed today; it only rises.
const ALLOWED_PERCENT: usize = 84;
/// How many of all are denied today; it only falls.
const DENIED: usize = 3;

#[test]
fn everyday_commands_are_allowed() {
    let Some(text) = shared("benign-shell.jsonl") else { return };
    let lines = text.lines().map(|line| serde_json::from_str::<Line>(line).unwrap());
    let scored: Vec<Line> = lines.filter(|line| line.expect == "allow").collect();
    let mut stopped: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let (mut allowed, mut denied) = (0, 0);
    for line in &scored {
        let (decision, rule) = say(line);
        let is_allowed = decision == Decision::Allow;
        allowed += usize::from(is_allowed);
        denied += usize::from(decision == Decision::Deny);
        if !is_allowed {
            println!("{decision:?} {rule}: {} {}", line.class, line.args["command"]);
        }
        let count = stopped.entry(rule).or_default();
        count.0 += usize::from(decision == Decision::Ask);
        count.1 += usize::from(decision == Decision::Deny);
    }
    for (rule, (ask, deny)) in stopped.iter().filter(|(_, (ask, deny))| ask + deny > 0) {
        println!("everyday: {rule}: {ask} asked, {deny} denied");
    }
    let percent = allowed * 100 / scored.len();
    println!("everyday: {allowed} of {} allowed ({percent} %), {denied} denied", scored.len());
    assert!(percent >= ALLOWED_PERCENT && denied <= DENIED, "{percent} % allowed, {denied} denied");
}

fn say(line: &Line) -> (Decision, String) {
    let origin = Origin { door: Door::Check, run: "r".into(), call_id: "c".into(), cwd: line.cwd.clone() };
    let proposal = Proposal {
        tool: Untrusted::new(line.tool.clone()),
        args: Untrusted::new(line.args.to_string().into_bytes()),
        origin,
    };
    let person = Person { home: "/home/user".into(), user: "user".into() };
    let Ok(call) = Call::read(&proposal, &person) else { return (Decision::Deny, "call.malformed".into()) };
    let facts = assume::facts(&Layout::of(&line.cwd, &person.home), call.actions());
    let findings = judge(&Policy::builtin(), &call, &facts, &RunState::default());
    (findings.decision(), findings.deciding().rule.to_string())
}
