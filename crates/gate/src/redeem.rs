//! The operator's answers to a pending call.

use serde_json::json;
use tollgate_ledger::{ApprovalKey, ApprovalUse, Digest, Event, PendingId, PendingState};
use tollgate_policy::Decision;

use crate::approval::{self, Approval, Grant, Proof};
use crate::gate::Gate;
use crate::journal::About;
use crate::verdict::{Denial, Pending, Verdict};

/// An answer that was given from another process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elsewhere {
    /// Yes; the stored approval is there to be redeemed.
    Approved,
    /// No, and why.
    Denied(String),
}

impl Gate {
    /// Redeems an approval: judges the pending call again, and admits it if it is still the same call.
    pub fn redeem(&self, pending: Pending, approval: Approval) -> Verdict {
        let id = pending.id.clone();
        self.guarded(About::Pending(&id), || self.spend(pending, approval))
            .unwrap_or_else(|denial| Verdict::Denied(Box::new(denial)))
    }

    /// The operator's stored answer to a pending call, if it was approved from another process.
    pub fn stored_approval(&self, pending: &Pending) -> Option<Approval> {
        let key = ApprovalKey::Pending(pending.id.clone());
        let row = self.store.approval_for(&key, self.clock.now_ms()).ok()??;
        Some(Approval { pending: row.pending.clone(), digest: row.digest, proof: Proof::Signed(row) })
    }

    /// What the operator answered to a pending call from another process, if anything yet. A ledger that cannot be read
    /// has no answer.
    pub fn answered_elsewhere(&self, pending: &Pending) -> Option<Elsewhere> {
        match self.store.pending(&pending.id, self.clock.now_ms()).ok()?? {
            (_, PendingState::Approved) => Some(Elsewhere::Approved),
            (_, PendingState::Denied(reason)) => Some(Elsewhere::Denied(reason.to_text())),
            (_, PendingState::Open | PendingState::Spent(_) | PendingState::Expired) => None,
        }
    }

    /// The denial of a pending call that the operator denied from another process.
    pub fn denied_elsewhere(&self, reason: &str) -> Denial {
        let mut denial = Denial::new("approval.declined", format!("the operator declined it: {reason}"), None);
        denial.kind = crate::DenialKind::Human;
        denial
    }

    /// Records a human's no to a pending call.
    pub fn decline(&self, pending: &Pending, reason: &str) -> Denial {
        let reason = self.scrubber.scrub_text(reason);
        let said = reason.to_text();
        let data = json!({ "answer": "denied", "pending": pending.id.as_str(), "reason": reason.value() });
        let stored = self.store.put_denial(&pending.id, &reason, &self.record(Event::Approval, &data));
        let mut denial = Denial::new("approval.declined", "the operator declined it", None);
        denial.kind = crate::DenialKind::Human;
        if !said.is_empty() {
            denial.because = format!("the operator declined it: {said}");
        }
        if let Err(error) = stored {
            denial.because = format!("{} (and it could not be recorded: {error})", denial.because);
        }
        denial
    }

    fn spend(&self, pending: Pending, approval: Approval) -> Verdict {
        let Pending { id, digest, call, .. } = pending;
        let judged = self.proven(&id, digest, approval).and_then(|spend| {
            self.within_caps(&call)?;
            Ok((spend, self.judge_call(call)?))
        });
        let (spend, judged) = match judged {
            Ok(both) => both,
            Err(denial) => return self.denied(denial, About::Pending(&id)),
        };
        if judged.digest != digest {
            let changed = "what the call would touch changed since it was approved";
            return self.denied(Denial::new("approval.changed", changed, Some("ask again")), About::Pending(&id));
        }
        let judged = self.addressed(judged);
        match judged.findings.decision() {
            Decision::Allow | Decision::Ask => self.permit(judged, Grant::Approval(spend)),
            Decision::Deny => self.refuse(&judged),
        }
    }

    /// Checks that an approval is for this pending call, and that the operator gave it to this gate.
    fn proven(&self, id: &PendingId, wanted: Digest, approval: Approval) -> Result<ApprovalUse, Denial> {
        let Approval { pending, digest, proof } = approval;
        if digest != wanted || pending != *id {
            return Err(Denial::new("approval.mismatch", "the approval is for another call", None));
        }
        match proof {
            Proof::Seat(gate) if gate == self.id => Ok(ApprovalUse::Seat { pending, digest }),
            Proof::Signed(row) if approval::is_signed(self.operator.as_ref(), &row) => {
                Ok(ApprovalUse::Stored { pending, digest, nonce: row.nonce })
            }
            Proof::Seat(_) | Proof::Signed(_) => {
                Err(Denial::new("approval.unsigned", "the approval is not the operator's", None))
            }
        }
    }
}
