//! What the gate answers.

use tollgate_call::Call;
use tollgate_ledger::{Digest, PendingId, Scrubbed};
use tollgate_policy::{Decision, Finding};

use crate::permit::Permit;

/// The answer to a proposal that Tollgate itself would perform.
#[must_use = "a verdict decides whether something happens"]
#[derive(Debug)]
pub enum Verdict {
    /// It may be performed, once.
    Permitted(Box<Permit>),
    /// A human must say so first.
    Pending(Box<Pending>),
    /// It must not happen.
    Denied(Box<Denial>),
}

/// A call that waits for a human.
#[derive(Debug)]
pub struct Pending {
    pub(crate) id: PendingId,
    pub(crate) digest: Digest,
    pub(crate) call: Call,
    pub(crate) findings: Vec<Finding>,
    pub(crate) rendered: Scrubbed,
    pub(crate) expires_ms: i64,
}

impl Pending {
    /// Its id, as `tollgate approve` takes it.
    pub const fn id(&self) -> &PendingId {
        &self.id
    }

    /// The call.
    pub const fn call(&self) -> &Call {
        &self.call
    }

    /// Why a human is asked, most severe first.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The whole call, as it is shown.
    pub const fn rendered(&self) -> &Scrubbed {
        &self.rendered
    }

    /// Milliseconds since the epoch; from then on nobody can approve it.
    pub const fn expires_ms(&self) -> i64 {
        self.expires_ms
    }
}

/// A call that must not happen, and why. Only the gate makes one.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// Who said no.
    pub kind: DenialKind,
    /// The rule that decided.
    pub rule: String,
    /// In one sentence.
    pub because: String,
    /// What to do instead, if there is something.
    pub instead: Option<String>,
    /// Every finding, most severe first; empty when nothing was judged.
    pub findings: Vec<Finding>,
}

/// Who said no; each reads differently to the model and to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenialKind {
    /// The proposal is not a call.
    Malformed,
    /// A rule.
    Policy,
    /// A human.
    Human,
    /// A cap or a loop.
    Budget,
    /// Nobody answered in time, or nobody was there to answer.
    Timeout,
    /// The kill switch.
    Halt,
    /// The guard itself could not do its work, so it refuses.
    Guard,
}

impl DenialKind {
    /// How a denial of this kind begins.
    pub const fn opening(self) -> &'static str {
        match self {
            Self::Malformed => "refused: the call is malformed",
            Self::Policy => "denied by policy",
            Self::Human => "denied by the operator",
            Self::Budget => "denied by a limit of this run",
            Self::Timeout => "denied: nobody approved it in time",
            Self::Halt => "denied: the run is halted",
            Self::Guard => "denied: the guard could not judge it",
        }
    }

    /// The kind of a denial that this rule made.
    pub fn of(rule: &str) -> Self {
        match rule.split('.').next().unwrap_or(rule) {
            "call" => Self::Malformed,
            "budget" | "loop" => Self::Budget,
            "halt" => Self::Halt,
            "ledger" | "guard" | "advice" => Self::Guard,
            "approval" if matches!(rule, "approval.none" | "approval.expired") => Self::Timeout,
            "approval" if rule == "approval.declined" => Self::Human,
            _ => Self::Policy,
        }
    }
}

impl Denial {
    pub(crate) fn new(rule: &str, because: impl Into<String>, instead: Option<&str>) -> Self {
        Self {
            kind: DenialKind::of(rule),
            rule: rule.to_owned(),
            because: because.into(),
            instead: instead.map(str::to_owned),
            findings: Vec::new(),
        }
    }

    /// What the model is told.
    pub fn message(&self) -> String {
        let mut text = format!("{} ({}): {}", self.kind.opening(), self.rule, self.because);
        if let Some(instead) = &self.instead {
            text.push_str("\nInstead: ");
            text.push_str(instead);
        }
        text
    }
}

/// The answer to a host that will act by itself; it can never become a [`Permit`].
#[must_use = "advice that is not given to the host lets the host act"]
#[non_exhaustive]
#[derive(Debug)]
pub struct Advice {
    /// What the host should do.
    pub decision: Decision,
    /// The rule that decided.
    pub rule: String,
    /// Why, with the next step.
    pub reason: String,
    /// The pending call, when an approval would change the answer.
    pub pending: Option<PendingId>,
    /// Whether the run is halted, so that the host should stop altogether.
    pub halted: bool,
}
