//! The journal's own words: one JSON object a line. This file is the format; version 1.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::held::Spot;

/// The version that this build writes and reads.
pub(crate) const VERSION: u32 = 1;

/// What a name stood for at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum State {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// SHA-256 of the content, in hexadecimal; also its name in the store.
        sha256: String,
        /// Permission bits.
        mode: u32,
        /// Bytes.
        size: u64,
    },
    /// A symbolic link.
    Link {
        /// What it says.
        target: String,
    },
    /// A directory.
    Dir {
        /// Permission bits.
        mode: u32,
    },
    /// Something whose content was not kept.
    Unkept {
        /// Why not.
        why: String,
    },
}

impl State {
    /// Whether it is a regular file with exactly this content.
    pub(crate) fn is_content(&self, content: &[u8]) -> bool {
        use sha2::Digest as _;
        match self {
            Self::File { sha256, .. } => *sha256 == super::hex(&sha2::Sha256::digest(content)),
            Self::Absent | Self::Link { .. } | Self::Dir { .. } | Self::Unkept { .. } => false,
        }
    }
}

/// One name that a step changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Absolute path of the root.
    pub root: String,
    /// Path beneath the root.
    pub path: String,
    /// What was there before.
    pub before: State,
    /// What is there after; for a step that has only begun, what is meant to be.
    pub after: State,
    /// Temporary name beside it while the change is under way.
    pub temp: Option<String>,
    /// Parent directories that the change makes, outermost first, beneath the root.
    #[serde(default)]
    pub made: Vec<String>,
    /// Earlier changes that this one takes back: (step, position in it).
    #[serde(default)]
    pub undoes: Vec<(u64, usize)>,
}

impl Change {
    /// Where it is.
    pub fn spot(&self) -> Spot {
        Spot { root: self.root.clone(), path: self.path.clone() }
    }
}

/// Who and what a step is for. All of it comes from the caller, the time too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// The run.
    pub run: String,
    /// The call within the run, or empty.
    pub call: String,
    /// The tool, or `undo`.
    pub tool: String,
    /// Milliseconds since 1970.
    pub at_ms: u64,
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Line {
    /// Written, durably, before anything changes.
    Begin { v: u32, step: u64, meta: Meta, changes: Vec<Change>, trees: BTreeMap<String, String> },
    /// Written when it is done, or given up: with the changes that happened.
    End { v: u32, step: u64, changes: Vec<Change>, partly: Vec<String> },
    /// The step was dropped to save space.
    Pruned { v: u32, step: u64 },
}

/// A step as the journal tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its number, rising from 1.
    pub number: u64,
    /// Who and what for.
    pub meta: Meta,
    /// What it changed.
    pub changes: Vec<Recorded>,
    /// Whether its end is recorded; a step cut off by a crash has none.
    pub finished: bool,
    /// What of it cannot be restored, in words; empty if all can.
    pub partly: Vec<String>,
    /// Manifests of the trees before a command, by root; blobs of the store.
    pub(crate) trees: BTreeMap<String, String>,
}

/// A change, and whether it has been taken back since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The change.
    pub change: Change,
    /// The undo step that took it back, if any.
    pub undone_by: Option<u64>,
}
