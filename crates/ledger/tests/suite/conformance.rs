//! What every back end of [`Store`] keeps to. A new back end adds one module at the end.

use crate::support::*;
use tollgate_ledger::*;

fn append(store: &dyn Store) -> u64 {
    store.append(&record(Event::UserMessage), &[]).unwrap().seq
}

fn approval(id: &str, nonce: &str) -> ApprovalRow {
    ApprovalRow {
        pending: pending_id(id),
        digest: digest(id),
        nonce: nonce.as_bytes().to_vec(),
        expires: NOW + 600_000,
        signature: vec![7; 64],
    }
}

fn put_approval(store: &dyn Store, id: &str, nonce: &str) -> Result<Appended, ApprovalError> {
    store.put_approval(&approval(id, nonce), &record(Event::Approval))
}

fn stored(id: &str, nonce: &str) -> Admission {
    let used = ApprovalUse::Stored { pending: pending_id(id), digest: digest(id), nonce: nonce.as_bytes().to_vec() };
    Admission { approval: Some(used), ..admission(vec![]) }
}

fn seat(id: &str) -> Admission {
    let used = ApprovalUse::Seat { pending: pending_id(id), digest: digest(id) };
    Admission { approval: Some(used), ..admission(vec![]) }
}

fn at(ts: i64, mut admission: Admission) -> Admission {
    admission.record.ts = ts;
    admission
}

fn budget(store: &dyn Store, scope: &str, counter: &str) -> (u64, u64) {
    let rows = store.budgets(scope).unwrap();
    rows.iter().find(|row| row.counter == counter).map_or((0, 0), |row| (row.reserved, row.settled))
}

fn settlement(receipt: &Receipt, actual: &[(&str, u64)]) -> Settlement {
    let actual =
        actual.iter().map(|(counter, amount)| Actual { counter: (*counter).into(), amount: *amount }).collect();
    Settlement { reservation: receipt.reservation(), actual, notes: vec![], record: record(Event::ToolResult) }
}

fn halt(scope: HaltScope) -> HaltChange {
    let fixed = Scrubbed::fixed;
    HaltChange { scope, reason: fixed("smoke"), by: fixed("operator"), record: record(Event::Halt) }
}

fn generation(store: &dyn Store) -> u64 {
    store.halt_state(&HaltScope::Run(run("r1"))).unwrap().generation
}

// Records

fn records_are_numbered_from_one_without_a_gap(store: &dyn Store) {
    assert_eq!((append(store), append(store)), (1, 2));
    assert_eq!(store.admit(&admission(vec![])).unwrap().seq(), 3);
}

fn a_refused_admission_leaves_nothing_behind(store: &dyn Store) {
    put_pending(store, "p");
    put_approval(store, "p", "n").unwrap();
    let lines = vec![line("run:r1", "calls", 1, Some(5)), line("user", "tokens", 9, Some(8))];
    let refused = store.admit(&Admission { lines, ..stored("p", "n") });
    assert!(matches!(refused, Err(AdmitError::CapReached { .. })));
    assert_eq!(budget(store, "run:r1", "calls"), (0, 0));
    assert!(store.approval_for(&ApprovalKey::Pending(pending_id("p")), NOW).unwrap().is_some());
    assert_eq!(append(store), 3);
}

// Budgets

fn a_cap_is_reached_exactly_and_never_passed(store: &dyn Store) {
    let ask = |amount| store.admit(&admission(vec![line("run:r1", "calls", amount, Some(5))]));
    ask(3).unwrap();
    ask(2).unwrap();
    let refused = ask(1).unwrap_err();
    let (scope, counter) = ("run:r1".into(), "calls".into());
    assert_eq!(refused, AdmitError::CapReached { scope, counter, cap: 5, used: 5, amount: 1 });
    ask(0).unwrap();
}

fn any_scope_of_a_nest_refuses_for_all(store: &dyn Store) {
    let nest = |user_cap| {
        let lines = vec![line("run:r1", "calls", 1, Some(9)), line("user", "calls", 1, Some(user_cap))];
        store.admit(&admission(lines))
    };
    nest(1).unwrap();
    assert!(matches!(nest(1), Err(AdmitError::CapReached { scope, .. }) if scope == "user"));
    assert_eq!(budget(store, "run:r1", "calls"), (1, 0));
}

fn lines_of_one_counter_add_up_within_one_admission(store: &dyn Store) {
    let two = |cap| admission(vec![line("user", "tokens", 3, Some(cap)), line("user", "tokens", 3, Some(cap))]);
    assert!(store.admit(&two(5)).is_err());
    let receipt = store.admit(&two(6)).unwrap();
    assert_eq!(budget(store, "user", "tokens"), (6, 0));
    store.settle(&settlement(&receipt, &[("tokens", 4)])).unwrap();
    assert_eq!(budget(store, "user", "tokens"), (0, 4));
}

