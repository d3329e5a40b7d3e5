use tollgate_gate::{Outcome, Report, Settling};

fn forge(settling: Settling, report: Report) -> Outcome {
    Outcome { settling, report }
}

fn main() {}
