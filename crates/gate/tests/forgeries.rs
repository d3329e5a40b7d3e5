//! Forging or reusing what the gate gives out does not compile.
//!
//! Each file of `tests/ui` is one attempt; the compiler's answer lies beside it. `TRYBUILD=overwrite`
//! writes the answers anew.

use tollgate_call::Proposal;
use tollgate_gate::{Denial, Gate, Permit, Report, Seat, Told, Verdict};

#[test]
fn no_forgery_compiles() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

/// The rightful way compiles, or every attempt would fail for the wrong reason.
#[expect(dead_code, reason = "compiling is the test")]
fn rightful(gate: &Gate, seat: &Seat, proposal: &Proposal) -> Result<Told, Denial> {
    let permit: Box<Permit> = match gate.submit(proposal) {
        Verdict::Permitted(permit) => permit,
        Verdict::Denied(denial) => return Err(*denial),
        Verdict::Pending(pending) => {
            let approval = seat.approve(&pending);
            match gate.redeem(*pending, approval) {
                Verdict::Permitted(permit) => permit,
                Verdict::Denied(denial) => return Err(*denial),
                Verdict::Pending(pending) => return Err(gate.decline(&pending, "asked twice")),
            }
        }
    };
    let (_deed, settling) = permit.into_parts();
    gate.settle(settling.report(Report::read("done")))
}