fn an_absurd_amount_is_refused_and_never_wraps(store: &dyn Store) {
    let ask = |amount, cap| store.admit(&admission(vec![line("user", "tokens", amount, cap)]));
    assert!(ask(u64::MAX, Some(10)).is_err());
    assert!(ask(u64::MAX, Some(u64::MAX)).is_err());
    assert!(ask(u64::MAX, None).is_err());
    ask(i64::MAX as u64, None).unwrap();
    assert!(ask(1, None).is_err());
    assert_eq!(budget(store, "user", "tokens"), (i64::MAX as u64, 0));
}

fn settling_replaces_what_was_reserved_by_what_was_used(store: &dyn Store) {
    let lines = vec![line("run:r1", "tokens", 100, Some(100)), line("user", "tokens", 100, Some(1000))];
    let receipt = store.admit(&admission(lines)).unwrap();
    let settled = store.settle(&settlement(&receipt, &[("tokens", 40)])).unwrap();
    assert_eq!((settled.record.seq, settled.overruns), (2, vec![]));
    assert_eq!(budget(store, "run:r1", "tokens"), (0, 40));
    assert_eq!(budget(store, "user", "tokens"), (0, 40));
}

fn a_second_settlement_is_an_error_and_changes_nothing(store: &dyn Store) {
    let receipt = store.admit(&admission(vec![line("user", "tokens", 10, None)])).unwrap();
    let settle = || store.settle(&settlement(&receipt, &[("tokens", 4)]));
    settle().unwrap();
    assert_eq!(settle(), Err(SettleError::AlreadySettled(receipt.reservation())));
    assert_eq!(budget(store, "user", "tokens"), (0, 4));
    assert_eq!(append(store), 3);
}

fn a_counter_that_is_not_named_is_charged_in_full(store: &dyn Store) {
    let lines = vec![line("user", "tokens", 10, None), line("user", "calls", 1, None)];
    let receipt = store.admit(&admission(lines)).unwrap();
    store.settle(&settlement(&receipt, &[("tokens", 0)])).unwrap();
    assert_eq!((budget(store, "user", "tokens"), budget(store, "user", "calls")), ((0, 0), (0, 1)));
}

fn what_was_used_beyond_the_reservation_is_named_and_stops_the_next(store: &dyn Store) {
    let ask = || store.admit(&admission(vec![line("user", "tokens", 10, Some(20))]));
    let receipt = ask().unwrap();
    let settled = store.settle(&settlement(&receipt, &[("tokens", 25)])).unwrap();
    let (scope, counter) = ("user".into(), "tokens".into());
    assert_eq!(settled.overruns, [Overrun { scope, counter, reserved: 10, actual: 25 }]);
    assert!(matches!(ask(), Err(AdmitError::CapReached { used: 25, .. })));
}

// Approvals

fn a_second_redeemer_gets_nothing(store: &dyn Store) {
    put_pending(store, "p");
    put_approval(store, "p", "n").unwrap();
    let first = store.admit(&stored("p", "n")).unwrap();
    assert_eq!(store.admit(&stored("p", "n")), Err(AdmitError::ApprovalSpent(pending_id("p"))));
    assert_eq!(store.admit(&seat("p")), Err(AdmitError::ApprovalSpent(pending_id("p"))));
    let (_, state) = store.pending(&pending_id("p"), NOW).unwrap().unwrap();
    assert_eq!(state, PendingState::Spent(first.seq()));
}

fn a_key_press_spends_the_pending_call_itself(store: &dyn Store) {
    put_pending(store, "p");
    put_approval(store, "p", "n").unwrap();
    store.admit(&seat("p")).unwrap();
    assert_eq!(store.admit(&stored("p", "n")), Err(AdmitError::ApprovalSpent(pending_id("p"))));
}

fn an_approval_is_for_one_call_only(store: &dyn Store) {
    put_pending(store, "p");
    put_pending(store, "q");
    put_approval(store, "p", "n").unwrap();
    let neighbour = |pending: &str, what: &str| {
        let (pending, digest, nonce) = (pending_id(pending), digest(what), b"n".to_vec());
        store.admit(&Admission { approval: Some(ApprovalUse::Stored { pending, digest, nonce }), ..admission(vec![]) })
    };
    assert_eq!(neighbour("p", "q"), Err(AdmitError::ApprovalMismatch(pending_id("p"))));
    assert_eq!(neighbour("q", "q"), Err(AdmitError::ApprovalUnknown(pending_id("q"))));
    assert_eq!(neighbour("x", "x"), Err(AdmitError::ApprovalUnknown(pending_id("x"))));
    assert_eq!(store.admit(&stored("p", "m")), Err(AdmitError::ApprovalUnknown(pending_id("p"))));
}

