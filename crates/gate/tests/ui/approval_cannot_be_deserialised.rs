use tollgate_gate::Approval;

fn forge(text: &str) -> Approval {
    serde_json::from_str::<Approval>(text).unwrap()
}

fn main() {}
