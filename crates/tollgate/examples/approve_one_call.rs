//! A human's yes to exactly one call: it deletes `tmp.txt` once, and `tmp2.txt` never.
//!
//! `cargo run -p tollgate --example approve_one_call`

mod support;

use std::io::Write as _;

use serde_json::json;
use support::{Problem, gate, proposal};
use tollgate::act::sandbox::HaltSignal;
use tollgate::act::undo::Undo;
use tollgate::act::{Doing, Hands};
use tollgate::gate::{Gate, Pending, Verdict};
use tollgate::policy::{ActionName, Decision, Settings, UserRule};

fn main() -> Result<(), Problem> {
    let base = tempfile::tempdir()?;
    let project = base.path().join("project");
    std::fs::create_dir_all(&project)?;
    std::fs::create_dir_all(base.path().join("home"))?;
    for name in ["tmp.txt", "tmp2.txt"] {
        std::fs::OpenOptions::new().write(true).create_new(true).open(project.join(name))?;
    }
    let (gate, seat, state) = gate(base.path(), Settings { rules: vec![ask_before_delete()], ..Settings::default() })?;
    let hands = Hands::new(Undo::open(state.path())?, "example", Doing::Really);
    let mut out = std::io::stdout();
    let delete = |name: &str| proposal(base.path(), "delete_file", &json!({ "path": name }));
    let (one, neighbour) = (asked(&gate, &delete("tmp.txt")?)?, asked(&gate, &delete("tmp2.txt")?)?);
    let (yes, misused) = (seat.approve(&one), seat.approve(&one));
    if let Verdict::Permitted(permit) = gate.redeem(one, yes) {
        let told = gate.settle(hands.perform(*permit, &HaltSignal::new()?)).map_err(|denial| denial.message())?;
        writeln!(out, "tmp.txt: {}", told.text)?;
    }
    if let Verdict::Denied(denial) = gate.redeem(neighbour, misused) {
        writeln!(out, "tmp2.txt: {}", denial.message())?;
    }
    Ok(())
}

fn ask_before_delete() -> UserRule {
    UserRule {
        effect: Decision::Ask,
        tool: None,
        program: None,
        action: Some(ActionName::Delete),
        path: None,
        host: None,
        invocation: tollgate::policy::Invocation::default(),
        at: "this example".to_owned(),
    }
}

fn asked(gate: &Gate, wish: &tollgate::call::Proposal) -> Result<Pending, Problem> {
    match gate.submit(wish) {
        Verdict::Pending(pending) => Ok(*pending),
        Verdict::Permitted(_) => Err("nobody was asked".into()),
        Verdict::Denied(denial) => Err(denial.message().into()),
    }
}
