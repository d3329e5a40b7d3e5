use tollgate_gate::Advice;
use tollgate_policy::Decision;

fn forge() -> Advice {
    Advice { decision: Decision::Allow, rule: String::new(), reason: String::new(), pending: None, halted: false }
}

fn main() {}
