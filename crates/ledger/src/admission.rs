//! Budgets, and the one call that spends.

use crate::approval::{ApprovalUse, NewAdvice, PendingId};
use crate::chain::Digest;
use crate::error::StoreError;
use crate::halt::Raised;
use crate::record::Record;
use crate::run::RunNote;
use std::fmt;

/// Reserves an amount of one counter in one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetLine {
    /// `run:ID`, `session:ID`, `user`, `org`.
    pub scope: String,
    /// `calls`, `calls:write_file`, `turns`, `tokens`, `microusd`, `seconds`, `spawns`.
    pub counter: String,
    /// How much.
    pub amount: u64,
    /// The most that may be reserved and settled together; `None` only counts.
    pub cap: Option<u64>,
}

/// Says when an unsettled reservation is taken for abandoned and charged in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Once the process that made it is gone.
    Process,
    /// At this time, milliseconds since the epoch: for hooks, whose process is gone at once.
    Until(i64),
}

/// Holds everything that must become true together before a call may run.
///
/// The clock is `record.ts` and the run is `record.run`.
#[derive(Clone, Debug)]
pub struct Admission {
    /// What [`crate::Store::halt_state`] of the run said when judging began.
    pub halt_generation: u64,
    /// The approval to spend.
    pub approval: Option<ApprovalUse>,
    /// What to reserve, in all nested scopes at once.
    pub lines: Vec<BudgetLine>,
    /// When to give up on it.
    pub hold: Hold,
    /// What a later process needs to settle it.
    pub advice: Option<NewAdvice>,
    /// What to remember of the run.
    pub notes: Vec<RunNote>,
    /// The audit record.
    pub record: Record,
}

/// Names a reservation. Settling it twice is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReservationId(pub(crate) i64);

impl fmt::Display for ReservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Proves that an admission is durable. Only a store makes one.
#[derive(Debug, PartialEq, Eq)]
pub struct Receipt {
    pub(crate) seq: u64,
    pub(crate) hash: Digest,
    pub(crate) reservation: ReservationId,
}

impl Receipt {
    /// Returns the record's place in the chain.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the record's hash.
    #[must_use]
    pub const fn hash(&self) -> &Digest {
        &self.hash
    }

    /// Returns what was reserved.
    #[must_use]
    pub const fn reservation(&self) -> ReservationId {
        self.reservation
    }
}

/// Says why nothing was admitted; nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AdmitError {
    /// A halt is in force.
    #[error("a halt is raised over `{}`, clear it with `tollgate resume`", .0.scope.key())]
    Halted(Box<Raised>),
    /// A halt came and went since judging began.
    #[error("a halt was raised or cleared while this call was judged (generation {seen}, now {now}), ask again")]
    HaltMoved {
        /// What judging saw.
        seen: u64,
        /// What holds now.
        now: u64,
    },
    /// No such pending call or approval.
    #[error("no approval for `{0}`")]
    ApprovalUnknown(PendingId),
    /// It was used before.
    #[error("the approval for `{0}` was used before, ask again")]
    ApprovalSpent(PendingId),
    /// Too late.
    #[error("the approval for `{0}` has expired, ask again")]
    ApprovalExpired(PendingId),
    /// A human said no.
    #[error("`{0}` was denied by the operator")]
    ApprovalDenied(PendingId),
    /// It is for another call.
    #[error("the approval for `{0}` is for another call, ask again")]
    ApprovalMismatch(PendingId),
    /// A cap would be passed.
    #[error("`{counter}` of `{scope}` is capped at {cap}: {used} used or reserved, {amount} more asked")]
    CapReached {
        /// Where.
        scope: String,
        /// Which counter.
        counter: String,
        /// The cap.
        cap: u64,
        /// Reserved and settled so far.
        used: u64,
        /// What was asked.
        amount: u64,
    },
    /// The host used this id before.
    #[error("advice for this tool use was given before, the host must use a fresh id")]
    AdviceExists,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Says what was really used of one counter, in every scope it was reserved in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actual {
    /// The counter.
    pub counter: String,
    /// How much.
    pub amount: u64,
}

/// Replaces what was reserved by what was used, with the record of the outcome.
#[derive(Clone, Debug)]
pub struct Settlement {
    /// Which reservation.
    pub reservation: ReservationId,
    /// What was used; a counter that is not named is charged in full.
    pub actual: Vec<Actual>,
    /// What to remember of the run.
    pub notes: Vec<RunNote>,
    /// The audit record.
    pub record: Record,
}

/// Tells where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Its place in the chain.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}

/// Tells what settling did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Where the record of the outcome stands.
    pub record: Appended,
    /// Counters that used more than was reserved; what was used cannot be unused, so the total may
    /// now stand above a cap, and the next admission against it is refused.
    pub overruns: Vec<Overrun>,
}

/// Names a counter that used more than was reserved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// Where.
    pub scope: String,
    /// Which counter.
    pub counter: String,
    /// What was reserved.
    pub reserved: u64,
    /// What was used.
    pub actual: u64,
}

/// Says why nothing was settled; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettleError {
    /// No such reservation.
    #[error("no reservation {0}")]
    Unknown(ReservationId),
    /// It was settled before.
    #[error("reservation {0} was settled before")]
    AlreadySettled(ReservationId),
    /// It was taken for abandoned and charged in full.
    #[error("reservation {0} was charged in full as abandoned, append the outcome instead")]
    Charged(ReservationId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Tells how one budget stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetRow {
    /// The counter.
    pub counter: String,
    /// Reserved by calls under way.
    pub reserved: u64,
    /// Used for good.
    pub settled: u64,
}
