use tollgate_gate::{Approval, Gate, Pending, Verdict};

fn twice(gate: &Gate, first: Pending, second: Pending, approval: Approval) -> (Verdict, Verdict) {
    (gate.redeem(first, approval), gate.redeem(second, approval))
}

fn main() {}
