use tollgate_gate::{Denial, DenialKind};

fn forge() -> Denial {
    Denial {
        kind: DenialKind::Human,
        rule: String::new(),
        because: String::new(),
        instead: None,
        findings: Vec::new(),
    }
}

fn main() {}
