//! The hook door: a host agent asks before and reports after, each time in a new process.
//!
//! Most hosts run the tool when a hook is slow, crashes or answers a word wrong, so this door always
//! answers: a deadline far below the host's, a panic and unreadable input all end in a denial.

pub(crate) mod claude;

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tollgate::call::Proposal;
use tollgate::call::facts::Confinement;
use tollgate::gate::{Advice, Approver, Gate, Report};

use crate::args::{Agent, Common, Hook, Limits, Scope};
use crate::assembly;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::home::Home;
use crate::printer::Printer;

/// Largest payload that is read, in bytes.
const MAX_PAYLOAD: u64 = 16 * 1024 * 1024;
/// When the answer is a denial whatever happens; hosts wait 15 seconds as installed.
const DEADLINE: Duration = Duration::from_secs(8);

/// What a payload asks of the gate.
pub(crate) enum Asked {
    /// May this happen?
    Before(Box<Proposal>),
    /// This happened.
    After { tool_use_id: String, report: Box<Report>, shape: serde_json::Value },
    /// Nothing that the gate has a say in.
    Nothing,
}

/// What is written to the host.
pub(crate) struct Answer {
    /// Exactly these bytes to stdout; empty for no opinion.
    pub(crate) stdout: String,
    /// For the host's exit code table.
    pub(crate) exit: Exit,
}

/// Answers one hook call.
pub(crate) fn run(args: Hook, common: &Common, printer: Printer) -> Exit {
    let (send, receive) = mpsc::channel();
    let common = common.clone();
    let agent = args.agent;
    let worker = thread::Builder::new().name("hook".to_owned()).spawn(move || {
        let answer = answer(&args, &common);
        drop(send.send(answer));
    });
    // A dead worker drops its sender, so that a panic is noticed at once.
    let answer = match worker {
        Ok(_running) => receive
            .recv_timeout(DEADLINE)
            .unwrap_or_else(|_| refusal(agent, "the guard failed or ran out of time while judging this call")),
        Err(error) => refusal(agent, &format!("the guard could not start: {error}")),
    };
    // An answer that the host never gets must not look like consent.
    match printer.delivered(&answer.stdout) {
        Ok(()) => answer.exit,
        Err(_gone) => Exit::Usage,
    }
}

fn answer(args: &Hook, common: &Common) -> Answer {
    match judged(args, common) {
        Ok(answer) => answer,
        Err(failure) => refusal(args.agent, &failure.message),
    }
}

fn judged(args: &Hook, common: &Common) -> Result<Answer, Failure> {
    let payload = payload()?;
    let asked = match args.agent {
        Agent::ClaudeCode => claude::read(&payload, args.event.as_deref())?,
    };
    let (session, asked) = match asked {
        (_, Asked::Nothing) => return Ok(Answer { stdout: String::new(), exit: Exit::Ok }),
        (session, asked) => (session, asked),
    };
    let gate = gate(args, common, &session)?;
    Ok(match asked {
        Asked::Before(proposal) => said(args.agent, &gate.advise(&proposal)),
        Asked::After { tool_use_id, report, shape } => {
            after(args.agent, &gate, &session, &tool_use_id, &report, &shape)
        }
        Asked::Nothing => Answer { stdout: String::new(), exit: Exit::Ok },
    })
}

fn payload() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(MAX_PAYLOAD + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::denied(format!("the hook's input cannot be read: {error}")))?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len <= MAX_PAYLOAD) {
        Ok(bytes)
    } else {
        Err(Failure::denied(format!("the hook's input is longer than {MAX_PAYLOAD} bytes")))
    }
}

/// Calls of a host's session, which lasts for days, where no file says otherwise.
const USUAL_CALLS: u64 = 10_000;
/// Where the host says that its project is; the model cannot change the host's environment.
const PROJECT: &str = "CLAUDE_PROJECT_DIR";

/// The roots are fixed by the installation or the host: the payload's directory, which follows the
/// agent's `cd`, only resolves relative names.
fn gate(args: &Hook, common: &Common, session: &str) -> Result<Gate, Failure> {
    let home = Home::of(common)?;
    let project = std::env::var_os(PROJECT).map(PathBuf::from).filter(|dir| dir.is_absolute());
    let scope = Scope { root: args.root.clone().or(project), ..Scope::default() };
    let limits = Limits { usual_tool_calls: Some(USUAL_CALLS), ..Limits::default() };
    let assembly = assembly::assemble(&home, &scope, &limits, Confinement::Outside)?;
    let run = tollgate::ledger::RunId::parse(session).map_err(|_| {
        Failure::denied("the host's session id is not one of at most 64 letters, digits, `.`, `_` and `-`")
    })?;
    let store = home.ledger()?;
    let operator = home.operator()?;
    let (gate, _no_seat) = assembly
        .builder(store, &home)
        .operator(operator)
        .approver(Approver::Stored)
        .open(run)
        .map_err(|error| Failure::state(&error))?;
    Ok(gate)
}

fn said(agent: Agent, advice: &Advice) -> Answer {
    match agent {
        Agent::ClaudeCode => claude::render(advice),
    }
}

fn after(agent: Agent, gate: &Gate, session: &str, id: &str, report: &Report, shape: &serde_json::Value) -> Answer {
    match gate.settle_advice(session, id, report) {
        // The host has acted already: what remains is to scrub what its model is about to read.
        Ok(told) => match agent {
            Agent::ClaudeCode => claude::scrubbed(report, &told, shape, gate),
        },
        Err(_denial) => Answer { stdout: String::new(), exit: Exit::Ok },
    }
}

/// The denial that stands for every failure of ours.
fn refusal(agent: Agent, because: &str) -> Answer {
    match agent {
        Agent::ClaudeCode => claude::refusal(because),
    }
}
