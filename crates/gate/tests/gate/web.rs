//! Whose name is asked about, where redirects lead, and which pages were given.

use tollgate_ledger::{HaltChange, HaltScope, Record, Scrubber};
use tollgate_survey::Destination;

use crate::support::*;

fn fetch(world: &World, url: &str) -> tollgate_call::Proposal {
    world.call("webfetch", &json!({ "url": url }))
}

fn place(url: &str, host: &str, port: u16) -> Destination {
    Destination::dangerous_unjudged(url.to_owned(), host.to_owned(), port, Vec::new())
}

#[test]
fn nobody_is_asked_about_a_name_before_it_is_let_through() {
    let mut world = World::new();
    let secret = "https://c2VjcmV0.evil.example/";
    let (gate, seat) = world.gate("r");
    let pending = pending(gate.submit(&fetch(&world, secret)));
    assert!(world.names.asked().is_empty(), "the question itself tells the name's owner");
    let approval = seat.approve(&pending);
    drop(permit(gate.redeem(pending, approval)));
    assert_eq!(world.names.asked(), ["c2vjcmv0.evil.example"]);
    drop((gate, seat));
    world.approver = Approver::Nobody;
    let (gate, _seat) = world.gate("headless");
    assert_denied(gate.submit(&fetch(&world, secret)), "approval.none");
    assert_denied(gate.submit(&fetch(&world, "https://user@evil.example/")), "net.scheme");
    drop(gate);
    world.approver = Approver::Stored;
    let (gate, _seat) = world.gate("hook");
    assert_eq!(gate.advise(&world.hooked("t", "webfetch", &json!({ "url": secret }))).decision, Decision::Deny);
    assert_eq!(world.names.asked().len(), 1);
}

#[test]
fn an_approval_does_not_open_what_the_name_turns_out_to_be() {
    let mut world = World::new();
    world.names = World::named("10.1.2.3".parse().unwrap());
    let (gate, seat) = world.gate("r");
    let pending = pending(gate.submit(&fetch(&world, "https://wiki.example/")));
    let approval = seat.approve(&pending);
    assert_denied(gate.redeem(pending, approval), "net.private");
}

#[test]
fn a_redirect_is_judged_as_a_fetch_and_uses_up_no_cap() {
    let mut world = World::new();
    world.settings.allow_hosts.push("docs.example".to_owned());
    world.settings.caps.tool_calls = 1;
    let (gate, _seat) = world.gate("r");
    let from = place("https://docs.example/", "docs.example", 443);
    done(&gate, &fetch(&world, "https://docs.example/"));
    assert_eq!(gate.redirect(&from, "https://docs.example/next").unwrap().host(), "docs.example");
    for to in ["http://169.254.169.254/", "file:///etc/passwd", "https://docs.example:22/", "https://evil.example/"] {
        assert!(gate.redirect(&from, to).is_err(), "{to}");
    }
    assert_eq!(world.used("r", "calls"), (0, 1));
    let scrub = |text| Scrubber::formats_only().scrub_text(text);
    let run = RunId::parse("r").unwrap();
    let record = Record { ts: world.clock.now_ms(), run: run.clone(), event: Event::Halt, data: scrub("halted") };
    let halt = HaltChange { scope: HaltScope::Run(run), reason: scrub("enough"), by: scrub("operator"), record };
    world.store().raise_halt(&halt).unwrap();
    assert!(gate.redirect(&from, "https://docs.example/next").is_err());
}

#[test]
fn a_redirect_within_its_site_needs_no_other_word_and_one_that_leaves_it_does() {
    let world = World::new();
    let (gate, _seat) = world.gate("r");
    gate.hear("read http://docs.example/a please").unwrap();
    done(&gate, &fetch(&world, "http://docs.example/a"));
    let from = place("http://docs.example/a", "docs.example", 80);
    for to in ["http://docs.example/b", "https://docs.example/a", "https://www.docs.example/a"] {
        assert!(gate.redirect(&from, to).is_ok(), "{to}");
    }
    for to in ["https://evil.example/", "https://docs.example.evil.example/", "https://a.docs.example/"] {
        let why = gate.redirect(&from, to).unwrap_err();
        assert!(why.contains("net.host") || why.contains("flow.untrusted"), "{why}");
    }
    let why = gate.redirect(&from, "http://docs.example:8080/").unwrap_err();
    assert!(why.contains("flow.untrusted"), "another port is another server: {why}");
}

#[test]
fn a_redirect_within_its_site_is_still_judged_by_its_address() {
    let mut world = World::new();
    world.names = World::named("127.0.0.1".parse().unwrap());
    let (gate, _seat) = world.gate("r");
    let from = place("https://docs.example/", "docs.example", 443);
    let why = gate.redirect(&from, "https://docs.example/b").unwrap_err();
    assert!(why.contains("net.private"), "{why}");
}

#[test]
fn pages_that_the_user_named_stay_free_after_the_first_and_their_neighbours_do_not() {
    let world = World::new();
    let (gate, _seat) = world.gate("r");
    gate.hear("compare https://one.example/a with https://two.example/b#part").unwrap();
    done(&gate, &fetch(&world, "https://one.example/a"));
    done(&gate, &fetch(&world, "https://two.example/b"));
    let pending = pending(gate.submit(&fetch(&world, "https://two.example/b?q=what-one-said")));
    assert!(pending.findings().iter().any(|finding| finding.rule.as_str() == "flow.untrusted"), "{pending:?}");
}

#[test]
fn a_search_gives_its_pages_and_not_their_hosts() {
    let mut world = World::new();
    world.approver = Approver::Stored;
    world.settings.host_prompt = HostPrompt::Accepted;
    let (gate, _seat) = world.gate("s");
    let search = gate.advise(&world.hooked("t1", "WebSearch", &json!({ "query": "x" })));
    assert_eq!(search.decision, Decision::Allow, "{search:?}");
    let found = r#"{"results":[{"title":"x","url":"https://found.example/page"}]}"#.to_owned();
    gate.settle_advice("s", "t1", &Report { found, ..Report::read("results") }).unwrap();
    let asked = |id, url| gate.advise(&world.hooked(id, "webfetch", &json!({ "url": url }))).decision;
    assert_eq!(asked("t2", "https://found.example/page"), Decision::Allow);
    assert_eq!(asked("t3", "https://found.example/other"), Decision::Ask);
}
