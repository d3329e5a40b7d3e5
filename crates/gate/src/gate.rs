//! The choke point: every call passes here, in this order, or does not happen.
//!
//! halt → validate → survey → judge → (approval) → admit → permit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tollgate_call::facts::{Assurance, Facts};
use tollgate_call::run_state::RunState;
use tollgate_call::{Call, Person, Proposal};
use tollgate_ledger::{
    Actual, Admission, Digest, Event, HaltScope, Hold, NewAdvice, OutcomeClass, PendingId, PendingRow, Receipt, Record,
    RunId, RunNote, Scrubber, SettleError, Settlement, Store,
};
use tollgate_policy::{Decision, Findings, Policy};
use tollgate_survey::{Handles, Surveyor};

use crate::approval::{Grant, TTL_MS, binding};
use crate::budget;
use crate::clock::{self, Clock, Entropy};
use crate::deed::Deed;
use crate::journal::{self, About};
use crate::memory;
use crate::operator::Operator;
use crate::permit::{Finish, Outcome, Permit, Report, Settling, Told};
use crate::refusal::{from_findings, malformed, not_admitted, unreachable_ledger};
use crate::verdict::{Denial, Pending, Verdict};

/// How many past calls and denials judging looks at.
const RECENT: usize = 64;

/// How long a host may take to report, before the call is charged in full: an hour.
const ADVICE_MS: i64 = 60 * 60 * 1000;

/// Judges calls and mints permits. Made by [`Gate::builder`](crate::GateBuilder).
pub struct Gate {
    pub(crate) id: [u8; 16],
    pub(crate) run: RunId,
    pub(crate) started_ms: i64,
    pub(crate) person: Person,
    pub(crate) policy: Policy,
    pub(crate) surveyor: Surveyor,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) scrubber: Arc<Scrubber>,
    pub(crate) operator: Option<Operator>,
    pub(crate) approver: Approver,
}

/// Who could approve a call of this gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approver {
    /// A person in the operator's seat of this process.
    Seat,
    /// Whoever has the operator's secret, from another process.
    Stored,
    /// Nobody: Ask is Deny.
    Nobody,
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("run", &self.run).field("approver", &self.approver).finish_non_exhaustive()
    }
}

/// A call that was judged, with everything the judgement stood on.
pub(crate) struct Judged {
    pub(crate) call: Call,
    pub(crate) facts: Facts,
    pub(crate) handles: Handles,
    pub(crate) state: RunState,
    pub(crate) findings: Findings,
    pub(crate) digest: Digest,
    pub(crate) generation: u64,
}

impl Gate {
    /// Judges a proposal and, where that is allowed, admits it.
    pub fn submit(&self, proposal: &Proposal) -> Verdict {
        let about = About::Proposal(proposal);
        self.guarded(about, || self.decide(proposal)).unwrap_or_else(|denial| Verdict::Denied(Box::new(denial)))
    }

    /// Settles what was done under a permit: records it, charges what was used, and scrubs the result.
    ///
    /// # Errors
    /// A [`Denial`] when the outcome cannot be recorded; the caller must stop the run.
    pub fn settle(&self, outcome: Outcome) -> Result<Told, Denial> {
        let Outcome { settling, report } = outcome;
        self.guarded(About::Permit(settling.seq), || {
            let elapsed = self.clock.now_ms().saturating_sub(settling.started_ms);
            self.settle_report(&settling, &report, vec![budget::seconds(elapsed)])
        })
        .flatten()
    }

