use tollgate_gate::{Advice, Permit};

fn become_permit(advice: Advice) -> Permit {
    Permit::from(advice)
}

fn main() {}
