//! The only payload a record takes, and the maker of it.

mod forms;

use crate::chain::Digest;
use aho_corasick::AhoCorasick;
use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::ops::Range;

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
/// an encoding other than plain, Base64, hexadecimal, percent- and JSON-escapes.
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
#[derive(Debug)]
pub struct Scrubber {
    known: Known,
    placeholders: Vec<String>,
    too_short: Vec<String>,
}

/// Says which values are known.
#[derive(Debug)]
enum Known {
    Nothing,
    Values(AhoCorasick),
    /// They are too many to be searched for, so every text is hidden.
    Unsearchable,
}

impl Scrubber {
    /// Hides these named values, and tokens by their form.
    ///
    /// # Security
    /// Values under 8 bytes are not hidden (see [`Scrubber::too_short`]). The values stay in this
    /// process's memory until the scrubber is dropped and are not wiped.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut built = Self::formats_only();
        let mut patterns = Vec::new();
        for (name, value) in secrets {
            if value.len() < MIN_SECRET_BYTES {
                built.too_short.push(name.to_owned());
                continue;
            }
            for form in forms::of(value) {
                patterns.push(form);
                built.placeholders.push(placeholder(name, value));
            }
        }
        if !patterns.is_empty() {
            built.known = AhoCorasick::new(&patterns).map_or(Known::Unsearchable, Known::Values);
        }
        built
    }

    /// Hides tokens by their form only.
    #[must_use]
    pub const fn formats_only() -> Self {
        Self { known: Known::Nothing, placeholders: Vec::new(), too_short: Vec::new() }
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
        let hits = self.hits(text);
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (range, placeholder) in hits {
            out.push_str(text.get(at..range.start).unwrap_or_default());
            out.push_str(&placeholder);
            at = range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }

    /// Lists every find, overlapping ones too: of two secrets that share characters none may remain.
    fn known_values(&self, text: &str) -> Vec<(Range<usize>, String)> {
        let name = |pattern: usize| self.placeholders.get(pattern).cloned().unwrap_or_default();
        match &self.known {
            Known::Nothing => Vec::new(),
            Known::Values(values) => {
                values.find_overlapping_iter(text).map(|m| (m.range(), name(m.pattern().as_usize()))).collect()
            }
            Known::Unsearchable => vec![(0..text.len(), "[secret:unsearchable]".to_owned())],
        }
    }

    /// Lists what to replace, in order and without overlap; overlapping finds become one.
    fn hits(&self, text: &str) -> Vec<(Range<usize>, String)> {
        let mut all = self.known_values(text);
        all.extend(tollgate_call::secret::find_tokens(text).into_iter().map(|hit| {
            let token = text.get(hit.range.clone()).unwrap_or_default();
            (hit.range, placeholder(hit.kind, token))
        }));
        all.sort_by_key(|(range, _)| (range.start, Reverse(range.end)));
        let mut merged: Vec<(Range<usize>, String)> = Vec::with_capacity(all.len());
        for (range, name) in all {
            match merged.last_mut() {
                Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
                Some(_) | None => merged.push((range, name)),
            }
        }
        merged
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
