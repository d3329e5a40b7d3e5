//! Scrubbing text that comes in pieces, as a model's words do.

use std::sync::Arc;

use super::Scrubber;

/// Bytes before the text still to come that decide whether a word begins there.
const CONTEXT: usize = 4;
/// Held text that is looked through at every piece; longer text only when it has grown by an eighth.
const SHORT: usize = 512;

/// Holds back what may be the beginning of a secret until it is known whether it is one.
///
/// The pieces that come out, joined, are the joined pieces that went in, redacted.
///
/// ```
/// use std::sync::Arc;
/// use tollgate_ledger::{ScrubStream, Scrubber};
/// let mut stream = ScrubStream::new(Arc::new(Scrubber::new([("DB_PASSWORD", "correct horse")])));
/// assert_eq!(stream.push("login with cor"), "login with ");
/// assert!(stream.push("rect horse now").starts_with("[secret:DB_PASSWORD:"));
/// assert_eq!(stream.finish(), "");
/// ```
///
/// # Security
/// A value that is broken over lines in an encoding (see [`Scrubber::redact`]) is not recognised here.
#[derive(Debug)]
pub struct ScrubStream {
    scrubber: Arc<Scrubber>,
    /// A few bytes that were shown, and all that was not.
    text: String,
    /// Where what was not shown begins.
    from: usize,
    /// The length from which on `text` is looked through.
    look: usize,
}

impl ScrubStream {
    /// Nothing has come yet.
    #[must_use]
    pub const fn new(scrubber: Arc<Scrubber>) -> Self {
        Self { scrubber, text: String::new(), from: 0, look: 0 }
    }

    /// Takes the next piece, and returns what can be shown.
    pub fn push(&mut self, piece: &str) -> String {
        self.text.push_str(piece);
        if self.text.len() < self.look {
            return String::new();
        }
        let known = self.scrubber.known.unfinished(&self.text, self.from);
        let token = tollgate_call::secret::unfinished(&self.text, self.from);
        let shown = self.show(known.min(token));
        let held = self.text.len();
        self.look = if held < SHORT { 0 } else { held + held / 8 };
        shown
    }

    /// Returns what is left; nothing more comes.
    pub fn finish(&mut self) -> String {
        self.look = 0;
        self.show(self.text.len())
    }

    /// Redacts what is not shown yet, up to `end` or where the secret begins that reaches beyond it.
    fn show(&mut self, end: usize) -> String {
        let (hits, _) = self.scrubber.hits(&self.text, self.from);
        let mut end = end;
        while let Some(cut) = hits.iter().find(|find| find.told_from < end && end < find.range.end) {
            end = cut.told_from;
        }
        let mut out = String::new();
        let mut at = self.from;
        for find in hits.iter().filter(|find| find.range.end <= end) {
            out.push_str(self.text.get(at..find.range.start).unwrap_or_default());
            out.push_str(&find.placeholder);
            at = find.range.end;
        }
        out.push_str(self.text.get(at..end).unwrap_or_default());
        self.forget(end);
        out
    }

    /// Keeps of what was shown only what the next look needs.
    fn forget(&mut self, shown: usize) {
        let keep = self.text.floor_char_boundary(shown.saturating_sub(CONTEXT));
        self.text.drain(..keep);
        self.from = shown - keep;
    }
}
