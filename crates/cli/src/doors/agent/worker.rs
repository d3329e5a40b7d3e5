//! The loop: the model proposes, the gate decides, the hands act, the model is told.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Value, json};
use tollgate::act::Hands;
use tollgate::call::{Door, Origin, Proposal, Untrusted};
use tollgate::gate::{Denial, DenialKind, Elsewhere, Gate, Pending, Permit, Seat, Told, TurnCost, TurnEnd, Verdict};
use tollgate::ledger::Event;
use tollgate::policy::Decision;

use super::console::{Answer, Console};
use super::context::Context;
use super::frame::Frame;
use super::inner::Plan;
use super::nudge::Nudges;
use super::plan::PlanGate;
use super::prompt;
use super::stop::{Stop, Urgency};
use super::tally::Tally;
use crate::exit::Exit;
use crate::model::Model;
use crate::model::cancel::CancelFlag;
use crate::model::error::ModelError;
use crate::model::prices::{MicroUsd, Prices, UnknownPrice};
use crate::model::turn::{Delta, Message, ProposedCall, Reply, ToolSpec, Turn};

/// Output tokens that a turn may need at most, reserved before it starts.
const MAX_OUTPUT: u32 = 8_192;
/// Denials in a row after which the agent is stopped: it is not listening.
const MAX_DENIALS_IN_A_ROW: u64 = 10;

/// One agent at work.
pub(crate) struct Worker<'a> {
    pub(crate) gate: &'a Gate,
    pub(crate) seat: Option<&'a Seat>,
    pub(crate) hands: &'a Hands,
    pub(crate) model: Box<dyn Model>,
    pub(crate) console: Rc<RefCell<dyn Console>>,
    pub(crate) stop: &'a Stop,
    pub(crate) cwd: String,
    pub(crate) system: String,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) context: Context,
    pub(crate) tally: Tally,
    pub(crate) prices: Prices,
    pub(crate) messages: u64,
    pub(crate) denials_in_a_row: u64,
    pub(crate) failures_in_a_row: u64,
    pub(crate) frame: Frame,
    pub(crate) plan: Rc<RefCell<Plan>>,
    pub(crate) plan_gate: PlanGate,
    pub(crate) nudges: Nudges,
    /// Scopes and counters of caps that were told to be mostly used up.
    pub(crate) warned: BTreeSet<(String, String)>,
}

/// Why the work on a message ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The model had nothing more to do.
    Finished,
    /// A person pressed Ctrl-C.
    Interrupted,
    /// The run was halted.
    Halted(String),
    /// A cap was reached.
    Capped(String),
    /// The model failed.
    Model(String),
    /// The guard or its ledger failed.
    Guard(String),
}

impl Ended {
    /// The exit code of a run that ended so.
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::Finished => Exit::Ok,
            Self::Interrupted | Self::Halted(_) => Exit::Halted,
            Self::Capped(_) => Exit::Capped,
            Self::Model(_) => Exit::Model,
            Self::Guard(_) => Exit::State,
        }
    }

    /// In a sentence.
    pub(crate) fn why(&self) -> String {
        match self {
            Self::Finished => "finished".to_owned(),
            Self::Interrupted => "interrupted".to_owned(),
            Self::Halted(why) | Self::Capped(why) | Self::Model(why) | Self::Guard(why) => why.clone(),
        }
    }
}

