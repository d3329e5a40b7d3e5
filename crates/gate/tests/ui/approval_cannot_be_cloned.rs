use tollgate_gate::Approval;

fn twice(approval: &Approval) -> (Approval, Approval) {
    (Approval::clone(approval), Approval::clone(approval))
}

fn main() {}
