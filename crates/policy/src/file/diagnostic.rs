//! Diagnostics that point at a line of a policy file.

use std::ops::Range;

use super::Layer;

/// What is wrong in a policy file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file's name.
    pub file: String,
    /// Line, from 1; 0 when there is none.
    pub line: usize,
    /// Column in characters, from 1; 0 when there is none.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do instead.
    pub help: String,
    excerpt: String,
    width: usize,
}

/// One diagnostic at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostic {
    pub(super) fn at(
        layer: &Layer<'_>,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let before = layer.text.get(..span.start).unwrap_or(layer.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let excerpt = layer.text.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        let pointed = layer.text.get(span).and_then(|text| text.lines().next()).unwrap_or_default();
        Self {
            file: layer.name.to_owned(),
            line: before.matches('\n').count() + 1,
            column,
            message: message.into(),
            help: help.into(),
            excerpt: shown(excerpt),
            width: pointed.chars().count().max(1),
        }
    }

    pub(super) fn unplaced(message: String) -> Self {
        Self {
            file: String::new(),
            line: 0,
            column: 0,
            message,
            help: "check the entry it names".to_owned(),
            excerpt: String::new(),
            width: 0,
        }
    }
}

impl Diagnostics {
    pub(super) fn of(found: Vec<Diagnostic>) -> Option<Self> {
        (!found.is_empty()).then_some(Self(found))
    }

    pub(super) fn one(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }

    /// All of them, in the order of layers and lines.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line == 0 {
            return write!(f, "{}\n  help: {}", self.message, self.help);
        }
        writeln!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        let margin = self.line.to_string().len();
        writeln!(f, "  {} | {}", self.line, self.excerpt)?;
        writeln!(f, "  {:margin$} | {:indent$}{}", "", "", "^".repeat(self.width), indent = self.column - 1)?;
        write!(f, "  help: {}", self.help)
    }
}

impl std::fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, diagnostic) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}
impl std::error::Error for Diagnostics {}

/// Control characters would let a file draw on the terminal that reports its error.
fn shown(line: &str) -> String {
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).take(240).collect()
}
