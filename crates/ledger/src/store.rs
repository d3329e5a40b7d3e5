//! The face of every back end.

pub(crate) mod sqlite;

use crate::admission::{Admission, AdmitError, Appended, BudgetRow, Receipt, SettleError, Settled, Settlement};
use crate::approval::{
    AdviceError, AdviceRow, ApprovalError, ApprovalKey, ApprovalRow, PendingId, PendingRow, PendingState,
};
use crate::error::StoreError;
use crate::halt::{HaltChange, HaltScope, HaltState};
use crate::record::{Record, RunId};
use crate::run::{RunNote, RunRows};
use crate::scrub::Scrubbed;

/// Remembers, in transactions, everything that a decision leans on.
///
/// Every method blocks for a bounded time. Every change is one transaction that also appends a
/// record; when a method returns `Ok`, the change survives a crash of the machine. Any error means
/// that nothing was changed, except that an error while committing may leave the change made: treat
/// it as a denial, never as a reason to act.
pub trait Store: Send + Sync {
    /// Checks halts, spends the approval, reserves every budget line and appends the record.
    ///
    /// # Errors
    /// [`AdmitError`] says which check failed.
    fn admit(&self, admission: &Admission) -> Result<Receipt, AdmitError>;

    /// Replaces what was reserved by what was used.
    ///
    /// # Errors
    /// [`SettleError`] when the reservation is unknown or no longer open.
    fn settle(&self, settlement: &Settlement) -> Result<Settled, SettleError>;

    /// Appends a record that reserves nothing, with what to remember of the run.
    ///
    /// # Errors
    /// [`StoreError`] when it is not durable.
    fn append(&self, record: &Record, notes: &[RunNote]) -> Result<Appended, StoreError>;

    /// Stores a call that waits for a human.
    ///
    /// # Errors
    /// [`ApprovalError::Exists`] when the id is taken.
    fn put_pending(&self, row: &PendingRow, record: &Record, notes: &[RunNote]) -> Result<Appended, ApprovalError>;

    /// Lists the calls that wait and can still be answered, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    fn list_pending(&self, now: i64) -> Result<Vec<PendingRow>, StoreError>;

    /// Reads one pending call and what became of it.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    fn pending(&self, id: &PendingId, now: i64) -> Result<Option<(PendingRow, PendingState)>, StoreError>;

    /// Stores an operator's approval. The clock is `record.ts`.
    ///
    /// # Errors
    /// [`ApprovalError`] when the call cannot be approved any more.
    fn put_approval(&self, row: &ApprovalRow, record: &Record) -> Result<Appended, ApprovalError>;

    /// Stores a human's no. The clock is `record.ts`.
    ///
    /// # Errors
    /// [`ApprovalError`] when the call was spent or denied before.
    fn put_denial(&self, id: &PendingId, reason: &Scrubbed, record: &Record) -> Result<Appended, ApprovalError>;

    /// Finds a stored approval that can still be spent.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    fn approval_for(&self, key: &ApprovalKey, now: i64) -> Result<Option<ApprovalRow>, StoreError>;

    /// Raises a halt.
    ///
    /// # Errors
    /// [`StoreError`] when it is not durable.
    fn raise_halt(&self, change: &HaltChange) -> Result<HaltState, StoreError>;

    /// Clears a halt; the caller has proven to be the operator.
    ///
    /// # Errors
    /// [`StoreError`] when it is not durable.
    fn clear_halt(&self, change: &HaltChange) -> Result<HaltState, StoreError>;

    /// Reads the halt in force; that of a run includes the one over everything.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read: treat it as raised.
    fn halt_state(&self, scope: &HaltScope) -> Result<HaltState, StoreError>;

    /// Takes advice back for settling, once.
    ///
    /// # Errors
    /// [`AdviceError`] when there is none or it was taken.
    fn take_advice(&self, session: &str, tool_use_id: &str) -> Result<AdviceRow, AdviceError>;

    /// Loads what is known of a run, with at most the last `calls` calls and denials.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    fn load_run(&self, run: &RunId, calls: usize) -> Result<RunRows, StoreError>;

    /// Reads how the budgets of a scope stand.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    fn budgets(&self, scope: &str) -> Result<Vec<BudgetRow>, StoreError>;

    /// Tells how the derived JSON Lines file stands.
    fn mirror(&self) -> MirrorState;
}

/// Tells how the derived JSON Lines file stands; it never decides anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MirrorState {
    /// It holds every record up to this one.
    Current(u64),
    /// It could not be written; the next append tries again.
    Behind(String),
    /// It contradicts the rows and was left untouched for a human to look at.
    Contradicts(String),
    /// This back end has none.
    None,
}