fn an_approval_ends_at_its_time(store: &dyn Store) {
    put_pending(store, "p");
    put_approval(store, "p", "n").unwrap();
    let late = NOW + 600_000;
    assert_eq!(store.admit(&at(late, stored("p", "n"))), Err(AdmitError::ApprovalExpired(pending_id("p"))));
    assert_eq!(store.admit(&at(late, seat("p"))), Err(AdmitError::ApprovalExpired(pending_id("p"))));
    assert_eq!(store.approval_for(&ApprovalKey::Pending(pending_id("p")), late).unwrap(), None);
    assert_eq!(store.pending(&pending_id("p"), late).unwrap().unwrap().1, PendingState::Expired);
    store.admit(&at(late - 1, stored("p", "n"))).unwrap();
}

fn a_no_ends_a_pending_call_even_after_a_yes(store: &dyn Store) {
    put_pending(store, "p");
    put_approval(store, "p", "n").unwrap();
    let no = Scrubbed::fixed("not today");
    store.put_denial(&pending_id("p"), &no, &record(Event::Approval)).unwrap();
    assert_eq!(store.admit(&stored("p", "n")), Err(AdmitError::ApprovalDenied(pending_id("p"))));
    assert_eq!(store.admit(&seat("p")), Err(AdmitError::ApprovalDenied(pending_id("p"))));
    assert_eq!(store.pending(&pending_id("p"), NOW).unwrap().unwrap().1, PendingState::Denied(no));
    assert_eq!(put_approval(store, "p", "m"), Err(ApprovalError::Answered(pending_id("p"))));
}

fn an_answer_that_does_not_fit_is_not_taken(store: &dyn Store) {
    put_pending(store, "p");
    put_pending(store, "q");
    assert_eq!(put_approval(store, "x", "n"), Err(ApprovalError::Unknown(pending_id("x"))));
    let other = ApprovalRow { digest: digest("q"), ..approval("p", "n") };
    assert_eq!(store.put_approval(&other, &record(Event::Approval)), Err(ApprovalError::Mismatch(pending_id("p"))));
    let stale = ApprovalRow { expires: NOW, ..approval("p", "n") };
    assert_eq!(store.put_approval(&stale, &record(Event::Approval)), Err(ApprovalError::Expired(pending_id("p"))));
    put_approval(store, "p", "n").unwrap();
    assert_eq!(put_approval(store, "p", "m"), Err(ApprovalError::Answered(pending_id("p"))));
    assert_eq!(put_approval(store, "q", "n"), Err(ApprovalError::NonceUsed(pending_id("q"))));
    let late = Record { ts: NOW + 600_000, ..record(Event::Approval) };
    let too_late = store.put_approval(&approval("q", "k"), &late);
    assert_eq!(too_late, Err(ApprovalError::Expired(pending_id("q"))));
}

fn only_what_can_be_answered_is_listed(store: &dyn Store) {
    for id in ["a", "b", "c", "d"] {
        put_pending(store, id);
    }
    put_approval(store, "b", "n").unwrap();
    store.put_denial(&pending_id("c"), &Scrubbed::fixed("no"), &record(Event::Approval)).unwrap();
    store.admit(&seat("d")).unwrap();
    let ids = |now| -> Vec<String> { store.list_pending(now).unwrap().iter().map(|row| row.id.to_string()).collect() };
    assert_eq!((ids(NOW), ids(NOW + 600_000)), (vec!["a".to_owned()], vec![]));
}

fn a_pending_id_is_used_once(store: &dyn Store) {
    put_pending(store, "p");
    let (row, state) = store.pending(&pending_id("p"), NOW).unwrap().unwrap();
    assert_eq!((state, row.rendered.to_text()), (PendingState::Open, "rm tmp.txt".to_owned()));
    let again = store.put_pending(&row, &record(Event::Decision), &[]);
    assert_eq!(again, Err(ApprovalError::Exists(pending_id("p"))));
}

fn an_approval_is_found_by_what_was_approved_within_its_run(store: &dyn Store) {
    put_pending(store, "p");
    let find = |name: &str| store.approval_for(&ApprovalKey::Digest(run(name), digest("p")), NOW).unwrap();
    assert_eq!(find("r1"), None);
    put_approval(store, "p", "n").unwrap();
    assert_eq!((find("r1"), find("r2")), (Some(approval("p", "n")), None));
    store.admit(&stored("p", "n")).unwrap();
    assert_eq!(find("r1"), None);
}

