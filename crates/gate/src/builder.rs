//! Putting a gate together.

use std::sync::Arc;

use tollgate_call::Person;
use tollgate_ledger::{RunId, Scrubber, Store};
use tollgate_policy::Policy;
use tollgate_survey::Surveyor;

use crate::approval::Seat;
use crate::clock::{Clock, Entropy, NoEntropy, nonce};
use crate::gate::{Approver, Gate};
use crate::operator::Operator;

/// Collects what a gate needs. Everything that has no safe default is an argument of
/// [`Gate::builder`].
pub struct GateBuilder {
    policy: Policy,
    surveyor: Surveyor,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    person: Person,
    scrubber: Arc<Scrubber>,
    operator: Option<Operator>,
    approver: Approver,
    started_ms: Option<i64>,
}

impl std::fmt::Debug for GateBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GateBuilder").field("approver", &self.approver).finish_non_exhaustive()
    }
}

impl Gate {
    /// Begins a gate over a policy, a surveyor and a ledger. Until told otherwise nobody can approve,
    /// and only the common token formats are scrubbed.
    pub fn builder(
        policy: Policy,
        surveyor: Surveyor,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        person: Person,
    ) -> GateBuilder {
        GateBuilder {
            policy,
            surveyor,
            store,
            clock,
            entropy,
            person,
            scrubber: Arc::new(Scrubber::formats_only()),
            operator: None,
            approver: Approver::Nobody,
            started_ms: None,
        }
    }
}

impl GateBuilder {
    /// Scrubs these known values too.
    #[must_use]
    pub fn scrubber(mut self, scrubber: impl Into<Arc<Scrubber>>) -> Self {
        self.scrubber = scrubber.into();
        self
    }

    /// Takes this operator's signatures.
    #[must_use]
    pub fn operator(mut self, operator: Option<Operator>) -> Self {
        self.operator = operator;
        self
    }

    /// Says who could approve.
    #[must_use]
    pub const fn approver(mut self, approver: Approver) -> Self {
        self.approver = approver;
        self
    }

    /// Says when the run began, if not now; the wall clock counts from then.
    #[must_use]
    pub const fn started_ms(mut self, started_ms: i64) -> Self {
        self.started_ms = Some(started_ms);
        self
    }

    /// Opens the gate for one run, with its only seat.
    ///
    /// # Errors
    /// [`NoEntropy`] when the system gives no randomness.
    pub fn open(self, run: RunId) -> Result<(Gate, Seat), NoEntropy> {
        let id = nonce(self.entropy.as_ref())?;
        let started_ms = self.started_ms.unwrap_or_else(|| self.clock.now_ms());
        let gate = Gate {
            id,
            run,
            started_ms,
            person: self.person,
            policy: self.policy,
            surveyor: self.surveyor,
            store: self.store,
            clock: self.clock,
            entropy: self.entropy,
            scrubber: self.scrubber,
            operator: self.operator,
            approver: self.approver,
        };
        Ok((gate, Seat { gate: id }))
    }
}
