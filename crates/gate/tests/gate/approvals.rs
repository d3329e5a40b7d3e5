//! An approval is for exactly one call, once, for ten minutes.

use crate::support::*;
use std::sync::{Arc, Barrier};
use tollgate_ledger::{ApprovalRow, Record, Scrubber};

#[test]
fn an_exact_approval_lets_the_call_pass_once() {
    let world = World::new();
    let file = world.file("tmp.txt", "x");
    let (gate, seat) = world.gate("r");
    let pending = pending(gate.submit(&world.delete("tmp.txt")));
    let (first, replay) = (seat.approve(&pending), seat.approve(&pending));
    let again = pending_again(&gate, &world, "tmp.txt");
    let outcome = perform(permit(gate.redeem(pending, first)));
    assert!(gate.settle(outcome).is_ok() && !file.exists());
    world.file("tmp.txt", "x");
    assert_denied(gate.redeem(again, replay), "approval.mismatch");
    assert_eq!(world.last(Event::Decision)["rule"], "approval.mismatch");
}

fn pending_again(gate: &Gate, world: &World, path: &str) -> Pending {
    pending(gate.submit(&world.delete(path)))
}

#[test]
fn the_neighbour_is_not_unlocked() {
    let world = World::new();
    world.file("tmp.txt", "x");
    world.file("tmp2.txt", "x");
    let (gate, seat) = world.gate("r");
    let one = pending(gate.submit(&world.delete("tmp.txt")));
    let other = pending(gate.submit(&world.delete("tmp2.txt")));
    assert_denied(gate.redeem(other, seat.approve(&one)), "approval.mismatch");
    assert!(world.workspace().join("tmp2.txt").exists());
    assert!(matches!(gate.submit(&world.delete("tmp2.txt")), Verdict::Pending(_)));
}

#[test]
fn one_byte_more_is_another_call() {
    let mut world = World::new();
    world.settings.rules.push(rule(Decision::Ask, ActionName::Write));
    let (gate, seat) = world.gate("r");
    let one = pending(gate.submit(&world.write("a", "x")));
    for other in [world.write("a", "y"), world.write("a", "x "), world.write("a ", "x"), world.write("./a", "x")] {
        let other = pending(gate.submit(&other));
        assert_denied(gate.redeem(other, seat.approve(&one)), "approval.mismatch");
    }
    let same = pending(gate.submit(&world.write("a", "x")));
    assert_denied(gate.redeem(same, seat.approve(&one)), "approval.mismatch");
    let approval = seat.approve(&one);
    drop(permit(gate.redeem(one, approval)));
}

#[test]
fn a_file_swapped_under_the_path_is_another_call() {
    let world = World::new();
    let file = world.file("a", "x");
    let (gate, seat) = world.gate("r");
    let pending = pending(gate.submit(&world.delete("a")));
    let approval = seat.approve(&pending);
    // The new file exists beside the old one, so that it cannot get the old one's inode.
    let other = world.file("b", "precious");
    std::fs::rename(&other, &file).unwrap();
    assert_denied(gate.redeem(pending, approval), "approval.changed");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "precious");
}

#[test]
fn a_link_put_in_the_way_is_another_call() {
    let mut world = World::new();
    world.settings.rules.push(rule(Decision::Ask, ActionName::Write));
    world.file("real/f", "x");
    world.file("other/f", "x");
    let (gate, seat) = world.gate("r");
    let pending = pending(gate.submit(&world.write("real/f", "y")));
    let approval = seat.approve(&pending);
    std::fs::rename(world.workspace().join("real"), world.workspace().join("was")).unwrap();
    std::os::unix::fs::symlink("other", world.workspace().join("real")).unwrap();
    assert_denied(gate.redeem(pending, approval), "approval.changed");
}

#[test]
fn another_run_and_another_policy_do_not_redeem_it() {
    let mut world = World::new();
    world.file("a", "x");
    world.operator = Some(operator());
    let (gate, _seat) = world.gate("r");
    for change in ["run", "policy"] {
        let pending = pending(gate.submit(&world.delete("a")));
        approve(&world, &pending);
        let approval = gate.stored_approval(&pending).unwrap();
        let (other, _) = match change {
            "run" => world.gate("r2"),
            _ => {
                world.settings.recipients.push("a@b.example".to_owned());
                world.gate("r")
            }
        };
        assert_denied(other.redeem(pending, approval), "approval.changed");
    }
}

#[test]
fn the_seat_of_another_gate_is_nobodys() {
    let world = World::new();
    world.file("a", "x");
    let (gate, _seat) = world.gate("r");
    let (_other, stranger) = world.gate("r");
    let pending = pending(gate.submit(&world.delete("a")));
    let approval = stranger.approve(&pending);
    assert_denied(gate.redeem(pending, approval), "approval.unsigned");
}

#[test]
fn an_approval_holds_for_ten_minutes_and_not_a_moment_longer() {
    for (ms, rule) in [(TTL_MS - 1, None), (TTL_MS, Some("approval.expired"))] {
        let world = World::new();
        world.file("a", "x");
        let (gate, seat) = world.gate("r");
        let pending = pending(gate.submit(&world.delete("a")));
        assert_eq!(pending.expires_ms(), NOW + TTL_MS);
        let approval = seat.approve(&pending);
        world.clock.pass(ms);
        match rule {
            None => drop(permit(gate.redeem(pending, approval))),
            Some(rule) => assert_denied(gate.redeem(pending, approval), rule),
        }
    }
}

