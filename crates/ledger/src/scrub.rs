//! The only payload a record takes, and the maker of it.

mod forms;
mod known;
mod stream;

pub use stream::ScrubStream;

use crate::chain::Digest;
use known::Known;
use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;
use tollgate_call::secret::{TokenHit, find_tokens, find_tokens_from};

/// The longest text kept whole; of a longer one the head, its size and its SHA-256 are kept.
pub const MAX_TEXT_BYTES: usize = 8 * 1024;
/// The largest payload of one record, in rendered bytes.
pub const MAX_DATA_BYTES: usize = 256 * 1024;
/// Shorter values would hide ordinary words.
const MIN_SECRET_BYTES: usize = 8;
const MAX_DEPTH: usize = 100;
/// Beyond it a JSON number is no longer exact.
const MAX_EXACT: u64 = (1 << 53) - 1;

/// Holds a value in which every known secret and every common token is replaced.
///
/// # Security
/// Does not hide a secret that is split over several values, compressed, encrypted, or spelled in
/// an encoding other than plain, Base64, hexadecimal, percent-, JSON- and HTML-escapes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scrubbed(Value);

impl Scrubbed {
    /// Wraps a text of this program.
    #[must_use]
    pub fn fixed(text: &'static str) -> Self {
        Self(Value::String(text.to_owned()))
    }

    /// Returns the value.
    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.0
    }

    /// Returns the text, or the value as JSON when it is no text.
    ///
    /// The text may hold control characters: print it through the printer that escapes them.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.0.as_str().map_or_else(|| self.0.to_string(), str::to_owned)
    }

    pub(crate) const fn from_store(value: Value) -> Self {
        Self(value)
    }
}

/// Replaces secrets by placeholders such as `[secret:github-token:1f3a]`.
///
/// ```
/// use tollgate_ledger::Scrubber;
/// let scrubber = Scrubber::new([("DB_PASSWORD", "correct horse")]);
/// let text = scrubber.scrub_text("login with correct horse").to_text();
/// assert!(text.starts_with("login with [secret:DB_PASSWORD:"));
/// ```
pub struct Scrubber {
    known: Known,
    too_short: Vec<String>,
}

impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scrubber").field("too_short", &self.too_short).finish_non_exhaustive()
    }
}

/// Says what was hidden in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// A value that is known to be secret.
    pub known: bool,
    /// A token whose form is that of one issuer.
    pub tokens: bool,
}

impl Scrubber {
    /// Hides these named values, and tokens by their form.
    ///
    /// # Security
    /// Values under 8 bytes are not hidden (see [`Scrubber::too_short`]). The values stay in this
    /// process's memory until the scrubber is dropped and are not wiped.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let (long, short): (Vec<_>, Vec<_>) =
            secrets.into_iter().partition(|(_, value)| value.len() >= MIN_SECRET_BYTES);
        Self { known: Known::of(&long), too_short: short.into_iter().map(|(name, _)| name.to_owned()).collect() }
    }

    /// Hides tokens by their form only.
    #[must_use]
    pub const fn formats_only() -> Self {
        Self { known: Known::Nothing, too_short: Vec::new() }
    }

    /// Names the values that were too short to hide.
    #[must_use]
    pub fn too_short(&self) -> &[String] {
        &self.too_short
    }

    /// Scrubs a text and keeps at most [`MAX_TEXT_BYTES`] of it.
    #[must_use]
    pub fn scrub_text(&self, text: &str) -> Scrubbed {
        Scrubbed(cut_text(self.redact(text)))
    }

    /// Scrubs every key, text and number, cutting long texts and what is too large as a whole.
    #[must_use]
    pub fn scrub_value(&self, value: &Value) -> Scrubbed {
        let scrubbed = self.walk(value, MAX_DEPTH, &cut_text);
        if rendered_len(&scrubbed) <= MAX_DATA_BYTES {
            return Scrubbed(scrubbed);
        }
        let whole = scrubbed.to_string();
        Scrubbed(cut(String::new(), &whole))
    }

    /// Scrubs without cutting, for what a human must see whole; `None` when it is too large or too
    /// deep to show.
    #[must_use]
    pub fn scrub_whole(&self, value: &Value) -> Option<Scrubbed> {
        let scrubbed = self.walk(value, MAX_DEPTH, &Value::String);
        (depth_within(value, MAX_DEPTH) && rendered_len(&scrubbed) <= MAX_DATA_BYTES).then_some(Scrubbed(scrubbed))
    }

    fn walk(&self, value: &Value, depth: usize, text: &dyn Fn(String) -> Value) -> Value {
        let Some(below) = depth.checked_sub(1) else { return Value::from("[cut: too deep]") };
        match value {
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(number) => self.number(number),
            Value::String(s) => text(self.redact(s)),
            Value::Array(items) => items.iter().map(|v| self.walk(v, below, text)).collect(),
            Value::Object(fields) => {
                let mut out = Map::with_capacity(fields.len());
                for (key, v) in fields {
                    let mut key = self.redact(key);
                    while out.contains_key(&key) {
                        key.push('#');
                    }
                    out.insert(key, self.walk(v, below, text));
                }
                Value::Object(out)
            }
        }
    }

    /// Keeps a number, unless it is a known secret or would lose digits in canonical form.
    fn number(&self, number: &serde_json::Number) -> Value {
        let digits = number.to_string();
        let inexact = number.as_u64().is_some_and(|n| n > MAX_EXACT)
            || number.as_i64().is_some_and(|n| n.unsigned_abs() > MAX_EXACT);
        let hidden = self.redact(&digits);
        if inexact || hidden != digits { Value::String(hidden) } else { Value::Number(number.clone()) }
    }

    /// Replaces secrets in `text`, and cuts nothing.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.redact_told(text).0
    }

    /// The same, and says what was hidden.
    #[must_use]
    pub fn redact_told(&self, text: &str) -> (String, Hidden) {
        let (hits, hidden) = self.hits(text, 0);
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for find in hits {
            out.push_str(text.get(at..find.range.start).unwrap_or_default());
            out.push_str(&find.placeholder);
            at = find.range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        (out, hidden)
    }

    /// Names the known secrets whose values stand in any text of `value`, in any spelling that is hidden.
    #[must_use]
    pub fn known_in(&self, value: &Value) -> Vec<String> {
        let mut names = BTreeSet::new();
        each_text(value, &mut |text| names.extend(self.known.find(text).into_iter().map(|hit| hit.name.to_owned())));
        names.into_iter().collect()
    }

    /// Names the first secret in `text`, known or by its form.
    #[must_use]
    pub fn first_in(&self, text: &str) -> Option<String> {
        let known = self.known.find(text).first().map(|hit| hit.name.to_owned());
        known.or_else(|| find_tokens(text).first().map(|hit| hit.kind.to_owned()))
    }

    /// Lists what to replace from the byte `from` on, in order and without overlap; overlapping finds
    /// become one.
    fn hits(&self, text: &str, from: usize) -> (Vec<Find>, Hidden) {
        let known = self.known.find(text).into_iter().filter(|hit| hit.range.start >= from);
        let mut all: Vec<Find> = known.map(Find::known).collect();
        let mut hidden = Hidden { known: !all.is_empty(), tokens: false };
        for hit in find_tokens_from(text, from) {
            hidden.tokens |= hit.is_specific();
            all.push(Find::token(text, hit));
        }
        all.sort_by_key(|find| (find.range.start, Reverse(find.range.end)));
        let mut merged: Vec<Find> = Vec::with_capacity(all.len());
        for find in all {
            match merged.last_mut() {
                Some(last) if find.range.start < last.range.end => last.absorb(&find),
                Some(_) | None => merged.push(find),
            }
        }
        (merged, hidden)
    }
}

