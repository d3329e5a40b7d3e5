//! Shell text to actions.

use crate::action::{Action, ActionKind, Why};
use crate::span::Span;

/// Where and as whom a script would run.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Absolute working directory.
    pub cwd: &'a str,
    /// Absolute home directory.
    pub home: &'a str,
    /// Login name.
    pub user: &'a str,
}

/// What a script does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// Its actions, in source order.
    pub actions: Vec<Action>,
}

/// Reads shell text. Until its grammar is walked, all of it is opaque.
pub fn read(command: &str, _setting: &Setting<'_>) -> Script {
    let kind = ActionKind::Opaque(Why::Unparsed("not read".to_owned()));
    Script { actions: vec![Action { kind, span: Span::whole("/command", command), part: 0 }] }
}
