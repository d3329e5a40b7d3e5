//! Files and functions that may be larger than the rule, each with its reason.

/// One exception; `function` is empty when it is the file that is long.
pub(crate) struct Exception {
    pub(crate) file: &'static str,
    pub(crate) function: &'static str,
    pub(crate) reason: &'static str,
}

/// All exceptions. An entry that no longer helps is itself a complaint.
pub(crate) const EXCEPTIONS: &[Exception] = &[];
