use tollgate_gate::Permit;

fn twice(permit: &Permit) -> (Permit, Permit) {
    (Permit::clone(permit), Permit::clone(permit))
}

fn main() {}
