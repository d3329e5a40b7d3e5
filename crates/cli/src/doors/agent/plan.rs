//! `--approve-plan`: before the first call that acts, a person sees the plan.
//!
//! This only makes the agent wait. What it then proposes is judged as ever, and a yes to the plan approves no call.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};
use tollgate::ledger::Event;

use super::console::{Answer, Console};
use super::inner::Plan;

/// Tools that act on something outside the run.
const ACTING: &[&str] = &["run_bash", "write_file", "edit_file", "delete_file", "webfetch", "send_message"];

/// Whether the plan still waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanGate {
    /// Nobody wants to see it, or it was approved.
    Open,
    /// The next call that acts waits for a person.
    Waiting,
}

/// What a person said of a plan: for the record, and what the model is told where it may not go on.
pub(crate) struct Said {
    pub(crate) event: Event,
    pub(crate) data: Value,
    pub(crate) refusal: Option<&'static str>,
}

impl PlanGate {
    /// Whether this call has to wait.
    pub(crate) fn holds(self, tool: &str) -> bool {
        self == Self::Waiting && ACTING.contains(&tool)
    }

    /// Shows the plan and takes the answer.
    pub(crate) fn ask(&mut self, plan: &RefCell<Plan>, console: &Rc<RefCell<dyn Console>>) -> Said {
        let plan = plan.borrow().list();
        match console.borrow_mut().approve_plan(&plan) {
            Answer::Once => {
                *self = Self::Open;
                Said { event: Event::PlanApproved, data: json!({ "plan": plan }), refusal: None }
            }
            Answer::No(reason) => Said {
                event: Event::PlanRejected,
                data: json!({ "plan": plan, "reason": reason }),
                refusal: Some("The user rejected the plan. Write another one with the todo tools, then go on."),
            },
            Answer::Nobody | Answer::Elsewhere(_) => Said {
                event: Event::PlanRejected,
                data: json!({ "plan": plan, "reason": "nobody was there to answer" }),
                refusal: Some(
                    "The plan needs the user's approval, and nobody is there. Stop, and say what you would do.",
                ),
            },
        }
    }
}
