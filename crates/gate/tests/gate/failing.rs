//! No error path allows: what fails beneath the gate is a denial.

use crate::support::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use tollgate_ledger::*;

/// Which call of the ledger or the clock fails, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Panics,
    Errs,
}

/// A real ledger whose `at`-th operation fails, with all that follow.
struct Failing {
    inner: Arc<dyn Store>,
    left: AtomicUsize,
    how: How,
}

impl Failing {
    fn step(&self) -> Result<(), StoreError> {
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match (left, self.how) {
            (Ok(_), _) => Ok(()),
            (Err(_), How::Panics) => panic!("the ledger fails as the test wants"),
            (Err(_), How::Errs) => Err(StoreError::ReadOnly),
        }
    }
}

impl Store for Failing {
    fn admit(&self, admission: &Admission) -> Result<Receipt, AdmitError> {
        self.step()?;
        self.inner.admit(admission)
    }
    fn settle(&self, settlement: &Settlement) -> Result<Settled, SettleError> {
        self.step()?;
        self.inner.settle(settlement)
    }
    fn append(&self, record: &Record, notes: &[RunNote]) -> Result<Appended, StoreError> {
        self.step()?;
        self.inner.append(record, notes)
    }
    fn put_pending(&self, row: &PendingRow, record: &Record, notes: &[RunNote]) -> Result<Appended, ApprovalError> {
        self.step()?;
        self.inner.put_pending(row, record, notes)
    }
    fn list_pending(&self, now: i64) -> Result<Vec<PendingRow>, StoreError> {
        self.step()?;
        self.inner.list_pending(now)
    }
    fn pending(&self, id: &PendingId, now: i64) -> Result<Option<(PendingRow, PendingState)>, StoreError> {
        self.step()?;
        self.inner.pending(id, now)
    }
    fn put_approval(&self, row: &ApprovalRow, record: &Record) -> Result<Appended, ApprovalError> {
        self.step()?;
        self.inner.put_approval(row, record)
    }
    fn put_denial(&self, id: &PendingId, reason: &Scrubbed, record: &Record) -> Result<Appended, ApprovalError> {
        self.step()?;
        self.inner.put_denial(id, reason, record)
    }
    fn approval_for(&self, key: &ApprovalKey, now: i64) -> Result<Option<ApprovalRow>, StoreError> {
        self.step()?;
        self.inner.approval_for(key, now)
    }
    fn raise_halt(&self, change: &HaltChange) -> Result<HaltState, StoreError> {
        self.step()?;
        self.inner.raise_halt(change)
    }
    fn clear_halt(&self, change: &HaltChange) -> Result<HaltState, StoreError> {
        self.step()?;
        self.inner.clear_halt(change)
    }
    fn halt_state(&self, scope: &HaltScope) -> Result<HaltState, StoreError> {
        self.step()?;
        self.inner.halt_state(scope)
    }
    fn take_advice(&self, session: &str, tool_use_id: &str) -> Result<AdviceRow, AdviceError> {
        self.step()?;
        self.inner.take_advice(session, tool_use_id)
    }
    fn load_run(&self, run: &RunId, calls: usize) -> Result<RunRows, StoreError> {
        self.step()?;
        self.inner.load_run(run, calls)
    }
    fn budgets(&self, scope: &str) -> Result<Vec<BudgetRow>, StoreError> {
        self.step()?;
        self.inner.budgets(scope)
    }
    fn mirror(&self) -> MirrorState {
        self.inner.mirror()
    }
}

/// A clock that panics from its `at`-th question on.
struct Stopping(AtomicI64);

impl Clock for Stopping {
    fn now_ms(&self) -> i64 {
        assert!(self.0.fetch_sub(1, Ordering::SeqCst) > 0, "the clock fails as the test wants");
        NOW
    }
}

const fn rule_of(how: How) -> &'static str {
    match how {
        How::Panics => "guard.failed",
        How::Errs => "ledger.unreachable",
    }
}

fn over(world: &World, steps: usize, how: How) -> (Gate, Seat) {
    let store = Failing { inner: world.store(), left: AtomicUsize::new(steps), how };
    world.gate_over("r", Arc::new(store))
}

