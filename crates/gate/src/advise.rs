//! The advisory half: a host asks, acts by itself, and reports later, perhaps from another process.

use serde_json::json;
use tollgate_call::Proposal;
use tollgate_call::facts::Assurance;
use tollgate_ledger::{ApprovalKey, ApprovalUse, Digest, NewAdvice};
use tollgate_policy::rule::Class;
use tollgate_policy::{Decision, HostPrompt};

use crate::approval::{self, Grant};
use crate::gate::{Gate, Judged};
use crate::journal::About;
use crate::permit::{Report, Settling, Told};
use crate::refusal::{from_findings, unreachable_ledger};
use crate::verdict::{Advice, Denial, DenialKind, Verdict};

impl Gate {
    /// Judges a call that a host will perform, and records the advice under its session and tool-use id.
    pub fn advise(&self, proposal: &Proposal) -> Advice {
        self.guarded(About::Proposal(proposal), || self.advice(proposal)).unwrap_or_else(|denial| advice_of(&denial))
    }

    /// Settles advice by what the host reports of the call.
    ///
    /// # Errors
    /// A [`Denial`] when there is no such advice, it was settled before, or the ledger fails.
    pub fn settle_advice(&self, session: &str, tool_use_id: &str, report: &Report) -> Result<Told, Denial> {
        self.guarded(About::Nothing, || self.settle_taken(session, tool_use_id, report)).flatten()
    }

    fn settle_taken(&self, session: &str, tool_use_id: &str, report: &Report) -> Result<Told, Denial> {
        let row = self.store.take_advice(session, tool_use_id).map_err(|error| unreachable_ledger(&error))?;
        let settling = Settling {
            seq: row.seq,
            reservation: row.reservation,
            started_ms: self.clock.now_ms(),
            tool: row.row.value().get("tool").and_then(|tool| tool.as_str()).unwrap_or_default().to_owned(),
        };
        self.settle_report(&settling, report, Vec::new())
    }

    fn advice(&self, proposal: &Proposal) -> Advice {
        let judged = match self.judge(proposal) {
            Ok(judged) => judged,
            Err(denial) => return self.said_no(self.denied(denial, About::Proposal(proposal))),
        };
        match judged.findings.decision() {
            Decision::Allow => self.let_host(&judged, Grant::Rule),
            Decision::Ask => self.ask(judged),
            Decision::Deny => self.said_no(self.refuse(&judged)),
        }
    }

    fn let_host(&self, judged: &Judged, grant: Grant) -> Advice {
        let origin = judged.call.origin();
        let advice = NewAdvice {
            session: self.run.as_str().to_owned(),
            tool_use_id: origin.call_id.clone(),
            row: self.scrubber.scrub_value(&json!({ "tool": judged.call.name() })),
        };
        match self.admit(judged, grant, Some(advice), Assurance::Advisory) {
            Ok(_receipt) => {
                let first = judged.findings.deciding();
                Advice {
                    decision: Decision::Allow,
                    rule: first.rule.as_str().to_owned(),
                    reason: first.because.clone().into_owned(),
                    pending: None,
                    halted: false,
                }
            }
            Err(denial) => self.said_no(self.denied(denial, About::Judged(judged))),
        }
    }

    /// An approval that the operator signed for exactly this call is spent; otherwise one is asked for.
    fn ask(&self, judged: Judged) -> Advice {
        let key = ApprovalKey::Digest(self.run.clone(), judged.digest);
        match self.store.approval_for(&key, self.clock.now_ms()) {
            Ok(Some(row)) if approval::is_signed(self.operator.as_ref(), &row) => {
                let spend = ApprovalUse::Stored {
                    pending: row.pending,
                    digest: Digest::from(*row.digest.bytes()),
                    nonce: row.nonce,
                };
                let judged = self.addressed(judged);
                match judged.findings.decision() {
                    Decision::Allow | Decision::Ask => self.let_host(&judged, Grant::Approval(spend)),
                    Decision::Deny => self.said_no(self.refuse(&judged)),
                }
            }
            Ok(Some(_) | None) => self.not_yet(&judged),
            Err(error) => self.said_no(self.denied(unreachable_ledger(&error), About::Judged(&judged))),
        }
    }

    fn not_yet(&self, judged: &Judged) -> Advice {
        let first = judged.findings.deciding();
        if self.operator.is_none() {
            if self.policy.host_prompt() == HostPrompt::Accepted && !must_confirm(judged) {
                return self.leave_to_host(judged);
            }
            let mut denial = from_findings(&judged.findings);
            denial.instead =
                Some("set up the operator's secret with `tollgate init`, so that calls can be approved".to_owned());
            self.record_denial(judged, &denial);
            return advice_of(&denial);
        }
        match self.wait_for_human(judged) {
            Ok((id, ..)) => Advice {
                decision: Decision::Ask,
                rule: first.rule.as_str().to_owned(),
                reason: format!(
                    "{}\nApprove exactly this call with `tollgate approve {id}`, then send it again.",
                    first.because
                ),
                pending: Some(id),
                halted: false,
            },
            Err(denial) => self.said_no(self.denied(denial, About::Judged(judged))),
        }
    }

    /// The operator chose that the host's own prompt decides; recorded as such, and never for what
    /// needs an exact approval.
    fn leave_to_host(&self, judged: &Judged) -> Advice {
        let first = judged.findings.deciding();
        match self.let_host(judged, Grant::HostPrompt) {
            Advice { decision: Decision::Allow, .. } => Advice {
                decision: Decision::Ask,
                rule: first.rule.as_str().to_owned(),
                reason: first.because.clone().into_owned(),
                pending: None,
                halted: false,
            },
            refused => refused,
        }
    }

    fn said_no(&self, verdict: Verdict) -> Advice {
        match verdict {
            Verdict::Denied(denial) => advice_of(&denial),
            // Neither path that leads here permits; should that ever change, the host is still told no.
            Verdict::Permitted(_) | Verdict::Pending(_) => {
                advice_of(&Denial::new("guard.failed", "the gate answered out of turn", None))
            }
        }
    }
}

/// Whether any finding is of the floor or of what always needs an exact approval.
fn must_confirm(judged: &Judged) -> bool {
    judged.findings.iter().any(|finding| {
        finding.decision != Decision::Allow && matches!(finding.rule.rule().class, Class::Floor | Class::AlwaysConfirm)
    })
}

fn advice_of(denial: &Denial) -> Advice {
    Advice {
        decision: Decision::Deny,
        rule: denial.rule.clone(),
        reason: denial.message(),
        pending: None,
        halted: denial.kind == DenialKind::Halt,
    }
}
