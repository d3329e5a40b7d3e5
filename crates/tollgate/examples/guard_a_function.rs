//! Puts the gate in front of a function that writes files: inside the project it is written, outside
//! nothing happens, and both are on the record.
//!
//! `cargo run -p tollgate --example guard_a_function`

mod support;

use std::io::Write as _;

use serde_json::json;
use support::{Problem, gate, proposal};
use tollgate::act::sandbox::HaltSignal;
use tollgate::act::undo::Undo;
use tollgate::act::{Doing, Hands};
use tollgate::gate::{Gate, Verdict};
use tollgate::ledger::log;
use tollgate::policy::Settings;

fn main() -> Result<(), Problem> {
    let base = tempfile::tempdir()?;
    std::fs::create_dir_all(base.path().join("project"))?;
    std::fs::create_dir_all(base.path().join("home"))?;
    let (gate, _seat, state) = gate(base.path(), Settings::default())?;
    let hands = Hands::new(Undo::open(state.path())?, "example", Doing::Really);
    let halt = HaltSignal::new()?;
    let mut out = std::io::stdout();
    for path in ["notes.txt", "/etc/motd", ".git/hooks/pre-commit"] {
        let wish = proposal(base.path(), "write_file", &json!({ "path": path, "content": "hello" }))?;
        writeln!(out, "{path}: {}", ask(&gate, &hands, &halt, &wish))?;
    }
    let records = log::verify(&state)?.records;
    writeln!(out, "{records} records, and the log verifies")?;
    Ok(())
}

/// The whole use of the library: submit, perform, settle.
fn ask(gate: &Gate, hands: &Hands, halt: &HaltSignal, wish: &tollgate::call::Proposal) -> String {
    match gate.submit(wish) {
        Verdict::Permitted(permit) => match gate.settle(hands.perform(*permit, halt)) {
            Ok(told) => told.text,
            Err(denial) => denial.message(),
        },
        Verdict::Pending(pending) => format!("waits for a human as {}", pending.id()),
        Verdict::Denied(denial) => denial.message(),
    }
}