/// Tries `work` with the ledger failing at every operation in turn, until none is left to fail; returns
/// how many there were.
fn at_every_step(how: How, work: impl Fn(&World, &Gate, &Seat) -> Result<(), Denial>) -> usize {
    for steps in 0..100 {
        let world = World::new();
        world.file("a", "x");
        let (gate, seat) = over(&world, steps, how);
        match work(&world, &gate, &seat) {
            Ok(()) => return steps,
            Err(denial) => assert_eq!(denial.rule, rule_of(how), "{steps} {}", denial.message()),
        }
    }
    panic!("it never passes")
}

fn said(verdict: Verdict) -> Result<(), Denial> {
    match verdict {
        Verdict::Permitted(_) | Verdict::Pending(_) => Ok(()),
        Verdict::Denied(denial) => Err(*denial),
    }
}

#[test]
fn wherever_the_ledger_fails_a_call_is_denied() {
    for how in [How::Panics, How::Errs] {
        let steps = at_every_step(how, |world, gate, _| said(gate.submit(&world.write("b", "x"))));
        assert!(steps >= 4, "halt, budgets, run and admission are asked: {steps}");
    }
}

#[test]
fn wherever_the_ledger_fails_no_approval_is_redeemed() {
    for how in [How::Panics, How::Errs] {
        at_every_step(how, |world, gate, seat| match gate.submit(&world.delete("a")) {
            Verdict::Pending(pending) => {
                let approval = seat.approve(&pending);
                said(gate.redeem(*pending, approval))
            }
            Verdict::Denied(denial) => Err(*denial),
            Verdict::Permitted(permit) => panic!("{permit:?}"),
        });
    }
}

#[test]
fn wherever_the_ledger_fails_the_host_is_told_no() {
    for how in [How::Panics, How::Errs] {
        let advised = (0..100).find(|steps| {
            let world = World::new();
            let (gate, _seat) = over(&world, *steps, how);
            let args = json!({ "path": "b", "content": "x" });
            let advice = gate.advise(&world.hooked("t", "write_file", &args));
            assert!(advice.decision == Decision::Allow || advice.rule == rule_of(how), "{advice:?}");
            advice.decision == Decision::Allow
        });
        assert!(advised.is_some_and(|steps| steps >= 4));
    }
}

#[test]
fn an_outcome_that_cannot_be_recorded_is_told() {
    for how in [How::Panics, How::Errs] {
        at_every_step(how, |world, gate, _| match gate.submit(&world.write("b", "x")) {
            Verdict::Permitted(permit) => gate.settle(perform(*permit)).map(drop),
            Verdict::Denied(denial) => Err(*denial),
            Verdict::Pending(pending) => panic!("{pending:?}"),
        });
    }
}

#[test]
fn wherever_the_clock_fails_a_call_is_denied() {
    let allowed = (0..100).find(|questions| {
        let world = World::new();
        let clock = Arc::new(Stopping(AtomicI64::new(*questions)));
        let (gate, _seat) = world.builder(world.store(), clock).open(RunId::parse("r").unwrap()).unwrap();
        match gate.submit(&world.write("b", "x")) {
            Verdict::Permitted(_) => true,
            Verdict::Denied(denial) => {
                assert_eq!(denial.rule, "guard.failed");
                false
            }
            Verdict::Pending(pending) => panic!("{pending:?}"),
        }
    });
    assert!(allowed.is_some_and(|questions| questions >= 2));
}

#[test]
fn a_permit_lost_to_a_panic_stays_reserved() {
    let world = World::new();
    let lost = (0..100).find_map(|questions| {
        let clock = Arc::new(Stopping(AtomicI64::new(questions)));
        let run = format!("r{questions}");
        let (gate, _seat) = world.builder(world.store(), clock).open(RunId::parse(&run).unwrap()).unwrap();
        let denied = matches!(gate.submit(&world.write("b", "x")), Verdict::Denied(_));
        (denied && world.used(&run, "calls") != (0, 0)).then(|| world.used(&run, "calls"))
    });
    assert_eq!(lost, Some((1, 0)), "a panic after the admission leaves its reservation");
}

#[test]
fn a_damaged_ledger_denies() {
    let world = World::new();
    let (gate, _seat) = world.gate("r");
    done(&gate, &world.write("a", "x"));
    drop(gate);
    let (gate, _seat) = world.gate("r");
    let state = world.state_dir();
    for entry in std::fs::read_dir(state.path()).unwrap() {
        let path = entry.unwrap().path();
        let length = usize::try_from(path.metadata().unwrap().len()).unwrap();
        std::fs::write(path, vec![0x5a; length]).unwrap();
    }
    assert_denied(gate.submit(&world.write("b", "x")), "ledger.unreachable");
}