/// One stretch of text to be replaced.
struct Find {
    range: Range<usize>,
    /// Where what tells it begins.
    told_from: usize,
    placeholder: String,
}

impl Find {
    fn known(hit: known::Hit<'_>) -> Self {
        Self { told_from: hit.range.start, range: hit.range, placeholder: hit.placeholder.to_owned() }
    }

    fn token(text: &str, hit: TokenHit) -> Self {
        let placeholder = placeholder(hit.kind, text.get(hit.range.clone()).unwrap_or_default());
        Self { range: hit.range, told_from: hit.told_from, placeholder }
    }

    fn absorb(&mut self, other: &Self) {
        self.range.end = self.range.end.max(other.range.end);
        self.told_from = self.told_from.min(other.told_from);
    }
}

fn each_text(value: &Value, see: &mut dyn FnMut(&str)) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => see(&number.to_string()),
        Value::String(text) => see(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, see)),
        Value::Object(fields) => fields.iter().for_each(|(key, item)| {
            see(key);
            each_text(item, see);
        }),
    }
}

fn placeholder(kind: &str, secret: &str) -> String {
    let hash = Digest::of(secret.as_bytes()).to_string();
    let kind: String = kind.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).take(40).collect();
    format!("[secret:{kind}:{}]", hash.get(..4).unwrap_or_default())
}

fn cut_text(text: String) -> Value {
    if text.len() <= MAX_TEXT_BYTES {
        return Value::String(text);
    }
    let head = text.get(..text.floor_char_boundary(MAX_TEXT_BYTES)).unwrap_or_default();
    cut(head.to_owned(), &text)
}

/// Describes what was cut: the hash is of the scrubbed text, so that it says nothing of a secret.
fn cut(head: String, whole: &str) -> Value {
    let hash = Digest::of(whole.as_bytes()).to_string();
    serde_json::json!({"cut": true, "text": head, "bytes": whole.len(), "sha256": hash})
}

/// Counts the bytes of the compact rendering without rendering.
fn rendered_len(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(number) => number.to_string().len(),
        Value::String(s) => escaped_len(s),
        Value::Array(items) => items.iter().map(|v| rendered_len(v) + 1).sum::<usize>() + 2,
        Value::Object(fields) => fields.iter().map(|(k, v)| escaped_len(k) + rendered_len(v) + 2).sum::<usize>() + 2,
    }
}

fn escaped_len(s: &str) -> usize {
    let escaped = |b: u8| match b {
        b'"' | b'\\' => 2,
        0..=0x1f => 6,
        _ => 1,
    };
    s.bytes().map(escaped).sum::<usize>() + 2
}

fn depth_within(value: &Value, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else { return false };
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::Array(items) => items.iter().all(|v| depth_within(v, below)),
        Value::Object(fields) => fields.values().all(|v| depth_within(v, below)),
    }
}

#[cfg(test)]
mod tests;
