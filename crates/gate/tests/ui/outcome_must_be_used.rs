#![deny(unused_must_use)]

use tollgate_gate::{Report, Settling};

fn forget(settling: Settling) {
    settling.report(Report::read("done"));
}

fn main() {}
