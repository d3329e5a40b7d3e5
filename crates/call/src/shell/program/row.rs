//! The format of a row.

use super::run::Use;
use crate::action::{Depth, DestroyClass, Flow, InstallScope, InstallSource, ListenScope, WriteHow};

pub(super) use super::super::args::Style;

/// What is known about a program.
pub(super) struct Row {
    /// Its names.
    pub(super) names: &'static [&'static str],
    /// Flags that take a value, separated by blanks; before the subcommand, if there are any.
    pub(super) values: &'static str,
    pub(super) style: Style,
    /// Rules that hold whatever the subcommand is; they come first.
    pub(super) always: &'static [Rule],
    pub(super) does: Does,
    #[cfg_attr(not(test), expect(dead_code, reason = "the test that proves every row reads it"))]
    /// A use that stays within reads and harmless runs.
    pub(super) allowed: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "the test that proves every row reads it"))]
    /// A use that does more.
    pub(super) refused: &'static str,
}

/// What a program does.
#[derive(Clone, Copy)]
pub(super) enum Does {
    /// One thing, by these rules.
    Rules(&'static [Rule]),
    /// What its subcommand says; an unknown one is not known.
    Subs(&'static [Sub]),
}

/// A subcommand.
#[derive(Clone, Copy)]
pub(super) struct Sub {
    /// Its spellings, separated by commas; one may be of several words. The empty one is the
    /// program without a subcommand, `*` any that no other entry names.
    pub(super) names: &'static str,
    /// Flags that take a value.
    pub(super) values: &'static str,
    pub(super) rules: &'static [Rule],
}

/// One consequence of an invocation.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    /// Operands are files that are read.
    Read(Pick),
    /// Operands are files that are written.
    Write(Pick, WriteHow),
    /// Operands are removed.
    Delete(Pick, Depth),
    /// The values of these flags are files that are read.
    ReadFlag(&'static str),
    /// The values of these flags are files that are written.
    WriteFlag(&'static str),
    /// One of these flags was given.
    If(&'static str, Say),
    /// None of these flags was given.
    IfNot(&'static str, Say),
    /// In any case.
    Always(Say),
    /// What a list cannot say.
    Code(fn(&mut Use<'_, '_, '_>)),
}

/// Which operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pick {
    /// From this one on, counted from 0.
    From(usize),
    /// This one only.
    At(usize),
    /// The last.
    Last,
    /// All but the last.
    ButLast,
}

/// Every operand.
pub(super) const ALL: Pick = Pick::From(0);

/// What to note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Say {
    /// It runs the project's own code.
    Project,
    /// This form is not known.
    Unknown,
    /// It talks to a service whose address is configured elsewhere.
    Service(&'static str, Flow),
    /// It talks to the configured package registry.
    Registry(&'static str, Flow),
    Listen(ListenScope, &'static str),
    Install(InstallScope, InstallSource),
    Privilege(&'static str),
    Persist(&'static str),
    Environment(&'static str),
    Configuration(&'static str),
    Guard(&'static str),
    Traces(&'static str),
    Package(&'static str),
    Deploy(&'static str),
    Post(&'static str),
    Upload(&'static str),
    Message(&'static str),
    Spend(&'static str),
    Destroy(DestroyClass, &'static str),
    /// Ends or stops the machine, or every process.
    SignalAll(&'static str),
    /// What it runs or sends is in files or answers that are not read.
    Hidden(&'static str),
}

/// A row with the common defaults, to be completed.
pub(super) const fn row(
    names: &'static [&'static str],
    values: &'static str,
    rules: &'static [Rule],
    allowed: &'static str,
    refused: &'static str,
) -> Row {
    Row { names, values, style: Style::Gnu, always: &[], does: Does::Rules(rules), allowed, refused }
}

/// A row of a program with subcommands.
pub(super) const fn subs(
    names: &'static [&'static str],
    values: &'static str,
    subs: &'static [Sub],
    allowed: &'static str,
    refused: &'static str,
) -> Row {
    Row { names, values, style: Style::Gnu, always: &[], does: Does::Subs(subs), allowed, refused }
}

/// A subcommand with flags that take values.
pub(super) const fn sub(names: &'static str, values: &'static str, rules: &'static [Rule]) -> Sub {
    Sub { names, values, rules }
}

/// Subcommands that do nothing beyond running.
pub(super) const fn quiet(names: &'static str) -> Sub {
    Sub { names, values: "", rules: &[] }
}

/// Whether `word` is one of a list that is separated by blanks.
pub(super) fn among(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}
