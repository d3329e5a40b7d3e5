//! Model turns: reserved before the request, settled by the provider's usage.

use serde_json::Value;
use tollgate_ledger::{Actual, Admission, Event, HaltScope, Hold, ReservationId, Settlement};

use crate::budget;
use crate::gate::Gate;
use crate::journal::About;
use crate::refusal::{not_admitted, unreachable_ledger};
use crate::verdict::Denial;

/// What a model turn costs, expected or used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnCost {
    /// Tokens, cached ones included.
    pub tokens: u64,
    /// Micro-dollars.
    pub microusd: u64,
}

/// A model turn that was reserved and not yet settled.
#[must_use = "a turn that is not closed is charged in full"]
#[derive(Debug)]
pub struct OpenTurn(ReservationId);

/// How a model turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model answered.
    Answered,
    /// It did not.
    Failed,
}

impl Gate {
    /// Reserves a turn of user message number `message`, at its expected cost.
    ///
    /// # Errors
    /// A [`Denial`] when a cap is reached, the run is halted, or the ledger fails.
    pub fn open_turn(&self, message: u64, expected: TurnCost, data: &Value) -> Result<OpenTurn, Denial> {
        self.guarded(About::Nothing, || self.reserve_turn(message, expected, data)).flatten()
    }

    /// Settles a turn by what was used.
    ///
    /// # Errors
    /// A [`Denial`] when the ledger fails.
    pub fn close_turn(&self, turn: OpenTurn, used: TurnCost, end: TurnEnd, data: &Value) -> Result<(), Denial> {
        let event = match end {
            TurnEnd::Answered => Event::ModelResponse,
            TurnEnd::Failed => Event::ModelError,
        };
        let settlement = Settlement {
            reservation: turn.0,
            actual: vec![
                Actual { counter: "turns".to_owned(), amount: 1 },
                Actual { counter: "tokens".to_owned(), amount: used.tokens },
                Actual { counter: "microusd".to_owned(), amount: used.microusd },
            ],
            notes: Vec::new(),
            record: self.record(event, data),
        };
        self.store.settle(&settlement).map(drop).map_err(|error| unreachable_ledger(&error))
    }

    fn reserve_turn(&self, message: u64, expected: TurnCost, data: &Value) -> Result<OpenTurn, Denial> {
        let now_ms = self.clock.now_ms();
        budget::time(&self.policy, self.started_ms, now_ms)?;
        let state =
            self.store.halt_state(&HaltScope::Run(self.run.clone())).map_err(|error| unreachable_ledger(&error))?;
        let admission = Admission {
            halt_generation: state.generation,
            approval: None,
            lines: budget::turn_lines(&self.policy, self.run.as_str(), message, expected, now_ms),
            hold: Hold::Process,
            advice: None,
            notes: Vec::new(),
            record: self.record(Event::ModelRequest, data),
        };
        let denied = |error| {
            let denial = not_admitted(&error);
            if denial.kind == crate::DenialKind::Budget {
                self.note(Event::CapHit, &serde_json::json!({ "rule": denial.rule, "because": denial.because }))?;
            }
            Err(denial)
        };
        self.store.admit(&admission).map(|receipt| OpenTurn(receipt.reservation())).or_else(denied)
    }
}
