use tollgate_gate::{Outcome, Report, Settling};

fn twice(settling: Settling) -> (Outcome, Outcome) {
    (settling.report(Report::read("a")), settling.report(Report::read("b")))
}

fn main() {}
