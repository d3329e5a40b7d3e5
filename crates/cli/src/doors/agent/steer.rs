//! What keeps a working agent on course: the plan before it acts, a word when it stops early or goes on failing, a
//! warning before a cap.

use serde_json::Value;
use tollgate::gate::Told;

use super::nudge::{self, Rest};
use super::worker::{Ended, Step, Worker, ended};
use crate::model::turn::{Message, ProposedCall, Reply};

impl Worker<'_> {
    /// The model proposed nothing: it is done, or it is asked once more.
    pub(super) fn rest(&mut self, reply: &Reply) -> Result<Step, Ended> {
        let open = self.plan.borrow().open();
        match self.nudges.rest(reply, &open) {
            Rest::Done => Ok(Step::Done),
            Rest::Again(words) => {
                self.context.push(Message::User(words));
                Ok(Step::More)
            }
            Rest::Silent => Err(Ended::Model("the model answered nothing, twice".to_owned())),
        }
    }

    /// One proposed call, and its result as the model gets it.
    pub(super) fn heard(&mut self, call: &ProposedCall) -> Told {
        let told = if self.plan_gate.holds(&call.name) { self.planned(call) } else { self.call(call) };
        self.failures_in_a_row = if told.is_error { self.failures_in_a_row + 1 } else { 0 };
        let remark = nudge::replan(self.failures_in_a_row).unwrap_or_default();
        Told { text: format!("{}{remark}", self.frame.around(&call.name, &told.text)), ..told }
    }

    /// The first call that acts: the plan comes before it.
    fn planned(&mut self, call: &ProposedCall) -> Told {
        let said = self.plan_gate.ask(&self.plan, &self.console);
        if let Err(denial) = self.gate.note(said.event, &said.data) {
            return self.refused(&call.name, &denial);
        }
        let Some(refusal) = said.refusal else { return self.call(call) };
        self.tally.denied.push("approval.none".to_owned());
        self.denials_in_a_row += 1;
        let reason = said.data.get("reason").and_then(Value::as_str).unwrap_or_default();
        Told { text: format!("{refusal} Reason: {reason}"), is_error: true }
    }

    /// Tells the user and the model, once each, of caps that are mostly used up.
    pub(super) fn warn(&mut self) -> Result<(), Ended> {
        for near in self.gate.nearing().map_err(ended)? {
            if self.warned.insert((near.scope.clone(), near.counter.clone())) {
                let words = format!("{near}; nothing stops yet");
                self.console.borrow_mut().notice(&words);
                self.context.push(Message::User(format!("[{words}. Come to an end in good time.]")));
            }
        }
        Ok(())
    }
}