// Halts

fn a_halt_over_everything_or_the_run_refuses(store: &dyn Store) {
    for scope in [HaltScope::All, HaltScope::Run(run("r1"))] {
        let state = store.raise_halt(&halt(scope.clone())).unwrap();
        let raised = state.raised.unwrap();
        assert_eq!((&raised.scope, raised.since), (&scope, NOW));
        let now = Admission { halt_generation: generation(store), ..admission(vec![]) };
        assert!(matches!(store.admit(&now), Err(AdmitError::Halted(why)) if why.reason == Scrubbed::fixed("smoke")));
        assert_eq!(store.clear_halt(&halt(scope)).unwrap().raised, None);
    }
}

fn a_halt_over_another_run_does_not_touch_this_one(store: &dyn Store) {
    store.raise_halt(&halt(HaltScope::Run(run("r2")))).unwrap();
    assert_eq!(generation(store), 0);
    store.admit(&admission(vec![])).unwrap();
}

fn a_call_judged_before_a_halt_is_not_admitted_after_it(store: &dyn Store) {
    store.raise_halt(&halt(HaltScope::All)).unwrap();
    store.clear_halt(&halt(HaltScope::All)).unwrap();
    assert!(matches!(store.admit(&admission(vec![])), Err(AdmitError::HaltMoved { seen: 0, .. })));
    let anew = Admission { halt_generation: generation(store), ..admission(vec![]) };
    store.admit(&anew).unwrap();
}

fn the_generation_grows_with_every_change(store: &dyn Store) {
    let mut last = 0;
    for scope in [HaltScope::All, HaltScope::Run(run("r1")), HaltScope::All] {
        for change in [Store::raise_halt, Store::clear_halt] {
            assert!(change(store, &halt(scope.clone())).unwrap().generation > last);
            last = generation(store);
        }
    }
}

// Runs

fn a_run_comes_back_in_order_and_bounded(store: &dyn Store) {
    let call = |n: u8| RunNote::Called { tool: "grep".into(), call: Digest::of(&[n]), outcome: OutcomeClass::Open };
    let seqs: Vec<u64> = (0..5).map(|n| store.append(&record(Event::Decision), &[call(n)]).unwrap().seq).collect();
    let result = Some(digest("out"));
    let done = RunNote::Finished(Finish { seq: seqs[4], result, outcome: OutcomeClass::Done, changed_state: true });
    store.append(&record(Event::ToolResult), &[done]).unwrap();
    let rows = store.load_run(&run("r1"), 2).unwrap();
    assert_eq!(rows.calls.iter().map(|row| row.seq).collect::<Vec<_>>(), seqs[3..]);
    let expected = CallRow {
        seq: seqs[4],
        tool: "grep".into(),
        call: Digest::of(&[4]),
        result,
        outcome: OutcomeClass::Done,
        changed_state: true,
    };
    assert_eq!(rows.calls[1], expected);
    assert_eq!(store.load_run(&run("r2"), 9).unwrap(), RunRows::default());
}

fn the_end_of_a_call_nobody_noted_is_an_error(store: &dyn Store) {
    let end = Finish { seq: 1, result: None, outcome: OutcomeClass::Done, changed_state: false };
    let refused = store.append(&record(Event::ToolResult), &[RunNote::Finished(end)]);
    assert_eq!((refused, append(store)), (Err(StoreError::UnknownCall(1)), 1));
}

fn labels_only_rise(store: &dyn Store) {
    for labels in [Labels::UNTRUSTED, Labels::NONE, Labels::SENSITIVE.union(Labels::from_bits(1 << 9))] {
        store.append(&record(Event::ToolResult), &[RunNote::Raise(labels)]).unwrap();
    }
    let labels = store.load_run(&run("r1"), 1).unwrap().labels;
    assert_eq!(labels.bits(), 1 | 2 | 1 << 9);
}

