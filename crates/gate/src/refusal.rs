//! From what went wrong to the denial that says so.

use tollgate_call::Malformed;
use tollgate_ledger::AdmitError;
use tollgate_policy::Findings;

use crate::budget;
use crate::verdict::{Denial, DenialKind};

pub(crate) fn from_findings(findings: &Findings) -> Denial {
    let first = findings.deciding();
    let mut denial = Denial::new(first.rule.as_str(), first.because.as_ref(), first.instead.as_deref());
    denial.findings = findings.iter().cloned().collect();
    denial
}

pub(crate) fn malformed(error: &Malformed) -> Denial {
    let rule = match error {
        Malformed::UnknownTool { .. } => "tool.unknown",
        Malformed::Json(_) | Malformed::Schema(_) | Malformed::Canonical(_) => "call.malformed",
    };
    let mut denial =
        Denial::new(rule, error.to_string(), Some("send the call again with arguments that fit the schema"));
    denial.kind = DenialKind::Malformed;
    denial
}

pub(crate) fn unreachable_ledger(error: &dyn std::fmt::Display) -> Denial {
    Denial::new("ledger.unreachable", format!("the ledger cannot be used: {error}"), Some("run `tollgate doctor`"))
}

pub(crate) fn not_admitted(error: &AdmitError) -> Denial {
    let rule = match error {
        AdmitError::Halted(_) | AdmitError::HaltMoved { .. } => "halt.raised",
        AdmitError::ApprovalDenied(_) => "approval.declined",
        AdmitError::ApprovalExpired(_) => "approval.expired",
        AdmitError::ApprovalUnknown(_) | AdmitError::ApprovalSpent(_) | AdmitError::ApprovalMismatch(_) => {
            "approval.spent"
        }
        AdmitError::CapReached { counter, .. } => budget::rule(counter),
        AdmitError::AdviceExists => "advice.repeated",
        AdmitError::Store(_) => "ledger.unreachable",
    };
    Denial::new(rule, error.to_string(), None)
}
