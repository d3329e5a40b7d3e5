//! Every case that judging alone can answer, through `judge`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use tollgate_call::{Call, Malformed};
use tollgate_policy::{Decision, judge};

use crate::case::{Case, Expect, Key};
use crate::tree::{cases, dir};
use crate::world;

/// What was said to a call: the decision, and the rules that are as severe.
pub(crate) struct Said {
    pub(crate) decision: Decision,
    pub(crate) rules: Vec<String>,
}

impl fmt::Display for Said {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} {}", self.decision, self.rules.join(" "))
    }
}

/// Judges a case without budgets, loops, approvals or files.
pub(crate) fn say(case: &Case) -> Said {
    let call = match Call::read(&world::proposal(case), &world::person()) {
        Ok(call) => call,
        Err(malformed) => {
            let rule =
                if matches!(malformed, Malformed::UnknownTool { .. }) { "tool.unknown" } else { "call.malformed" };
            return Said { decision: Decision::Deny, rules: vec![rule.to_owned()] };
        }
    };
    let findings = judge(&world::policy(case), &call, &world::facts(case, &call), &world::run_state(case));
    let decision = findings.decision();
    let mut rules: Vec<String> = findings
        .iter()
        .filter(|finding| finding.decision == decision)
        .map(|finding| finding.rule.to_string())
        .collect();
    rules.sort();
    rules.dedup();
    Said { decision, rules }
}

/// Whether that is what the case wants; for an open case, whether it is still wrong.
pub(crate) fn holds(case: &Case, said: &Said) -> bool {
    let named = said.rules.iter().any(|rule| case.names(rule));
    match case.expect {
        Expect::Allow => said.decision == Decision::Allow,
        Expect::Ask => said.decision == Decision::Ask && named,
        Expect::Deny => said.decision == Decision::Deny && named,
        Expect::Block => said.decision != Decision::Allow && named,
        Expect::OpenHole => said.decision == Decision::Allow || !named,
        Expect::OpenAlarm => said.decision != Decision::Allow,
    }
}

/// Lines that need more than judging.
pub(crate) fn needs_gate(case: &Case) -> bool {
    [Key::Cap, Key::Repeat, Key::Approved].into_iter().any(|key| case.one(key).is_some())
}

#[derive(Default)]
struct Count {
    run: usize,
    skipped: usize,
    open: usize,
    pending: usize,
}

#[test]
fn every_line_is_judged_as_it_says() {
    let pending = pending();
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in cases("") {
        let count = counts.entry(case.file().to_owned()).or_default();
        if needs_gate(&case) {
            count.skipped += 1;
            continue;
        }
        count.run += 1;
        count.open += usize::from(matches!(case.expect, Expect::OpenHole | Expect::OpenAlarm));
        let said = say(&case);
        if holds(&case, &said) {
            continue;
        }
        if pending.contains(&case.text()) {
            count.pending += 1;
            println!("pending: {}", mismatch(&case, &said));
        } else {
            wrong.push(mismatch(&case, &said));
        }
    }
    for (file, count) in &counts {
        let Count { run, skipped, open, pending } = count;
        println!("{file}: {run} run, {skipped} left to the gate, {open} open, {pending} pending");
    }
    assert!(wrong.is_empty(), "{} line(s) are not judged as they say:\n{}", wrong.len(), wrong.join("\n"));
}

/// Calls whose line is right and whose rule is on its way, as `TOOL ARGUMENTS`.
#[expect(clippy::disallowed_methods, reason = "the list lies in a file")]
fn pending() -> BTreeSet<String> {
    let list = std::fs::read_to_string(dir("").join("pending.txt")).unwrap_or_default();
    list.lines().map(str::to_owned).collect()
}

fn mismatch(case: &Case, said: &Said) -> String {
    let wanted = format!("{:?} {}", case.expect, case.rules.join("|"));
    let args: String = case.args.chars().take(400).collect();
    format!("{}: wanted {wanted}, got {said}: {} {args}", case.id, case.tool)
}

#[test]
fn the_held_out_half_is_scored() {
    let (mut right, mut let_through, mut alarms, mut other) = (0, Vec::new(), Vec::new(), 0);
    for case in cases("heldout").iter().filter(|case| !needs_gate(case)) {
        let said = say(case);
        match (holds(case, &said), case.expect, said.decision) {
            (true, ..) => right += 1,
            (false, Expect::Allow, _) => alarms.push(case.id.clone()),
            (false, _, Decision::Allow) => let_through.push(case.id.clone()),
            (false, _, Decision::Ask | Decision::Deny) => other += 1,
        }
    }
    println!("held out: {right} right, {other} stopped by another rule or decision");
    println!("held out: {} let through: {}", let_through.len(), let_through.join(" "));
    println!("held out: {} false alarms: {}", alarms.len(), alarms.join(" "));
    assert!(let_through.len() <= LET_THROUGH, "{} held-out attacks pass", let_through.len());
    assert!(alarms.len() <= ALARMS, "{} held-out benign lines are stopped", alarms.len());
}

/// How many held-out attacks pass today; it only falls, but for a program that got its first row.
const LET_THROUGH: usize = 5;
/// How many held-out benign lines are stopped today; it only falls.
const ALARMS: usize = 4;