fn everything_noted_comes_back(store: &dyn Store) {
    let scrubber = Scrubber::formats_only();
    let file = |content: &str| WrittenFile::new("src/a.rs", digest(content), &scrubber);
    let given = Given::new(GivenKind::Host, "example.org", &scrubber);
    let denials: Vec<_> = ["a", "b"].map(|rule| DenialRow { intent: digest("i"), rule: rule.into() }).into();
    let notes = [
        RunNote::Wrote(file("one")),
        RunNote::Wrote(file("two")),
        RunNote::Given(given.clone()),
        RunNote::Given(given.clone()),
        RunNote::Denied(denials[0].clone()),
        RunNote::Denied(denials[1].clone()),
        RunNote::Count { name: "turns".into(), by: 3 },
        RunNote::Count { name: "turns".into(), by: -1 },
    ];
    store.append(&record(Event::Decision), &notes).unwrap();
    let rows = store.load_run(&run("r1"), 9).unwrap();
    assert_eq!((rows.written, rows.given, rows.denials), (vec![file("two")], vec![given], denials));
    assert_eq!((rows.counters, rows.truncated), (vec![("turns".to_owned(), 2)], false));
}

fn too_many_files_are_named_as_truncated(store: &dyn Store) {
    let scrubber = Scrubber::formats_only();
    let file = |n: u32| RunNote::Wrote(WrittenFile::new(&format!("f{n}"), digest("x"), &scrubber));
    let notes: Vec<_> = (0..5000).map(file).collect();
    store.append(&record(Event::ToolResult), &notes).unwrap();
    assert!(store.load_run(&run("r1"), 1).unwrap().truncated);
}

// Advice

fn advised(id: &str) -> Admission {
    let advice = NewAdvice { session: "s".into(), tool_use_id: id.into(), row: Scrubbed::fixed("allow") };
    Admission {
        advice: Some(advice),
        hold: Hold::Until(NOW + 1000),
        ..admission(vec![line("user", "calls", 1, Some(2))])
    }
}

fn advice_is_taken_once_and_settled_by_its_id(store: &dyn Store) {
    let receipt = store.admit(&advised("t1")).unwrap();
    let taken = store.take_advice("s", "t1").unwrap();
    assert_eq!((taken.seq, taken.reservation), (receipt.seq(), receipt.reservation()));
    assert_eq!((taken.run, taken.row), (run("r1"), Scrubbed::fixed("allow")));
    assert_eq!(store.take_advice("s", "t1"), Err(AdviceError::Taken));
    store.settle(&settlement(&receipt, &[])).unwrap();
    assert_eq!(budget(store, "user", "calls"), (0, 1));
}

fn advice_nobody_gave_is_unknown(store: &dyn Store) {
    store.admit(&advised("t1")).unwrap();
    assert_eq!(store.take_advice("s", "t2"), Err(AdviceError::Unknown));
    assert_eq!(store.take_advice("st", "1"), Err(AdviceError::Unknown));
}

fn an_id_that_was_used_is_refused_and_reserves_nothing(store: &dyn Store) {
    store.admit(&advised("t1")).unwrap();
    assert_eq!(store.admit(&advised("t1")), Err(AdmitError::AdviceExists));
    assert_eq!(budget(store, "user", "calls"), (1, 0));
}

macro_rules! conforms {
    ($backend:ident: $($case:ident)*) => {
        mod $backend {
            $(#[test] fn $case() {
                let home = crate::support::Home::new();
                super::$case(&home.open());
            })*
        }
    };
}

conforms! { sqlite:
    records_are_numbered_from_one_without_a_gap
    a_refused_admission_leaves_nothing_behind
    a_cap_is_reached_exactly_and_never_passed
    any_scope_of_a_nest_refuses_for_all
    lines_of_one_counter_add_up_within_one_admission
    an_absurd_amount_is_refused_and_never_wraps
    settling_replaces_what_was_reserved_by_what_was_used
    a_second_settlement_is_an_error_and_changes_nothing
    a_counter_that_is_not_named_is_charged_in_full
    what_was_used_beyond_the_reservation_is_named_and_stops_the_next
    a_second_redeemer_gets_nothing
    a_key_press_spends_the_pending_call_itself
    an_approval_is_for_one_call_only
    an_approval_ends_at_its_time
    a_no_ends_a_pending_call_even_after_a_yes
    an_answer_that_does_not_fit_is_not_taken
    only_what_can_be_answered_is_listed
    a_pending_id_is_used_once
    an_approval_is_found_by_what_was_approved_within_its_run
    a_halt_over_everything_or_the_run_refuses
    a_halt_over_another_run_does_not_touch_this_one
    a_call_judged_before_a_halt_is_not_admitted_after_it
    the_generation_grows_with_every_change
    a_run_comes_back_in_order_and_bounded
    the_end_of_a_call_nobody_noted_is_an_error
    labels_only_rise
    everything_noted_comes_back
    too_many_files_are_named_as_truncated
    advice_is_taken_once_and_settled_by_its_id
    advice_nobody_gave_is_unknown
    an_id_that_was_used_is_refused_and_reserves_nothing
}
