//! What the next process of the same run must know.

use crate::chain::Digest;
use crate::scrub::{Scrubbed, Scrubber};

/// Holds the labels of a run as bits that only rise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels(u32);

impl Labels {
    /// Nothing is known against the run.
    pub const NONE: Self = Self(0);
    /// Something untrusted was read.
    pub const UNTRUSTED: Self = Self(1);
    /// Something sensitive was read.
    pub const SENSITIVE: Self = Self(2);
    /// Something that steers later runs was touched.
    pub const CONTROL: Self = Self(4);

    /// Makes labels of raw bits; those above the three are the caller's categories.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the raw bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Joins two sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Tells whether every label of `other` is raised.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Classifies how a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeClass {
    /// It has not come back, or its process died.
    Open,
    /// It did what was asked.
    Done,
    /// It failed.
    Failed,
    /// It ran out of time.
    TimedOut,
    /// It was never performed.
    Refused,
}

impl OutcomeClass {
    const ALL: [(Self, i64); 5] =
        [(Self::Open, 0), (Self::Done, 1), (Self::Failed, 2), (Self::TimedOut, 3), (Self::Refused, 4)];

    pub(crate) fn code(self) -> i64 {
        Self::ALL.iter().find(|(class, _)| *class == self).map_or(0, |(_, code)| *code)
    }

    pub(crate) fn from_code(code: i64) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == code).map(|(class, _)| *class)
    }
}

/// Holds one call of a run, for loop detection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// The record that admitted or refused it.
    pub seq: u64,
    /// The tool.
    pub tool: String,
    /// The canonical call.
    pub call: Digest,
    /// What it returned.
    pub result: Option<Digest>,
    /// How it ended.
    pub outcome: OutcomeClass,
    /// Whether it changed anything.
    pub changed_state: bool,
}

/// Holds one denial of a run, for the same wish respelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenialRow {
    /// What was wanted, by action and target.
    pub intent: Digest,
    /// The rule that said no.
    pub rule: String,
}

/// Holds a file that the run wrote.
///
/// The path is kept by digest, to be compared, and scrubbed, to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenFile {
    /// The digest of the path as given to [`WrittenFile::new`].
    pub path: Digest,
    /// The path to show.
    pub shown: Scrubbed,
    /// The digest of the content.
    pub content: Digest,
}

impl WrittenFile {
    /// Remembers `path` with `content`.
    #[must_use]
    pub fn new(path: &str, content: Digest, scrubber: &Scrubber) -> Self {
        let shown = scrubber.scrub_text(path);
        Self { path: Digest::of(path.as_bytes()), shown, content }
    }
}

/// Says what kind of address was given to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenKind {
    /// A whole URL.
    Url,
    /// A host.
    Host,
}

/// Holds an address that the user gave or a search returned.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// Which kind.
    pub kind: GivenKind,
    /// The digest of the address as given to [`Given::new`].
    pub address: Digest,
    /// The address to show.
    pub shown: Scrubbed,
}

impl Given {
    /// Remembers `address`, already in its normal form.
    #[must_use]
    pub fn new(kind: GivenKind, address: &str, scrubber: &Scrubber) -> Self {
        let shown = scrubber.scrub_text(address);
        Self { kind, address: Digest::of(address.as_bytes()), shown }
    }
}

/// Says how a call that was noted before has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish {
    /// The place it was noted under.
    pub seq: u64,
    /// What it returned.
    pub result: Option<Digest>,
    /// How it ended.
    pub outcome: OutcomeClass,
    /// Whether it changed anything.
    pub changed_state: bool,
}

/// Says one thing to remember of a run; it rides in the transaction of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum RunNote {
    /// A call, under the place of the record it rides with.
    Called {
        /// The tool.
        tool: String,
        /// The canonical call.
        call: Digest,
        /// [`OutcomeClass::Open`] when it is about to run, [`OutcomeClass::Refused`] when not.
        outcome: OutcomeClass,
    },
    /// The end of a call that was noted before.
    Finished(Finish),
    /// A denial.
    Denied(DenialRow),
    /// Labels to raise; none is ever lowered.
    Raise(Labels),
    /// A file that was written.
    Wrote(WrittenFile),
    /// An address that was given.
    Given(Given),
    /// A counter to move.
    Count {
        /// Its name.
        name: String,
        /// By how much.
        by: i64,
    },
}

/// Holds what is known of a run, bounded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRows {
    /// The latest calls, oldest first.
    pub calls: Vec<CallRow>,
    /// The latest denials, oldest first.
    pub denials: Vec<DenialRow>,
    /// The labels.
    pub labels: Labels,
    /// Files written, latest content of each.
    pub written: Vec<WrittenFile>,
    /// Addresses given.
    pub given: Vec<Given>,
    /// Counters by name.
    pub counters: Vec<(String, i64)>,
    /// Whether files or addresses were left out because there were too many: treat what is not
    /// listed as unknown.
    pub truncated: bool,
}
