//! Modes: how much a run may do without asking. A mode never lifts a Deny.

use serde::{Deserialize, Serialize};

use crate::rule::{Class, Lift, Rule};

/// How much a run may do without asking, from least to most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Reads and plans only.
    Plan,
    /// What the guards allow.
    #[default]
    Default,
    /// Writes that a shared temporary directory would ask for are free besides.
    AcceptEdits,
    /// Lifts what the rule table says, and denies what always needs a human.
    DangerouslySkipPermissions,
}

/// What a mode makes of an Ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModeSays {
    /// It stays a question.
    Ask,
    /// The mode answers it.
    Allow,
    /// In this mode nobody may be asked about it.
    Deny,
}

impl Mode {
    /// What this mode makes of an Ask of `rule`.
    ///
    /// ```
    /// use tollgate_policy::{Mode, ModeSays, rule};
    /// let skip = Mode::DangerouslySkipPermissions;
    /// assert_eq!(skip.on_ask(rule::SHELL_UNKNOWN_PROGRAM.rule()), ModeSays::Allow);
    /// assert_eq!(skip.on_ask(rule::SPEND_MONEY.rule()), ModeSays::Deny);
    /// ```
    pub const fn on_ask(self, rule: &Rule) -> ModeSays {
        match (self, rule.class, rule.lift) {
            (Self::DangerouslySkipPermissions, Class::AlwaysConfirm, _) => ModeSays::Deny,
            (_, Class::Floor | Class::AlwaysConfirm, _) => ModeSays::Ask,
            (Self::Plan | Self::Default, _, _) => ModeSays::Ask,
            (Self::AcceptEdits, _, Lift::Edits) => ModeSays::Allow,
            (Self::AcceptEdits, _, Lift::Nothing | Lift::Rule | Lift::Skip) => ModeSays::Ask,
            (Self::DangerouslySkipPermissions, _, Lift::Edits | Lift::Skip) => ModeSays::Allow,
            (Self::DangerouslySkipPermissions, _, Lift::Nothing | Lift::Rule) => ModeSays::Ask,
        }
    }

    /// Every mode, from least to most.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Default, Self::AcceptEdits, Self::DangerouslySkipPermissions];

    /// The mode of this word, if there is one.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word)
    }

    /// The word that files and command lines use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::DangerouslySkipPermissions => "dangerouslySkipPermissions",
        }
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
