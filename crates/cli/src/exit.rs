//! The one table of exit codes.

use std::process::ExitCode;

/// How a command of this binary ends. The README shows this table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; `check`: allowed.
    Ok,
    /// `check`: denied. `run`: something was denied, or a model gave up. `log verify`: a broken log.
    Denied,
    /// The command line is wrong. For `hook`, hosts read this code as "block".
    Usage,
    /// `check`: a human would be asked. Headless `run`: something needed an approval that nobody could give.
    NeedsApproval,
    /// The run was halted.
    Halted,
    /// A cap was reached: turns, calls, time, tokens or money.
    Capped,
    /// The model could not be reached, or did not answer sensibly.
    Model,
    /// The configuration is wrong, or a wall that was required is missing.
    Config,
    /// The state directory or the ledger cannot be used.
    State,
}

impl Exit {
    /// The code and what it means, for help and docs.
    pub(crate) const TABLE: &'static [(Self, u8, &'static str)] = &[
        (Self::Ok, 0, "done; `check`: allowed"),
        (Self::Denied, 1, "denied, or a finding (`check`, `run`, `log verify`)"),
        (Self::Usage, 2, "wrong command line; for `hook`, hosts read 2 as block"),
        (Self::NeedsApproval, 3, "a human would have to approve (`check`, headless `run`)"),
        (Self::Halted, 4, "halted"),
        (Self::Capped, 5, "a cap of the run was reached"),
        (Self::Model, 6, "the model failed"),
        (Self::Config, 7, "the configuration is wrong, or a required wall is missing"),
        (Self::State, 8, "the state directory or the ledger cannot be used"),
    ];

    /// The code.
    pub(crate) fn code(self) -> u8 {
        Self::TABLE.iter().find(|(exit, ..)| *exit == self).map_or(8, |(_, code, _)| *code)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_usage_is_two_because_hosts_read_it_as_block() {
        for (at, (_, code, _)) in Exit::TABLE.iter().enumerate() {
            assert!(Exit::TABLE[at + 1..].iter().all(|(_, other, _)| other != code));
        }
        assert_eq!(Exit::Usage.code(), 2);
    }
}
