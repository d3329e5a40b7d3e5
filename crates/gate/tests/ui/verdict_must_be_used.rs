#![deny(unused_must_use)]

use tollgate_call::Proposal;
use tollgate_gate::Gate;

fn forget(gate: &Gate, proposal: &Proposal) {
    gate.submit(proposal);
}

fn main() {}
