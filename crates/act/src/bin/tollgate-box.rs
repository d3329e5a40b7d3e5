//! The box helper alone, for the tests and benches of this crate; the product's helper is `tollgate __box`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args_os().nth(1) {
        Some(word) if word == "__box" => tollgate_act::sandbox::box_main(),
        _ => ExitCode::from(2),
    }
}
