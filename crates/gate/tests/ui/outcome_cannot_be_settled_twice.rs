use tollgate_gate::{Gate, Outcome};

fn twice(gate: &Gate, outcome: Outcome) {
    gate.settle(outcome).unwrap();
    gate.settle(outcome).unwrap();
}

fn main() {}
