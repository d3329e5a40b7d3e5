//! The shell IR: simple commands with their words, as the shell would run them.

use crate::action::{PathRef, Target, Why};
use crate::span::Span;

/// One simple command, after expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// The command word and its arguments.
    pub words: Vec<Word>,
    /// Assignments before the command word.
    pub assignments: Vec<Assignment>,
    /// Redirections, in order.
    pub redirects: Vec<Redirect>,
    /// Where it runs; `None` when a `cd` before it could not be followed.
    pub cwd: Option<String>,
    /// What it stands in, outermost first.
    pub within: Vec<Within>,
    /// The text it came from.
    pub span: Span,
}

/// A word after quote removal and expansion: literal text, glob marks, and what is not known.
///
/// A word is *literal* when it has no other parts; neighbouring text is always one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The parts in order; none at all is the empty string.
    pub parts: Vec<Part>,
    /// The text it came from.
    pub span: Span,
    /// Where the literal text starts in the input, when it stands there unchanged.
    pub verbatim: Option<u32>,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Known text.
    Text(String),
    /// Pattern characters that the file system will expand, or a number computed at run time.
    Glob(String),
    /// Not known before running.
    Opaque(Why),
}

/// `name=value` before a command or on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Its new value.
    pub value: Word,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// What it does.
    pub kind: RedirectKind,
    /// The file, text or descriptor.
    pub target: Word,
    /// The text it came from.
    pub span: Span,
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Input,
    /// `>` `>|`
    Output,
    /// `2>` and other descriptors than standard output.
    OutputOther,
    /// `>>`
    Append,
    /// `&>`
    OutputBoth,
    /// `<>`
    ReadWrite,
    /// `<<` and `<<<`: the target is the text itself.
    Text,
    /// `2>&1` and kin.
    Duplicate,
}

/// What a command stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// A pipeline; its position is counted from 0.
    Pipe(u32),
    /// A subshell `( … )`.
    Subshell,
    /// The condition of `if`, `while` or `until`, or the right side of `&&` and `||`.
    Condition,
    /// A branch of `if` or `case`.
    Branch,
    /// A loop body.
    Loop,
    /// A function body.
    Function,
    /// A trap.
    Trap,
    /// The background.
    Background,
    /// A command or process substitution.
    Substitution,
    /// Another program that runs it, such as `sudo`, `xargs` or `sh -c`.
    Wrapped,
    /// Another machine or container.
    Elsewhere,
}

/// The pattern of a word that stands for names beneath a directory.
const BENEATH: &str = "/**";

impl Word {
    /// Any name beneath the directory that this word names.
    pub fn beneath(&self) -> Self {
        let mut parts = self.parts.clone();
        if parts.is_empty() {
            parts.push(Part::Text(".".to_owned()));
        }
        if self.why().is_none() {
            parts.push(Part::Glob(BENEATH.to_owned()));
        }
        Self { parts, span: self.span.clone(), verbatim: None }
    }

    /// The names beneath the directory that fit a pattern, which is shown and not expanded.
    pub fn beneath_named(&self, pattern: &str) -> Self {
        let mut word = self.beneath();
        if self.why().is_none() && !pattern.is_empty() {
            word.parts.push(Part::Text(pattern.to_owned()));
        }
        word
    }

    /// A literal word with no place of its own in the input.
    pub fn literal_at(text: impl Into<String>, span: Span) -> Self {
        let text = text.into();
        let parts = if text.is_empty() { Vec::new() } else { vec![Part::Text(text)] };
        Self { parts, span, verbatim: None }
    }

    /// A word that is not known.
    pub fn opaque_at(why: Why, span: Span) -> Self {
        Self { parts: vec![Part::Opaque(why)], span, verbatim: None }
    }

    /// The text, if all of it is known and no part is a glob.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            [Part::Glob(_) | Part::Opaque(_)] | [_, _, ..] => None,
        }
    }

    /// The known text before the first part that is not text.
    pub fn lead(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            Some(Part::Glob(_) | Part::Opaque(_)) | None => "",
        }
    }

    /// The known text after the last part that is not text.
    pub fn tail(&self) -> &str {
        match self.parts.last() {
            Some(Part::Text(text)) => text,
            Some(Part::Glob(_) | Part::Opaque(_)) | None => "",
        }
    }

    /// Why it is not known, if any part is not.
    pub fn why(&self) -> Option<&Why> {
        self.parts.iter().find_map(|part| match part {
            Part::Opaque(why) => Some(why),
            Part::Text(_) | Part::Glob(_) => None,
        })
    }

    /// Text and globs joined; opaque parts shown as `…`.
    pub fn shown(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(part) | Part::Glob(part) => text.push_str(part),
                Part::Opaque(_) => text.push('…'),
            }
        }
        text
    }

    /// The word without its first `bytes` bytes of leading text.
    pub fn without_lead(&self, bytes: usize) -> Self {
        let mut word = self.clone();
        if let Some(Part::Text(text)) = word.parts.first_mut() {
            *text = text.get(bytes..).unwrap_or("").to_owned();
            if text.is_empty() {
                word.parts.remove(0);
            }
        }
        word.verbatim = self.verbatim.map(|at| at.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX)));
        word
    }

    /// The path it names when used in `cwd`.
    pub fn target(&self, cwd: Option<&str>) -> Target {
        if let Some(why) = self.why() {
            return Target::Opaque(why.clone());
        }
        let name = self.shown();
        let Some(cwd) = cwd.or_else(|| name.starts_with('/').then_some("/")) else {
            return Target::Opaque(Why::Directory);
        };
        if let [Part::Text(directory), Part::Glob(mark), named @ ..] = self.parts.as_slice()
            && mark == BENEATH
        {
            let place = PathRef::join(cwd, directory);
            return Target::Beneath(match named {
                [Part::Text(pattern)] => {
                    PathRef { raw: format!("{}/{pattern}", directory.trim_end_matches('/')), ..place }
                }
                _ => place,
            });
        }
        let path = PathRef::join(cwd, &name);
        if self.literal().is_some() { Target::Path(path) } else { Target::Glob(path) }
    }
}
