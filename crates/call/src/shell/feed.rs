//! What flows from one command to the next: known text, or the name of where it comes from.

use super::ir::Word;
use super::lex::Origin;

/// The output of a command, or the input of the next.
#[derive(Debug, Clone)]
pub(super) enum Feed {
    /// Nothing, or what the whole script was given.
    Outer,
    /// Text that is known.
    Text { text: String, origin: Origin, decoded: Decoded },
    /// Bytes of the named program; if it lists files, the directories that they lie in.
    Stream { from: String, decoded: Decoded, beneath: Vec<Word> },
}

/// Whether the bytes were decoded, decrypted or unpacked on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Decoded {
    No,
    Yes,
}

/// Longest text that is followed through pipes.
const MAX_TEXT: usize = 65_536;

impl Feed {
    pub(super) fn text(text: String, origin: Origin) -> Self {
        if text.len() > MAX_TEXT {
            return Self::stream("long text");
        }
        Self::Text { text, origin, decoded: Decoded::No }
    }

    pub(super) fn stream(from: &str) -> Self {
        Self::Stream { from: from.to_owned(), decoded: Decoded::No, beneath: Vec::new() }
    }

    /// Names of files that lie beneath the directories `beneath`.
    pub(super) fn names(from: &str, beneath: Vec<Word>) -> Self {
        Self::Stream { from: from.to_owned(), decoded: Decoded::No, beneath }
    }

    pub(super) const fn decoded(&self) -> Decoded {
        match self {
            Self::Outer => Decoded::No,
            Self::Text { decoded, .. } | Self::Stream { decoded, .. } => *decoded,
        }
    }

    /// The same, marked as decoded.
    pub(super) fn mark(mut self, mark: Decoded) -> Self {
        match &mut self {
            Self::Outer => {}
            Self::Text { decoded, .. } | Self::Stream { decoded, .. } => *decoded = (*decoded).max(mark),
        }
        self
    }

    pub(super) fn known(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::Outer | Self::Stream { .. } => None,
        }
    }

    /// This followed by `next`.
    pub(super) fn then(self, next: Self) -> Self {
        let decoded = self.decoded().max(next.decoded());
        match (self, next) {
            (Self::Outer, other) | (other, Self::Outer) => other,
            (Self::Text { text: mut a, origin, .. }, Self::Text { text: b, .. }) => {
                a.push_str(&b);
                Self::text(a, widen(origin)).mark(decoded)
            }
            (Self::Stream { from, .. }, _) | (_, Self::Stream { from, .. }) => Self::stream(&from).mark(decoded),
        }
    }
}

/// Joined text stands nowhere in particular any more; it keeps the place of its beginning.
const fn widen(origin: Origin) -> Origin {
    match origin {
        Origin::At(at) => Origin::Range(at, at + 1),
        Origin::Range(start, end) => Origin::Range(start, end),
    }
}