    pub(crate) fn settle_report(
        &self,
        settling: &Settling,
        report: &Report,
        actual: Vec<Actual>,
    ) -> Result<Told, Denial> {
        let told = Told { text: self.scrubber.redact(&report.text), is_error: report.end != Finish::Done };
        let event = if report.end == Finish::TimedOut { Event::ToolTimeout } else { Event::ToolResult };
        let mut notes = vec![memory::finished(settling.seq, report)];
        notes.extend(memory::written(report, &self.scrubber));
        notes.extend(memory::found(report, &self.scrubber));
        let record = self.record(event, &journal::result(settling, report, &told));
        let settlement = Settlement { reservation: settling.reservation, actual, notes, record };
        match self.store.settle(&settlement) {
            Ok(_settled) => Ok(told),
            // It came so late that it was charged in full: what happened still belongs on the record.
            Err(SettleError::Charged(_)) => {
                let appended = self.store.append(&settlement.record, &settlement.notes);
                appended.map(|_| told).map_err(|error| unreachable_ledger(&error))
            }
            Err(error @ (SettleError::Unknown(_) | SettleError::AlreadySettled(_) | SettleError::Store(_))) => {
                Err(unreachable_ledger(&error))
            }
        }
    }

    /// Records an event that reserves nothing.
    ///
    /// # Errors
    /// A [`Denial`] when the ledger cannot be written; the caller must stop the run.
    pub fn note(&self, event: Event, data: &serde_json::Value) -> Result<(), Denial> {
        self.store.append(&self.record(event, data), &[]).map(drop).map_err(|error| unreachable_ledger(&error))
    }

    /// A value with its secrets replaced, in the same shape.
    pub fn redact(&self, value: &serde_json::Value) -> serde_json::Value {
        self.scrubber.scrub_value(value).value().clone()
    }

    /// The policy in force.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The run.
    pub const fn run(&self) -> &RunId {
        &self.run
    }

    /// Runs `work`; a panic anywhere in it, the ledger's and the clock's included, is a denial.
    pub(crate) fn guarded<T>(&self, about: About<'_>, work: impl FnOnce() -> T) -> Result<T, Denial> {
        catch_unwind(AssertUnwindSafe(work)).map_err(|_panic| {
            let denial =
                Denial::new("guard.failed", "the guard failed while judging this call", Some("report this call"));
            // What failed may be the ledger itself: the denial stands without its record.
            drop(catch_unwind(AssertUnwindSafe(|| self.record_refusal(&denial, about))));
            denial
        })
    }

    fn decide(&self, proposal: &Proposal) -> Verdict {
        let judged = match self.judge(proposal) {
            Ok(judged) => judged,
            Err(denial) => return self.denied(denial, About::Proposal(proposal)),
        };
        match judged.findings.decision() {
            Decision::Allow => self.permit(judged, Grant::Rule),
            Decision::Ask => self.pend(judged),
            Decision::Deny => self.refuse(&judged),
        }
    }

    pub(crate) fn judge(&self, proposal: &Proposal) -> Result<Judged, Denial> {
        self.halt_generation()?;
        let call = Call::read(proposal, &self.person).map_err(|error| malformed(&error))?;
        self.within_caps(&call)?;
        self.judge_call(call)
    }

    pub(crate) fn judge_call(&self, call: Call) -> Result<Judged, Denial> {
        let state = self.run_state()?;
        self.judge_under(call, state)
    }

    pub(crate) fn judge_under(&self, call: Call, state: RunState) -> Result<Judged, Denial> {
        let generation = self.halt_generation()?;
        budget::time(&self.policy, self.started_ms, self.clock.now_ms())?;
        let surveyed = self.surveyor.survey(&call);
        let findings = tollgate_policy::judge(&self.policy, &call, &surveyed.facts, &state);
        let findings = findings.retold(|because| self.scrubber.redact(because));
        let digest = binding(&call, &surveyed.facts, &state, self.run.as_str(), &self.policy.digest())
            .map_err(|error| Denial::new("guard.failed", error.to_string(), None))?;
        let judged =
            Judged { call, facts: surveyed.facts, handles: surveyed.handles, state, findings, digest, generation };
        Ok(if judged.findings.decision() == Decision::Allow { self.addressed(judged) } else { judged })
    }

    /// Asks for the addresses of a host that rules or a person let through, and judges them. Nobody is asked
    /// before, because the question alone would carry a name of the model's choice out.
    pub(crate) fn addressed(&self, mut judged: Judged) -> Judged {
        if self.surveyor.resolve(&judged.call, &mut judged.facts, &mut judged.handles) {
            judged.findings = tollgate_policy::judge(&self.policy, &judged.call, &judged.facts, &judged.state);
        }
        judged
    }

