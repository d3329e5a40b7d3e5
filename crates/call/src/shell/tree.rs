//! The structure of a script: commands and what they stand in, before any expansion.

use std::rc::Rc;

use super::ir::RedirectKind;
use super::lex::RawWord;
use crate::action::Why;

/// A parsed script.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) body: Vec<Node>,
    /// Commands that the structure accounts for, to compare with the scanner's count.
    pub(super) commands: u32,
}

/// A piece of structure.
#[derive(Debug)]
pub(super) enum Node {
    Simple(Box<RawSimple>),
    /// `a && b || c`.
    Chain(Box<Self>, Vec<(Link, Self)>),
    Pipe(Vec<Self>),
    Subshell(Vec<Self>),
    Group(Vec<Self>),
    /// `if`, `case`: a test, and bodies of which at most one runs.
    Branch(Vec<Self>, Vec<Vec<Self>>),
    Loop(Box<Loop>),
    Function(Vec<String>, Rc<Self>),
    Background(Box<Self>),
    /// Words that are only expanded: those of `[[ … ]]`, the subject of `case`.
    Words(Vec<RawWord>),
    /// Words that are expanded and then evaluated: `(( … ))`, `[[ … -eq … ]]`.
    Arithmetic(Vec<RawWord>),
    Redirected(Box<Self>, Vec<RawRedirect>),
    Unknown(Why, (usize, usize)),
}

/// `for`, `select`, `while`, `until`.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) variables: Vec<String>,
    /// `None` where there is no list, or it is `"$@"`.
    pub(super) words: Option<Vec<RawWord>>,
    pub(super) head: Vec<Node>,
    pub(super) body: Vec<Node>,
}

/// How the second of two commands depends on the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    And,
    Or,
}

/// A simple command as written.
#[derive(Debug)]
pub(super) struct RawSimple {
    pub(super) words: Vec<RawWord>,
    pub(super) assignments: Vec<RawAssignment>,
    /// Assignments among the words of `export`, `local` and kin.
    pub(super) declared: Vec<RawAssignment>,
    pub(super) redirects: Vec<RawRedirect>,
    pub(super) span: (usize, usize),
}

#[derive(Debug)]
pub(super) struct RawAssignment {
    pub(super) name: String,
    pub(super) value: RawValue,
    pub(super) append: Append,
    /// Words of a subscript, which are expanded too.
    pub(super) subscript: Option<RawWord>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Append {
    Yes,
    No,
}

#[derive(Debug)]
pub(super) enum RawValue {
    Word(RawWord),
    Array(Vec<RawWord>),
}

#[derive(Debug)]
pub(super) struct RawRedirect {
    pub(super) kind: RedirectKind,
    pub(super) target: RawWord,
    pub(super) span: (usize, usize),
}