#[test]
fn what_became_forbidden_meanwhile_is_denied_though_approved() {
    let world = World::new();
    world.file("d/a", "x");
    let (gate, seat) = world.gate("r");
    let pending = pending(gate.submit(&world.delete("d/a")));
    let approval = seat.approve(&pending);
    // The same directory, inode and all, now hangs outside and is reached through a link.
    std::fs::rename(world.workspace().join("d"), world.dir().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(world.dir().join("elsewhere"), world.workspace().join("d")).unwrap();
    let denial = denial(gate.redeem(pending, approval));
    assert!(world.dir().join("elsewhere/a").exists(), "{}", denial.message());
}

#[test]
fn a_call_that_cannot_be_shown_whole_cannot_be_approved() {
    let mut world = World::new();
    world.settings.rules.push(rule(Decision::Ask, ActionName::Write));
    let (gate, _seat) = world.gate("r");
    let long = "x".repeat(300 * 1024);
    assert_denied(gate.submit(&world.write("a", &long)), "approval.too-long");
    assert!(world.store().list_pending(NOW).unwrap().is_empty());
    let pending = pending(gate.submit(&world.write("a", &"x".repeat(100 * 1024))));
    assert_eq!(pending.rendered().value()["args"]["content"].as_str().unwrap().len(), 100 * 1024);
}

fn approve(world: &World, pending: &Pending) {
    let store = world.store();
    let row = store.pending(pending.id(), world.clock.now_ms()).unwrap().unwrap().0;
    let key = world.operator.as_ref().unwrap().unlock("correct horse").unwrap();
    approve_stored(store.as_ref(), &key, &row, world.clock.as_ref(), &Random).unwrap();
}

#[test]
fn the_operators_signature_from_another_process_redeems_once() {
    let mut world = World::new();
    world.file("a", "x");
    world.operator = Some(operator());
    world.approver = Approver::Stored;
    let (gate, _seat) = world.gate("r");
    let pending = pending(gate.submit(&world.delete("a")));
    assert!(gate.stored_approval(&pending).is_none());
    approve(&world, &pending);
    let (first, second) = (gate.stored_approval(&pending).unwrap(), gate.stored_approval(&pending).unwrap());
    let again = pending_again(&gate, &world, "a");
    drop(permit(gate.redeem(pending, first)));
    assert_denied(gate.redeem(again, second), "approval.mismatch");
}

#[test]
fn a_signature_by_somebody_else_or_over_something_else_is_refused() {
    let mut world = World::new();
    world.file("a", "x");
    let mine = operator();
    for signer in [None, Some(operator())] {
        world.operator = signer;
        let (gate, _seat) = world.gate("r");
        let pending = pending(gate.submit(&world.delete("a")));
        world.operator = Some(mine.clone());
        approve(&world, &pending);
        let approval = gate.stored_approval(&pending).unwrap();
        assert_denied(gate.redeem(pending, approval), "approval.unsigned");
    }
}

#[test]
fn a_row_that_only_claims_a_signature_is_refused() {
    let mut world = World::new();
    world.file("a", "x");
    world.operator = Some(operator());
    let (gate, _seat) = world.gate("r");
    let pending = pending(gate.submit(&world.delete("a")));
    let store = world.store();
    let row = store.pending(pending.id(), NOW).unwrap().unwrap().0;
    let forged = ApprovalRow {
        pending: row.id,
        digest: row.digest,
        nonce: vec![7; 16],
        expires: NOW + TTL_MS,
        signature: vec![0; 64],
    };
    let data = Scrubber::formats_only().scrub_text("forged");
    store.put_approval(&forged, &Record { ts: NOW, run: row.run, event: Event::Approval, data }).unwrap();
    let approval = gate.stored_approval(&pending).unwrap();
    assert_denied(gate.redeem(pending, approval), "approval.unsigned");
    let advice = gate.advise(&world.hooked("t", "delete_file", &json!({ "path": "a" })));
    assert_eq!(advice.decision, Decision::Ask);
}

#[test]
fn what_the_operator_declined_stays_declined() {
    let world = World::new();
    world.file("a", "x");
    let (gate, seat) = world.gate("r");
    let pending = pending(gate.submit(&world.delete("a")));
    let denial = gate.decline(&pending, "not that one");
    assert_eq!((denial.kind, denial.rule.as_str()), (DenialKind::Human, "approval.declined"));
    assert!(denial.message().ends_with("not that one"));
    let approval = seat.approve(&pending);
    assert_denied(gate.redeem(pending, approval), "approval.declined");
}

#[test]
fn sixteen_threads_on_one_approval_get_one_permit() {
    let mut world = World::new();
    world.file("a", "x");
    world.operator = Some(operator());
    let (gate, _seat) = world.gate("r");
    let asked = gate.submit(&world.delete("a"));
    let first = pending(asked);
    approve(&world, &first);
    // Sixteen openings of the same ledger, each with the same stored approval.
    let digest_mates: Vec<_> = (0..16).map(|_| world.gate("r").0).collect();
    let barrier = Arc::new(Barrier::new(digest_mates.len()));
    let args = json!({ "path": "a" });
    let world = &world;
    let allowed: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = digest_mates
            .iter()
            .enumerate()
            .map(|(at, gate)| {
                let (barrier, args) = (Arc::clone(&barrier), args.clone());
                scope.spawn(move || {
                    barrier.wait();
                    let advice = gate.advise(&world.hooked(&format!("t{at}"), "delete_file", &args));
                    usize::from(advice.decision == Decision::Allow)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(allowed, 1);
    let stale = gate.stored_approval(&first);
    assert!(stale.is_none(), "a spent approval is not handed out");
    world.assert_log_is_sound();
}
