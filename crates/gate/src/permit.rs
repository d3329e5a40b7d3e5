//! The permit, and what becomes of it.
//!
//! A [`Permit`] has one maker, the gate, and one taker, the hands. It cannot be cloned, stored or
//! rebuilt; performing it moves it, and settling its outcome moves that.

use tollgate_ledger::{Digest, Receipt, ReservationId};

use crate::deed::Deed;

/// The right to perform one call, once.
#[must_use = "a permit that is dropped is charged in full and does nothing"]
#[derive(Debug)]
pub struct Permit {
    pub(crate) deed: Deed,
    pub(crate) settling: Settling,
}

impl Permit {
    /// Takes the permit apart: what to do, and the duty to report it.
    pub fn into_parts(self) -> (Deed, Settling) {
        (self.deed, self.settling)
    }

    /// The place of its record in the audit chain.
    pub const fn seq(&self) -> u64 {
        self.settling.seq
    }
}

/// The duty to report what was done under a permit.
#[must_use = "what was done must be reported with `report`"]
#[derive(Debug)]
pub struct Settling {
    pub(crate) seq: u64,
    pub(crate) reservation: ReservationId,
    pub(crate) started_ms: i64,
    pub(crate) tool: String,
}

impl Settling {
    pub(crate) fn new(receipt: &Receipt, started_ms: i64, tool: &str) -> Self {
        Self { seq: receipt.seq(), reservation: receipt.reservation(), started_ms, tool: tool.to_owned() }
    }

    /// The place of the permit's record in the audit chain; names the step in undo.
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// Turns the duty and a report into an outcome that the gate settles.
    pub const fn report(self, report: Report) -> Outcome {
        Outcome { settling: self, report }
    }
}

/// What was done under a permit, not yet on the record.
#[must_use = "an outcome must be settled with `Gate::settle`"]
#[derive(Debug)]
pub struct Outcome {
    pub(crate) settling: Settling,
    pub(crate) report: Report,
}

/// What the hands report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub end: Finish,
    /// The result for the model, already cut to its cap.
    pub text: String,
    /// Whether anything outside the run may have changed.
    pub changed: bool,
    /// Files that were written: absolute path and SHA-256 of the new content.
    pub wrote: Vec<(String, [u8; 32])>,
    /// What a search returned: the URLs in it may be fetched. Empty for everything else.
    pub found: String,
    /// Further fields for the record, such as the exit code.
    pub detail: serde_json::Map<String, serde_json::Value>,
}

/// How a performed call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// It did what was asked.
    Done,
    /// It failed; the text says how.
    Failed,
    /// Its time ran out.
    TimedOut,
    /// It was stopped by a halt.
    Halted,
}

impl Report {
    /// A success that changed nothing.
    pub fn read(text: impl Into<String>) -> Self {
        Self::ended(Finish::Done, text)
    }

    /// A success that changed something.
    pub fn changed(text: impl Into<String>) -> Self {
        Self { changed: true, ..Self::ended(Finish::Done, text) }
    }

    /// A failure that changed nothing.
    pub fn failed(text: impl Into<String>) -> Self {
        Self::ended(Finish::Failed, text)
    }

    /// An end of any kind that changed nothing.
    pub fn ended(end: Finish, text: impl Into<String>) -> Self {
        Self {
            end,
            text: text.into(),
            changed: false,
            wrote: Vec::new(),
            found: String::new(),
            detail: serde_json::Map::new(),
        }
    }

    pub(crate) fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }
}

/// What the model is told of a settled call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The result, scrubbed.
    pub text: String,
    /// Whether it is an error.
    pub is_error: bool,
}
