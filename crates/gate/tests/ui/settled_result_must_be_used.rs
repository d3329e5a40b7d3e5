#![deny(unused_must_use)]

use tollgate_gate::{Gate, Outcome};

fn forget(gate: &Gate, outcome: Outcome) {
    gate.settle(outcome);
}

fn main() {}
