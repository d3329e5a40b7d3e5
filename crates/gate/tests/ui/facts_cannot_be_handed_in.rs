use tollgate_call::Proposal;
use tollgate_call::facts::Facts;
use tollgate_gate::{Gate, Verdict};

fn judged_by_my_facts(gate: &Gate, proposal: &Proposal, facts: &Facts) -> Verdict {
    gate.submit(proposal, facts)
}

fn main() {}
