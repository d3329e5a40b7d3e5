//! A shell command as the shell will run it: text → simple commands → actions.
//!
//! The order of reading: [`scan`] counts and bounds, [`parse`] gives structure ([`tree`]), [`lex`]
//! cuts words, [`expand`] expands them in a [`scope`], [`walk`] visits commands in the order they
//! run, [`command`] says what each one does: a builtin, a program that runs another
//! ([`unwrap`]), or a row of the [`program`] table.
//!
//! What is not understood is an action too: [`ActionKind::Opaque`].
//!
//! # Security
//! This reads text; it does not know the file system. Which file `PATH` finds, what a glob matches,
//! and what a script on disk holds are facts for `survey`. A flag that a row does not list is taken
//! to be harmless for programs that only read; see `docs/program-rows.md`.

mod again;
mod ansi;
mod args;
mod assign;
mod braces;
mod builtin;
mod changes;
mod code;
mod command;
mod environment;
mod expand;
mod feed;
mod fields;
mod fold;
mod functions;
mod harmless;
mod ir;
mod lex;
mod links;
mod parse;
mod pattern;
mod program;
mod scan;
mod scope;
mod simple;
mod skip;
mod tree;
mod unwrap;
mod variables;
mod walk;

pub use ir::{Assignment, Part, Redirect, RedirectKind, Simple, Within, Word};

use crate::action::{Action, ActionKind, Standing, Why};
use crate::span::Span;

/// Longest command that is read, in bytes.
pub const MAX_COMMAND: usize = 65_536;

/// What the reader must be told about where a command would run.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The working directory, absolute.
    pub cwd: &'a str,
    /// The home directory, absolute.
    pub home: &'a str,
    /// The user's name; may be empty.
    pub user: &'a str,
}

/// A command, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Everything it does, in order, with spans in the text at `/command`.
    pub actions: Vec<Action>,
    /// Its simple commands, for explanations; [`Action::part`] is an index into this.
    pub commands: Vec<Simple>,
    /// Whether it is proven to read only: no action but reads and programs that a row or the shell
    /// itself describes.
    pub read_only: bool,
}

/// Reads a command.
///
/// Never fails: what is not understood becomes [`ActionKind::Opaque`].
///
/// ```
/// use tollgate_call::ActionKind;
/// use tollgate_call::shell::{Setting, read};
///
/// let setting = Setting { cwd: "/w", home: "/home/u", user: "u" };
/// let script = read("cd build && rm -rf *", &setting);
/// assert!(script.actions.iter().any(|action| matches!(action.kind, ActionKind::Delete(..))));
/// assert!(read("grep -rn 'a|b' src | head", &setting).read_only);
/// ```
///
/// # Security
/// Time and memory are bounded for any input; over the bounds the answer is
/// [`Why::Limit`]. It does not look at files: a script named by the command is not read.
pub fn read(command: &str, setting: &Setting<'_>) -> Script {
    let mut reader = walk::Reader::new(setting);
    let whole = Span::whole("/command", command);
    if command.len() > MAX_COMMAND {
        reader.limit("a command longer than 64 KB", whole);
    } else if command.contains('\0') {
        reader.opaque(Why::Unparsed("a NUL byte".to_owned()), whole);
    } else {
        reader.script(command, lex::Origin::At(0));
        reader.uncalled();
    }
    let read_only = reader.actions.iter().all(|action| only_reads(&action.kind));
    Script { actions: reader.actions, commands: reader.commands, read_only }
}

const fn only_reads(kind: &ActionKind) -> bool {
    match kind {
        ActionKind::Read(_) => true,
        ActionKind::Execute(execute) => match execute.standing {
            Standing::Row | Standing::Builtin => true,
            Standing::NoRow | Standing::File(_) | Standing::Project | Standing::Inline(_) => false,
        },
        ActionKind::Write(..)
        | ActionKind::Delete(..)
        | ActionKind::Move(..)
        | ActionKind::Connect(_)
        | ActionKind::Listen(_)
        | ActionKind::Message(_)
        | ActionKind::Spend(_)
        | ActionKind::Install(_)
        | ActionKind::Privilege(_)
        | ActionKind::Persist(_)
        | ActionKind::Control(_)
        | ActionKind::Publish(_)
        | ActionKind::Destroy(_)
        | ActionKind::Signal(_)
        | ActionKind::Opaque(_) => false,
    }
}
