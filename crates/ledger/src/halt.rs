//! The kill switch as rows with a generation.

use crate::record::{Record, RunId};
use crate::scrub::Scrubbed;

/// Says what a halt covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HaltScope {
    /// Every run of this ledger.
    All,
    /// One run.
    Run(RunId),
}

impl HaltScope {
    /// Returns `all`, or `run:` and the run's name.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::Run(run) => format!("run:{run}"),
        }
    }

    pub(crate) fn parse(key: &str) -> Option<Self> {
        if key == "all" {
            return Some(Self::All);
        }
        RunId::parse(key.strip_prefix("run:")?).ok().map(Self::Run)
    }
}

/// Holds the raising or clearing of a halt, with the record of it.
#[derive(Clone, Debug)]
pub struct HaltChange {
    /// What it covers.
    pub scope: HaltScope,
    /// Why.
    pub reason: Scrubbed,
    /// Who: `signal`, `operator`, a key's name.
    pub by: Scrubbed,
    /// The record that goes into the same transaction.
    pub record: Record,
}

/// Tells whether a scope is halted, and when that last changed.
#[derive(Clone, Debug, PartialEq)]
pub struct HaltState {
    /// Grows with every raise and clear that touches the scope; compare it, do not interpret it.
    pub generation: u64,
    /// The halt in force. One over everything comes before one over the run.
    pub raised: Option<Raised>,
}

/// Describes a halt in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Raised {
    /// What it covers.
    pub scope: HaltScope,
    /// Why.
    pub reason: Scrubbed,
    /// Who.
    pub by: Scrubbed,
    /// Since when, milliseconds since the epoch.
    pub since: i64,
}
