//! The doors of Tollgate.
#![forbid(unsafe_code)]

#[cfg_attr(not(test), expect(dead_code, reason = "the agent loop that asks models is not here yet"))]
mod model;

fn main() {}