impl Worker<'_> {
    /// Works on one message of the user until the model is done or something stops it.
    pub(crate) fn work(&mut self, message: String) -> Ended {
        self.messages += 1;
        if let Err(denial) = self.gate.hear(&message) {
            return Ended::Guard(denial.message());
        }
        self.context.push(Message::User(message));
        self.denials_in_a_row = 0;
        self.nudges = Nudges::default();
        loop {
            match self.step() {
                Ok(Step::More) => {}
                Ok(Step::Done) => return Ended::Finished,
                Err(ended) => {
                    if matches!(ended, Ended::Capped(_) | Ended::Interrupted) && self.stop.urgency() < Urgency::Now {
                        self.summarise();
                    }
                    return ended;
                }
            }
        }
    }

    fn step(&mut self) -> Result<Step, Ended> {
        self.look_up()?;
        let reply = self.ask(self.messages, self.tools.clone(), &self.stop.cancel.clone())?;
        self.console.borrow_mut().status(&self.tally);
        if reply.calls.is_empty() {
            return self.rest(&reply);
        }
        for call in reply.calls {
            // Every proposed call gets its result, also once the run is stopping: providers insist.
            let told = self.heard(&call);
            self.context.push(Message::ToolResult {
                call_id: call.id,
                name: call.name,
                content: told.text,
                is_error: told.is_error,
            });
        }
        self.give_up_if_unheard()?;
        self.warn()?;
        Ok(Step::More)
    }

    /// Ends a run whose model goes on proposing what is denied.
    fn give_up_if_unheard(&self) -> Result<(), Ended> {
        if self.denials_in_a_row < MAX_DENIALS_IN_A_ROW {
            return Ok(());
        }
        let why = format!("{} calls in a row were denied", self.denials_in_a_row);
        let data = json!({ "rule": "loop.denied", "because": why });
        self.gate.note(Event::CapHit, &data).map_err(ended)?;
        Err(Ended::Capped(why))
    }

    /// Whether something asks the run to stop.
    fn look_up(&self) -> Result<(), Ended> {
        match self.stop.urgency() {
            Urgency::None => Ok(()),
            Urgency::Soon | Urgency::Now if self.stop.is_halted() => {
                Err(Ended::Halted("the run was halted".to_owned()))
            }
            Urgency::Soon | Urgency::Now => Err(Ended::Interrupted),
        }
    }

    /// One model turn: reserved, asked, settled, recorded.
    fn ask(&mut self, message: u64, tools: Vec<ToolSpec>, cancel: &CancelFlag) -> Result<Reply, Ended> {
        self.trim()?;
        let messages = self.context.sent();
        let expected = self.expected()?;
        let data =
            json!({ "model": self.model.name(), "messages": messages.len(), "expected_tokens": expected.tokens });
        let open = self.gate.open_turn(message, expected, &data).map_err(ended)?;
        let turn = Turn {
            system: self.system.clone(),
            messages,
            tools,
            max_output: Some(MAX_OUTPUT),
            deadline: Turn::DEFAULT_DEADLINE.min(self.gate.time_left()),
            cancel,
        };
        let (answer, streamed) = self.listen(&turn);
        match answer {
            Ok(reply) => {
                let used = self.cost(&reply, expected);
                self.tally.turn(used);
                self.gate.close_turn(open, used, TurnEnd::Answered, &answered(&reply, used)).map_err(ended)?;
                if !streamed {
                    self.console.borrow_mut().words(&reply.text);
                }
                self.console.borrow_mut().words_end();
                self.context.push(Message::Assistant { text: reply.text.clone(), calls: reply.calls.clone() });
                Ok(reply)
            }
            Err(error) => {
                // What a failed request cost is not known: it stays charged as expected.
                let data = json!({ "error": error.to_string() });
                self.gate.close_turn(open, expected, TurnEnd::Failed, &data).map_err(ended)?;
                Err(self.failed(&error))
            }
        }
    }

    /// What a failed turn means: a stop, the end of the run's time, or a failure of the model.
    fn failed(&self, error: &ModelError) -> Ended {
        match self.look_up() {
            Err(stopped) => stopped,
            Ok(()) if self.gate.time_left().is_zero() => Ended::Capped("the run's time is used up".to_owned()),
            Ok(()) => Ended::Model(error.to_string()),
        }
    }

    /// Leaves out what is old once the conversation is too long for a turn.
    fn trim(&mut self) -> Result<(), Ended> {
        let Some(data) = self.context.trim(&self.system) else { return Ok(()) };
        self.gate.note(Event::ContextTrimmed, &data).map_err(ended)
    }

    /// Asks the model and shows its words as they come; says whether any came before the end.
    fn listen(&mut self, turn: &Turn<'_>) -> (Result<Reply, ModelError>, bool) {
        let mut streamed = false;
        let answer = self.model.turn(turn, &mut |delta| {
            streamed |= matches!(delta, Delta::Text(_));
            show(&mut *self.console.borrow_mut(), delta);
        });
        (answer, streamed)
    }

    /// The most that the next turn may cost, from the length of what is sent.
    fn expected(&self) -> Result<TurnCost, Ended> {
        let input = self.context.tokens(&self.system);
        let output = u64::from(MAX_OUTPUT);
        let price = self.prices.at_most(self.model.name(), self.model.locality(), input, output);
        Ok(TurnCost { tokens: input.saturating_add(output), microusd: known(price)? })
    }

    /// What a turn did cost. A provider that says nothing is charged what was expected.
    fn cost(&self, reply: &Reply, expected: TurnCost) -> TurnCost {
        let Some(usage) = reply.usage else { return expected };
        let price = self.prices.price(self.model.name(), self.model.locality(), Some(usage));
        TurnCost { tokens: usage.total(), microusd: price.map_or(expected.microusd, |MicroUsd(amount)| amount) }
    }

    /// One proposed call, through the gate.
    pub(super) fn call(&mut self, call: &ProposedCall) -> Told {
        self.console.borrow_mut().proposed(&call.name, &call.arguments);
        let proposal = Proposal {
            tool: Untrusted::new(call.name.clone()),
            args: Untrusted::new(call.arguments.clone().into_bytes()),
            origin: Origin {
                door: Door::Agent,
                run: self.gate.run().as_str().to_owned(),
                call_id: call.id.clone(),
                cwd: self.cwd.clone(),
            },
        };
        let verdict = self.gate.submit(&proposal);
        self.carry_out(&call.name, verdict)
    }

    fn carry_out(&mut self, tool: &str, verdict: Verdict) -> Told {
        match verdict {
            Verdict::Permitted(permit) => self.perform(tool, *permit),
            Verdict::Pending(pending) => self.confirm(tool, *pending),
            Verdict::Denied(denial) => self.refused(tool, &denial),
        }
    }

    fn confirm(&mut self, tool: &str, pending: Pending) -> Told {
        let rule = pending.findings().iter().find(|finding| finding.decision == Decision::Ask);
        self.tally.asked.extend(rule.map(|finding| finding.rule.to_string()));
        let answer = self.console.borrow_mut().approve(&pending, &|| self.gate.answered_elsewhere(&pending));
        match (answer, self.seat) {
            (Answer::Once, Some(seat)) => {
                let approval = seat.approve(&pending);
                let verdict = self.gate.redeem(pending, approval);
                self.carry_out(tool, verdict)
            }
            (Answer::Elsewhere(Elsewhere::Denied(reason)), _) => {
                let denial = self.gate.denied_elsewhere(&reason);
                self.refused(tool, &denial)
            }
            (Answer::No(reason), _) => {
                let denial = self.gate.decline(&pending, &reason);
                self.refused(tool, &denial)
            }
            (Answer::Once | Answer::Nobody | Answer::Elsewhere(Elsewhere::Approved), _)
                if let Some(approval) = self.gate.stored_approval(&pending) =>
            {
                let verdict = self.gate.redeem(pending, approval);
                self.carry_out(tool, verdict)
            }
            (Answer::Once | Answer::Nobody | Answer::Elsewhere(Elsewhere::Approved), _) => {
                let denial = self.gate.decline(&pending, "nobody was there to answer");
                self.refused(tool, &denial)
            }
        }
    }

    fn perform(&mut self, tool: &str, permit: Permit) -> Told {
        let outcome = self.hands.perform_with(permit, &self.stop.signal, &|from, url| self.gate.redirect(from, url));
        match self.gate.settle(outcome) {
            Ok(told) => {
                self.denials_in_a_row = 0;
                self.tally.performed += 1;
                self.console.borrow_mut().performed(tool, &told);
                told
            }
            Err(denial) => self.refused(tool, &denial),
        }
    }

    pub(super) fn refused(&mut self, tool: &str, denial: &Denial) -> Told {
        self.denials_in_a_row += 1;
        self.tally.denied.push(denial.rule.clone());
        self.console.borrow_mut().denied(tool, denial);
        Told { text: denial.message(), is_error: true }
    }

    /// The last words: one more turn without tools, or, where even that fails, the plain counts.
    fn summarise(&mut self) {
        self.context.push(Message::User(prompt::SUMMARISE.to_owned()));
        let cancel = self.stop.cancel_summary.clone();
        // A message number of its own: the summary does not count against the turns of the user's.
        if self.ask(u64::MAX, Vec::new(), &cancel).is_err() {
            self.console.borrow_mut().notice(&format!("no summary could be had from the model; {}", self.tally.line()));
        }
    }
}

