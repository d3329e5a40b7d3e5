//! Pending calls, a human's answers, and advice to hooks.

use crate::admission::ReservationId;
use crate::chain::Digest;
use crate::error::StoreError;
use crate::record::RunId;
use crate::scrub::Scrubbed;
use std::fmt;

/// Names a pending call: 1 to 64 of `A-Z a-z 0-9 . _ -`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PendingId(RunId);

impl PendingId {
    /// Reads an id; the same characters as a run's name.
    #[must_use]
    pub fn parse(raw: &str) -> Option<Self> {
        RunId::parse(raw).ok().map(Self)
    }

    /// Returns the id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for PendingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Holds a call that waits for a human.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingRow {
    /// Its id, chosen by the gate.
    pub id: PendingId,
    /// The run that asked.
    pub run: RunId,
    /// What an approval must match.
    pub digest: Digest,
    /// The whole call as the human will see it.
    pub rendered: Scrubbed,
    /// Milliseconds since the epoch.
    pub created: i64,
    /// Milliseconds since the epoch; from then on nobody can answer.
    pub expires: i64,
}

/// Tells what became of a pending call.
#[derive(Clone, Debug, PartialEq)]
pub enum PendingState {
    /// It waits.
    Open,
    /// It was approved and not yet used.
    Approved,
    /// It was denied.
    Denied(Scrubbed),
    /// Its approval was used by this record.
    Spent(u64),
    /// Nobody used it in time.
    Expired,
}

/// Holds a human's signature over digest, nonce and expiry.
///
/// # Security
/// The store checks ids, digests, times and single use. It does not check the signature: the gate
/// does, at redeem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRow {
    /// The pending call.
    pub pending: PendingId,
    /// The digest that was signed.
    pub digest: Digest,
    /// Never seen before.
    pub nonce: Vec<u8>,
    /// Milliseconds since the epoch; from then on it is void.
    pub expires: i64,
    /// The signature's bytes.
    pub signature: Vec<u8>,
}

/// Asks for an approval by one of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalKey {
    /// By the pending call.
    Pending(PendingId),
    /// By what was approved, within one run.
    Digest(RunId, Digest),
}

/// Says which approval an admission spends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalUse {
    /// One that is stored, named by its nonce.
    Stored {
        /// The pending call.
        pending: PendingId,
        /// The digest the gate computed now.
        digest: Digest,
        /// The nonce whose signature the gate verified.
        nonce: Vec<u8>,
    },
    /// A key press in the guard's own process, spending the pending call itself.
    Seat {
        /// The pending call.
        pending: PendingId,
        /// The digest the gate computed now.
        digest: Digest,
    },
}

impl ApprovalUse {
    pub(crate) const fn pending(&self) -> &PendingId {
        match self {
            Self::Stored { pending, .. } | Self::Seat { pending, .. } => pending,
        }
    }

    pub(crate) const fn digest(&self) -> &Digest {
        match self {
            Self::Stored { digest, .. } | Self::Seat { digest, .. } => digest,
        }
    }
}

/// Says why an answer was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalError {
    /// No such pending call.
    #[error("no pending call `{0}`, list them with `tollgate approve`")]
    Unknown(PendingId),
    /// The id is taken.
    #[error("a pending call `{0}` exists already")]
    Exists(PendingId),
    /// The answer is about another call.
    #[error("the approval is for another call than `{0}`, look at it again")]
    Mismatch(PendingId),
    /// Somebody answered before.
    #[error("`{0}` was answered before, the agent must ask again")]
    Answered(PendingId),
    /// Too late.
    #[error("`{0}` has expired, the agent must ask again")]
    Expired(PendingId),
    /// The nonce was used before.
    #[error("the approval for `{0}` repeats a nonce, approve again")]
    NonceUsed(PendingId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Holds what a hook process leaves for the process that will settle the call; admit it with
/// [`crate::Hold::Until`], or it counts as abandoned as soon as the hook has answered.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAdvice {
    /// The host's session.
    pub session: String,
    /// The host's id of this tool use.
    pub tool_use_id: String,
    /// What was advised.
    pub row: Scrubbed,
}

/// Holds advice that was taken back for settling.
#[derive(Clone, Debug, PartialEq)]
pub struct AdviceRow {
    /// The run it was given in.
    pub run: RunId,
    /// The record it was given with.
    pub seq: u64,
    /// What it reserved.
    pub reservation: ReservationId,
    /// What was advised.
    pub row: Scrubbed,
}

/// Says why advice could not be taken back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdviceError {
    /// None was given under these names.
    #[error("no advice was given for this tool use")]
    Unknown,
    /// It was taken before.
    #[error("the advice for this tool use was taken before")]
    Taken,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
