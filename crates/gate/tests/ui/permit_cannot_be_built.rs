use tollgate_gate::{Deed, Permit, Settling};

fn forge(deed: Deed, settling: Settling) -> Permit {
    Permit { deed, settling }
}

fn main() {}
