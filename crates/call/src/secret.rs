//! Recognises common secrets by their form, and variables that hold them by their name.
//!
//! One pass, in time linear in the text: a token begins at a word boundary with a prefix of
//! [`table`], and how far a run of allowed characters reaches is measured once and remembered.

mod names;
mod scan;
mod table;

pub use names::{is_owner, is_secret_name};

use scan::Scan;
use std::ops::Range;

/// Names one find.
///
/// ```
/// let hits = tollgate_call::secret::find_tokens("key AKIAIOSFODNN7EXAMPLE.");
/// assert_eq!((hits[0].kind, hits[0].range.clone()), ("aws-access-key", 4..24));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenHit {
    /// What it looks like: `github-token`, `private-key`, …
    pub kind: &'static str,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// Where what tells it begins: at the token, or at the name or header before it.
    pub told_from: usize,
}

/// Kinds whose form says that something is secret, but not whose: examples and fixtures have them too.
const GENERAL: &[&str] = &["assigned-secret", "authorization", "jwt", URL_PASSWORD];

/// The kind of a password in a URL, which goes to nobody but the host of that URL.
pub const URL_PASSWORD: &str = "url-password";

impl TokenHit {
    /// Whether the form is that of one issuer, so that it is hardly anything else.
    #[must_use]
    pub fn is_specific(&self) -> bool {
        !GENERAL.contains(&self.kind)
    }
}

/// Finds tokens of known forms, in order and without overlap.
///
/// # Security
/// Knows forms, not values: a password without a form of its own passes, and so does a token that is
/// encoded, split or shortened. Hide values that are known by their value as well.
#[must_use]
pub fn find_tokens(text: &str) -> Vec<TokenHit> {
    find_tokens_from(text, 0)
}

/// The same for tokens that begin at the byte `from` or later; what stands before it only says
/// whether a word begins there.
#[must_use]
pub fn find_tokens_from(text: &str, from: usize) -> Vec<TokenHit> {
    let mut scan = Scan::new(text);
    let mut hits: Vec<TokenHit> = Vec::new();
    let mut at = from;
    while at < text.len() {
        match scan.at(at) {
            Some(hit) => {
                at = hit.range.end.max(at + 1);
                hits.push(hit);
            }
            None => at += 1,
        }
    }
    hits
}

/// Where, from the byte `from` on, the first token begins that more text could still complete, extend
/// or undo; the length of `text` when there is none. What stands before it can be shown.
///
/// ```
/// use tollgate_call::secret::unfinished;
/// assert_eq!(unfinished("a key: gh", 0), 7);
/// assert_eq!(unfinished("a word ", 0), 7);
/// ```
#[must_use]
pub fn unfinished(text: &str, from: usize) -> usize {
    let mut scan = Scan::new(text);
    let mut at = from;
    while at < text.len() {
        let hit = scan.at(at);
        if scan.is_open() {
            return text.floor_char_boundary(at);
        }
        at = hit.map_or(at + 1, |hit| hit.range.end.max(at + 1));
    }
    text.len()
}

#[cfg(test)]
mod tests;