    /// What is left of the run's wall clock: nothing that the run waits for may take longer.
    pub fn time_left(&self) -> Duration {
        budget::time_left(&self.policy, self.started_ms, self.clock.now_ms())
    }

    /// Says early what a cap will not let through: no human is asked about it. Admitting checks again.
    pub(crate) fn within_caps(&self, call: &Call) -> Result<(), Denial> {
        let lines = budget::lines(&self.policy, self.run.as_str(), call, self.clock.now_ms());
        let mut scopes: Vec<&str> = lines.iter().filter(|line| line.cap.is_some()).map(|l| l.scope.as_str()).collect();
        scopes.dedup();
        for scope in scopes {
            let rows = self.store.budgets(scope).map_err(|error| unreachable_ledger(&error))?;
            budget::fits(&lines, scope, &rows).map_err(|error| not_admitted(&error))?;
        }
        Ok(())
    }

    /// The handles come first: what cannot be held spends no approval and reserves nothing.
    pub(crate) fn permit(&self, mut judged: Judged, grant: Grant) -> Verdict {
        let handles = std::mem::take(&mut judged.handles);
        let deed = match Deed::of(&judged.call, handles) {
            Ok(deed) => deed.within(self.time_left()),
            Err(denial) => return self.denied(denial, About::Judged(&judged)),
        };
        match self.admit(&judged, grant, None, Assurance::Enforced) {
            Ok(receipt) => {
                let settling = Settling::new(&receipt, self.clock.now_ms(), judged.call.name());
                Verdict::Permitted(Box::new(Permit { deed, settling }))
            }
            Err(denial) => self.denied(denial, About::Judged(&judged)),
        }
    }

    /// Reserves, spends the approval and records, all in one durable step.
    pub(crate) fn admit(
        &self,
        judged: &Judged,
        grant: Grant,
        advice: Option<NewAdvice>,
        assurance: Assurance,
    ) -> Result<Receipt, Denial> {
        let hold = match advice {
            Some(_) => Hold::Until(self.clock.now_ms().saturating_add(ADVICE_MS)),
            None => Hold::Process,
        };
        let mut notes = vec![called(judged, OutcomeClass::Open)];
        notes.extend(memory::labels(&judged.call, &judged.facts));
        let data = journal::decision(judged, grant.word(), assurance);
        let admission = Admission {
            halt_generation: judged.generation,
            approval: grant.approval(),
            lines: budget::lines(&self.policy, self.run.as_str(), &judged.call, self.clock.now_ms()),
            hold,
            advice,
            notes,
            record: self.record(Event::Decision, &data),
        };
        self.store.admit(&admission).map_err(|error| not_admitted(&error))
    }

    fn pend(&self, judged: Judged) -> Verdict {
        match self.approver {
            Approver::Seat | Approver::Stored => match self.wait_for_human(&judged) {
                Ok((id, rendered, expires_ms)) => Verdict::Pending(Box::new(Pending {
                    id,
                    digest: judged.digest,
                    findings: judged.findings.iter().cloned().collect(),
                    call: judged.call,
                    rendered,
                    expires_ms,
                })),
                Err(denial) => self.denied(denial, About::Judged(&judged)),
            },
            Approver::Nobody => {
                let mut denial = from_findings(&judged.findings);
                denial.kind = crate::DenialKind::Timeout;
                denial.because = format!("{} and nobody is there to approve it", denial.because);
                "approval.none".clone_into(&mut denial.rule);
                self.record_denial(&judged, &denial);
                Verdict::Denied(Box::new(denial))
            }
        }
    }

