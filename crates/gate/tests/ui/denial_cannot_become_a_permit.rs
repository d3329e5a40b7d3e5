use tollgate_gate::{Denial, Permit};

fn become_permit(denial: Denial) -> Permit {
    denial.into()
}

fn main() {}
