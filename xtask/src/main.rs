//! Runs the repository's chores: `cargo xtask test`, `cargo xtask lint`, `cargo xtask bench`,
//! `cargo xtask score`.
#![forbid(unsafe_code)]

mod bench;
mod command;
mod lint;
mod metadata;
mod score;
mod test;

use std::process::ExitCode;

use command::{Failed, say};

const USAGE: &str = "\
usage: cargo xtask CHORE

  test [ARGS…]   doc tests, then every test of the workspace; ARGS go to `cargo nextest run`
  lint           arrows between crates, forbidden crates, licences, unsafe code, sizes
  bench [NAME…]  every bench there is, or those; keeps the raw output
  score FILE…    JSON Lines of honest and hostile calls: both sides with 95 % intervals, and every miss";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.split_first() {
        Some((chore, rest)) => run(chore, rest),
        None => Err(Failed::Usage(USAGE)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed::Exit(code)) => ExitCode::from(code),
        Err(failed) => {
            say(&format!("xtask: {failed}"));
            ExitCode::FAILURE
        }
    }
}

fn run(chore: &str, rest: &[String]) -> Result<(), Failed> {
    match chore {
        "test" => test::run(rest),
        "lint" => lint::run(),
        "bench" => bench::run(rest),
        "score" => score::run(rest),
        _ => Err(Failed::Usage(USAGE)),
    }
}
