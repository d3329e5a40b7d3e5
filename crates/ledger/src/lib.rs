#![forbid(unsafe_code)]
//! Remembers: run state, approvals, budgets, halts and the audit record.
//!
//! Everything a later decision leans on is written here first, in one transaction, and only then
//! does the caller get a [`Receipt`].
//!
//! | module | what it holds |
//! | --- | --- |
//! | `chain` | [`Digest`], the link from record to record, and the reading of one line |
//! | `record` | what may be recorded: [`Record`], [`Event`], [`RunId`], and its canonical bytes |
//! | `scrub` | [`Scrubbed`], the only payload a record takes, and the [`Scrubber`] that makes it |
//! | `admission` | budgets and the one call that spends: [`Admission`], [`Settlement`], [`Receipt`] |
//! | `approval` | pending calls, a human's answers, and advice to hooks |
//! | `halt` | the kill switch as rows with a generation |
//! | `run` | what the next process of the same run must know |
//! | `error` | [`StoreError`], what can go wrong beneath all of it |
//! | `owner` | who holds a reservation, and whether that process is gone |
//! | `state_dir` | the directory nobody else may reach |
//! | `store` | the [`Store`] trait; `store::sqlite` is the local back end |
//! | [`log`] | the derived JSON Lines file, reading it, and verifying it |
//!
//! ```
//! use tollgate_ledger::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let temporary = tempfile::tempdir()?;
//! # let path = temporary.path().join("state");
//! let now = 1_750_000_000_000;
//! let dir = StateDir::open_or_create(&path)?;
//! let (store, _report) = SqliteStore::open(&dir, OpenOptions::at(now))?;
//! let run = RunId::parse("demo")?;
//! let scrubber = Scrubber::new([("API_KEY", "correct-horse-battery")]);
//! let data = scrubber.scrub_value(&serde_json::json!({"tool": "grep", "args": "correct-horse-battery"}));
//!
//! let receipt = store.admit(&Admission {
//!     halt_generation: store.halt_state(&HaltScope::Run(run.clone()))?.generation,
//!     approval: None,
//!     lines: vec![BudgetLine { scope: "run:demo".into(), counter: "calls".into(), amount: 1, cap: Some(200) }],
//!     hold: Hold::Process,
//!     advice: None,
//!     notes: vec![],
//!     record: Record { ts: now, run: run.clone(), event: Event::Decision, data },
//! })?;
//! // … now, and not before, the call may run …
//! store.settle(&Settlement {
//!     reservation: receipt.reservation(),
//!     actual: vec![],
//!     notes: vec![],
//!     record: Record { ts: now + 5, run, event: Event::ToolResult, data: scrubber.scrub_text("3 lines") },
//! })?;
//!
//! assert!(log::verify(&dir)?.is_sound());
//! let first = log::show(&dir, receipt.seq())?.ok_or("not there")?;
//! assert!(first.data.to_text().contains("[secret:API_KEY:"));
//! # Ok(())
//! # }
//! ```

mod admission;
mod approval;
mod chain;
mod error;
mod halt;
pub mod log;
mod owner;
mod record;
mod run;
mod scrub;
mod state_dir;
mod store;

pub use admission::{
    Actual, Admission, AdmitError, Appended, BudgetLine, BudgetRow, Hold, Overrun, Receipt, ReservationId, SettleError,
    Settled, Settlement,
};
pub use approval::{
    AdviceError, AdviceRow, ApprovalError, ApprovalKey, ApprovalRow, ApprovalUse, NewAdvice, PendingId, PendingRow,
    PendingState,
};
pub use chain::{BadLine, Digest, Envelope, MAX_LINE_BYTES};
pub use error::StoreError;
pub use halt::{HaltChange, HaltScope, HaltState, Raised};
pub use record::{Event, Record, RunId, RunIdError, StoredRecord};
pub use run::{CallRow, DenialRow, Finish, Given, GivenKind, Labels, OutcomeClass, RunNote, RunRows, WrittenFile};
pub use scrub::{Hidden, MAX_DATA_BYTES, MAX_TEXT_BYTES, ScrubStream, Scrubbed, Scrubber};
pub use state_dir::{StateDir, StateDirError};
pub use store::sqlite::{Charged, HALT_FLAG, OpenOptions, OpenReport, SqliteStore};
pub use store::{MirrorState, Store};
