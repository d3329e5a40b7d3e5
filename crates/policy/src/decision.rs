//! The three answers that judging gives.

use serde::{Deserialize, Serialize};

/// What judging says about a call or a part of it, from mild to severe.
///
/// ```
/// use tollgate_policy::Decision;
/// assert_eq!(Decision::Allow.max(Decision::Ask), Decision::Ask);
/// assert!(Decision::Ask < Decision::Deny);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may run.
    Allow,
    /// A human decides.
    Ask,
    /// It does not run.
    Deny,
}

impl Decision {
    /// The word that files, wire formats and people use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl std::fmt::Display for Decision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
