use tollgate_gate::{Deed, Permit, Settling};

fn twice(permit: Permit) -> ((Deed, Settling), (Deed, Settling)) {
    (permit.into_parts(), permit.into_parts())
}

fn main() {}
