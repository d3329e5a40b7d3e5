//! Why a command of this binary could not do its work, and what to do about it.

use crate::exit::Exit;

/// An exit code and a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    /// How the process ends.
    pub(crate) exit: Exit,
    /// What to tell the person.
    pub(crate) message: String,
}

impl Failure {
    /// The state directory or the ledger cannot be used.
    pub(crate) fn state(error: &dyn std::fmt::Display) -> Self {
        Self { exit: Exit::State, message: error.to_string() }
    }

    /// The configuration is wrong.
    pub(crate) fn config(error: &dyn std::fmt::Display) -> Self {
        Self { exit: Exit::Config, message: error.to_string() }
    }

    /// The command line is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into() }
    }

    /// Something was refused.
    pub(crate) fn denied(message: impl Into<String>) -> Self {
        Self { exit: Exit::Denied, message: message.into() }
    }

    /// The model cannot be used.
    pub(crate) fn model(error: &dyn std::fmt::Display) -> Self {
        Self { exit: Exit::Model, message: error.to_string() }
    }
}