/// Whether there is more to do.
pub(super) enum Step {
    More,
    Done,
}

fn show(console: &mut dyn Console, delta: Delta) {
    match delta {
        Delta::Text(text) => console.words(&text),
        Delta::Reasoning(_) => {}
        Delta::Retrying { attempt, wait, because } => {
            console.notice(&format!("the model refused try {attempt} ({because}); waiting {} s", wait.as_secs()));
        }
    }
}

/// A price that is not known is refused before it is spent against a cap.
fn known(price: Result<MicroUsd, UnknownPrice>) -> Result<u64, Ended> {
    price.map(|MicroUsd(amount)| amount).map_err(|unknown| Ended::Capped(unknown.to_string()))
}

/// What a denial of the gate means for the loop.
pub(super) fn ended(denial: Denial) -> Ended {
    match denial.kind {
        DenialKind::Budget => Ended::Capped(denial.message()),
        DenialKind::Halt => Ended::Halted(denial.message()),
        DenialKind::Malformed | DenialKind::Policy | DenialKind::Human | DenialKind::Timeout | DenialKind::Guard => {
            Ended::Guard(denial.message())
        }
    }
}

fn answered(reply: &Reply, used: TurnCost) -> Value {
    json!({
        "text": reply.text,
        "calls": reply.calls.iter().map(|call| json!({ "id": call.id, "tool": call.name })).collect::<Vec<_>>(),
        "stop": format!("{:?}", reply.stop),
        "tokens": used.tokens,
        "microusd": used.microusd,
    })
}