    /// Stores the pending call, whole or not at all.
    pub(crate) fn wait_for_human(
        &self,
        judged: &Judged,
    ) -> Result<(PendingId, tollgate_ledger::Scrubbed, i64), Denial> {
        let shown = json!({ "tool": judged.call.name(), "args": judged.call.args(), "cwd": judged.call.origin().cwd });
        let rendered = self.scrubber.scrub_whole(&shown).ok_or_else(|| {
            Denial::new(
                "approval.too-long",
                "the call is too long to be shown whole to a human",
                Some("split it into smaller calls"),
            )
        })?;
        let id = clock::id(self.clock.as_ref(), self.entropy.as_ref())
            .map_err(|error| Denial::new("guard.failed", error.to_string(), None))?;
        let id = PendingId::parse(&id).ok_or_else(|| Denial::new("guard.failed", "an id could not be made", None))?;
        let created = self.clock.now_ms();
        let expires = created.saturating_add(TTL_MS);
        let row = PendingRow {
            id: id.clone(),
            run: self.run.clone(),
            digest: judged.digest,
            rendered: rendered.clone(),
            created,
            expires,
        };
        let record = self.record(Event::Decision, &journal::decision(judged, "ask", self.assurance()));
        self.store
            .put_pending(&row, &record, &[called(judged, OutcomeClass::Refused)])
            .map_err(|error| unreachable_ledger(&error))?;
        Ok((id, rendered, expires))
    }

    pub(crate) fn refuse(&self, judged: &Judged) -> Verdict {
        let denial = from_findings(&judged.findings);
        self.record_denial(judged, &denial);
        Verdict::Denied(Box::new(denial))
    }

    /// A denial stands whether or not it could be recorded: nothing happens either way.
    pub(crate) fn record_denial(&self, judged: &Judged, denial: &Denial) {
        let record = self.record(Event::Decision, &journal::denial(judged, denial, self.assurance()));
        let notes = [called(judged, OutcomeClass::Refused), memory::denied(&judged.call, &denial.rule)];
        drop(self.store.append(&record, &notes));
    }

    /// Records a denial that no finding made.
    pub(crate) fn denied(&self, mut denial: Denial, about: About<'_>) -> Verdict {
        denial.because = self.scrubber.redact(&denial.because);
        self.record_refusal(&denial, about);
        Verdict::Denied(Box::new(denial))
    }

    fn record_refusal(&self, denial: &Denial, about: About<'_>) {
        let event = match denial.kind {
            crate::DenialKind::Malformed => Event::ValidationError,
            crate::DenialKind::Budget => Event::CapHit,
            crate::DenialKind::Halt => Event::Halt,
            crate::DenialKind::Policy
            | crate::DenialKind::Human
            | crate::DenialKind::Timeout
            | crate::DenialKind::Guard => Event::Decision,
        };
        let data = journal::refusal(denial, about, self.assurance());
        drop(self.store.append(&self.record(event, &data), &[]));
    }

    pub(crate) fn record(&self, event: Event, data: &serde_json::Value) -> Record {
        Record { ts: self.clock.now_ms(), run: self.run.clone(), event, data: self.scrubber.scrub_value(data) }
    }

    const fn assurance(&self) -> Assurance {
        match self.approver {
            Approver::Seat | Approver::Nobody => Assurance::Enforced,
            Approver::Stored => Assurance::Advisory,
        }
    }

    fn halt_generation(&self) -> Result<u64, Denial> {
        let state =
            self.store.halt_state(&HaltScope::Run(self.run.clone())).map_err(|error| unreachable_ledger(&error))?;
        match state.raised {
            None => Ok(state.generation),
            Some(raised) => Err(Denial::new(
                "halt.raised",
                format!("the run was halted: {}", raised.reason.to_text()),
                Some("stop now and summarise what was done; the operator resumes with `tollgate resume`"),
            )),
        }
    }

    pub(crate) fn run_state(&self) -> Result<RunState, Denial> {
        let rows = self.store.load_run(&self.run, RECENT).map_err(|error| unreachable_ledger(&error))?;
        if rows.truncated {
            // What is not listed is unknown, and unknown is not "never written".
            return Err(unreachable_ledger(&"it remembers more files of this run than it can list, start a fresh run"));
        }
        Ok(memory::state(&rows))
    }
}

fn called(judged: &Judged, outcome: OutcomeClass) -> RunNote {
    RunNote::Called { tool: judged.call.name().to_owned(), call: Digest::from(judged.call.digest()), outcome }
}
