//! What a run has done so far: plain data that the ledger remembers and guards read.

use sha2::{Digest as _, Sha256};

/// The state of one run, as judging sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunState {
    /// Information-flow labels; they only rise.
    pub labels: Labels,
    /// The most recent calls, oldest first, bounded.
    pub recent: Vec<PastCall>,
    /// Intents that were denied, by [`crate::call::Call::intent`].
    pub denied: Vec<[u8; 32]>,
    /// Digests ([`digest`]) of the hosts and URLs that the user named in this run, or that a search returned.
    pub given: Vec<[u8; 32]>,
    /// Digests ([`digest`]) of the absolute paths that this run wrote.
    pub written: Vec<[u8; 32]>,
    /// Digest of everything that this run wrote, names and contents; bound into approvals of what may run it.
    pub content: [u8; 32],
}

impl RunState {
    /// Whether the user or a search gave this host or URL, in normal form.
    pub fn was_given(&self, address: &str) -> bool {
        self.given.contains(&digest(address))
    }

    /// Whether this run wrote the file at this absolute path.
    pub fn wrote(&self, path: &str) -> bool {
        self.written.contains(&digest(path))
    }
}

/// SHA-256 of a text, the form in which names are remembered.
pub fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Three bits that only rise (see the design's chapter on taint).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Labels {
    /// The run has read text that the operator did not write.
    pub untrusted: bool,
    /// The run has read secrets or private data.
    pub sensitive: bool,
    /// The run has changed what runs or is allowed later.
    pub control: bool,
}

impl Labels {
    /// The union of both.
    #[must_use]
    pub const fn join(self, other: Self) -> Self {
        Self {
            untrusted: self.untrusted || other.untrusted,
            sensitive: self.sensitive || other.sensitive,
            control: self.control || other.control,
        }
    }
}

/// One past call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastCall {
    /// Digest of the call ([`crate::call::Call::digest`]).
    pub call: [u8; 32],
    /// Digest of its result, once settled.
    pub result: Option<[u8; 32]>,
    /// How it ended.
    pub end: End,
}

/// How a past call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It ran and only read.
    Read,
    /// It ran and may have changed something.
    Changed,
    /// It ran and failed.
    Failed,
    /// It was denied.
    Denied,
    /// Not settled yet.
    Open,
}
