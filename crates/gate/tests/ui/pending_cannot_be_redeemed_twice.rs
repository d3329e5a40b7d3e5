use tollgate_gate::{Gate, Pending, Seat, Verdict};

fn twice(gate: &Gate, seat: &Seat, pending: Pending) -> (Verdict, Verdict) {
    let (one, two) = (seat.approve(&pending), seat.approve(&pending));
    (gate.redeem(pending, one), gate.redeem(pending, two))
}

fn main() {}
