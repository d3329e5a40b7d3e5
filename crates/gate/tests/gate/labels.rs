//! Labels rise when a call is admitted, and stay for the run.

use crate::support::*;
use tollgate_ledger::Labels;

fn labels(world: &World, run: &str) -> Labels {
    world.store().load_run(&RunId::parse(run).unwrap(), 0).unwrap().labels
}

#[test]
fn reading_a_secret_after_approval_makes_the_run_sensitive_for_good() {
    let world = World::new();
    world.file(".env", "KEY=1");
    let (gate, seat) = world.gate("r");
    let pending = pending(gate.submit(&world.read(".env")));
    assert_eq!(labels(&world, "r"), Labels::NONE, "asking reads nothing");
    let approval = seat.approve(&pending);
    assert!(gate.settle(perform(permit(gate.redeem(pending, approval)))).is_ok());
    drop(gate);
    done(&world.gate("r").0, &world.write("a", "x"));
    assert_eq!(labels(&world, "r"), Labels::SENSITIVE);
    assert_eq!(labels(&world, "other"), Labels::NONE);
}

#[test]
fn a_pattern_that_matches_a_secret_reads_it() {
    let world = World::new();
    world.file(".env", "KEY=1");
    let (gate, seat) = world.gate("r");
    let pending = pending(gate.submit(&world.call("run_bash", &json!({ "command": "cat .e*" }))));
    let approval = seat.approve(&pending);
    drop(permit(gate.redeem(pending, approval)));
    assert!(labels(&world, "r").contains(Labels::SENSITIVE));
}

#[test]
fn fetching_a_page_makes_the_run_untrusted_and_then_it_may_not_act_outward() {
    let mut world = World::new();
    world.settings.allow_hosts.push("docs.example".to_owned());
    world.settings.recipients.push("me@mail.example".to_owned());
    let (gate, _seat) = world.gate("r");
    let mail = |subject: &str| {
        world.call("send_message", &json!({ "to": "me@mail.example", "subject": subject, "body": "b" }))
    };
    done(&gate, &mail("before"));
    done(&gate, &world.call("webfetch", &json!({ "url": "https://docs.example/page" })));
    assert_eq!(labels(&world, "r"), Labels::UNTRUSTED);
    drop(gate);
    let (later, _seat) = world.gate("r");
    let pending = pending(later.submit(&mail("after")));
    assert!(pending.findings().iter().any(|finding| finding.rule.as_str() == "flow.untrusted"), "{pending:?}");
}

#[test]
fn a_tool_of_somebody_else_makes_the_run_untrusted() {
    let mut world = World::new();
    world.settings.host_prompt = HostPrompt::Accepted;
    let (gate, _seat) = world.gate("s");
    let advice = gate.advise(&world.hooked("t1", "mcp__mail__inbox", &json!({})));
    assert_eq!(advice.decision, Decision::Ask, "{advice:?}");
    assert_eq!(labels(&world, "s"), Labels::UNTRUSTED);
}

#[test]
fn writing_what_runs_later_raises_control() {
    let world = World::new();
    world.file(".git/hooks/readme", "");
    let (gate, seat) = world.gate("r");
    let pending = pending(gate.submit(&world.write(".git/hooks/pre-commit", "x")));
    let approval = seat.approve(&pending);
    drop(permit(gate.redeem(pending, approval)));
    assert!(labels(&world, "r").contains(Labels::CONTROL));
}
