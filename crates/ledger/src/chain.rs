//! The link from one record to the next, and the reading of one line.

use sha2::{Digest as _, Sha256};
use std::fmt;

/// The longest line a reader takes before calling it damage.
pub const MAX_LINE_BYTES: usize = 512 * 1024;

/// Names a SHA-256 value: of a record, a call, a result or a file.
///
/// ```
/// let d = tollgate_ledger::Digest::of(b"abc");
/// assert!(d.to_string().starts_with("ba7816bf"));
/// assert_eq!(tollgate_ledger::Digest::parse(&d.to_string()), Some(d));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Stands before the first record.
    pub const GENESIS: Self = Self([0; 32]);

    /// Hashes `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads 64 lower-case hex digits.
    #[must_use]
    pub fn parse(hex: &str) -> Option<Self> {
        Self::parse_bytes(hex.as_bytes())
    }

    /// Returns the raw value.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn parse_bytes(hex: &[u8]) -> Option<Self> {
        if hex.len() != 64 {
            return None;
        }
        let mut out = [0; 32];
        for (slot, pair) in out.iter_mut().zip(hex.chunks_exact(2)) {
            let [high, low] = pair else { return None };
            *slot = nibble(*high)? << 4 | nibble(*low)?;
        }
        Some(Self(out))
    }

    pub(crate) fn from_slice(raw: &[u8]) -> Option<Self> {
        raw.try_into().ok().map(Self)
    }
}

impl From<[u8; 32]> for Digest {
    fn from(raw: [u8; 32]) -> Self {
        Self(raw)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// Holds the fields of one line without parsing its payload.
///
/// A line is `{"data":…,"event":"…","prev":"…","run":"…","seq":N,"ts":N,"v":1}`: canonical order puts
/// the payload first, so the fixed fields are read from the end and a million lines stay cheap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The position in the chain, from 1.
    pub seq: u64,
    /// The hash of the line before.
    pub prev: Digest,
    /// Milliseconds since the epoch.
    pub ts: i64,
    /// The run it belongs to, or `-`.
    pub run: &'a str,
    /// The name of the event.
    pub event: &'a str,
    /// The payload's bytes, unparsed.
    pub data: &'a [u8],
}

/// Says why a line is not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// The line does not end in the fields of a record of this version.
    #[error("not a record of version 1")]
    Shape,
    /// The line is longer than any record.
    #[error("longer than any record")]
    TooLong,
}

impl<'a> Envelope<'a> {
    /// Reads the fixed fields of `line`, which has no line feed.
    ///
    /// # Errors
    /// [`BadLine`] when the fixed fields are not there in canonical form.
    /// # Security
    /// Does not check that the payload is canonical JSON: the hash of the next record does, for
    /// every line but the last.
    pub fn read(line: &'a [u8]) -> Result<Self, BadLine> {
        if line.len() > MAX_LINE_BYTES {
            return Err(BadLine::TooLong);
        }
        Self::from_the_end(line).ok_or(BadLine::Shape)
    }

    fn from_the_end(line: &'a [u8]) -> Option<Self> {
        let rest = line.strip_suffix(b",\"v\":1}")?;
        let (rest, ts) = number(rest, b",\"ts\"")?;
        let (rest, seq) = number(rest, b",\"seq\"")?;
        let (rest, run) = text(rest, b",\"run\":")?;
        let (rest, prev) = text(rest, b",\"prev\":")?;
        let (rest, event) = text(rest, b",\"event\":")?;
        let data = rest.strip_prefix(b"{\"data\":")?;
        Some(Self { seq: seq.parse().ok()?, prev: Digest::parse(prev)?, ts: ts.parse().ok()?, run, event, data })
    }
}

/// Splits `…<key>:<digits>` into what stands before the key and the digits.
fn number<'a>(rest: &'a [u8], key: &[u8]) -> Option<(&'a [u8], &'a str)> {
    let (head, digits) = split_last(rest, b':')?;
    let digits = std::str::from_utf8(digits).ok()?;
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    let plain = unsigned.bytes().all(|b| b.is_ascii_digit());
    let minimal = unsigned == "0" && digits == "0" || !unsigned.starts_with('0');
    (plain && minimal).then_some((head.strip_suffix(key)?, digits))
}

/// Splits `…<key>"<text>"` into what stands before the key and the text.
fn text<'a>(rest: &'a [u8], key: &[u8]) -> Option<(&'a [u8], &'a str)> {
    let (head, value) = split_last(rest.strip_suffix(b"\"")?, b'"')?;
    let plain = value.iter().all(|b| matches!(b, b'!'..=b'~') && !matches!(b, b'"' | b'\\'));
    let value = std::str::from_utf8(value).ok().filter(|_| plain)?;
    Some((head.strip_suffix(key)?, value))
}

fn split_last(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let found = bytes.iter().rposition(|b| *b == at)?;
    let (head, tail) = bytes.split_at_checked(found)?;
    Some((head, tail.split_first()?.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seq: &str, ts: &str) -> String {
        format!(
            r#"{{"data":{{"a":",\"seq\":9"}},"event":"halt","prev":"{}","run":"r-1","seq":{seq},"ts":{ts},"v":1}}"#,
            Digest::GENESIS
        )
    }

    #[test]
    fn the_fixed_fields_are_read_from_the_end_whatever_the_payload_says() {
        let line = line("3", "-5");
        let read = Envelope::read(line.as_bytes()).unwrap();
        assert_eq!((read.seq, read.ts, read.run, read.event), (3, -5, "r-1", "halt"));
        assert_eq!(read.data, br#"{"a":",\"seq\":9"}"#);
    }

    #[test]
    fn numbers_that_are_not_canonical_are_no_record() {
        for (seq, ts) in [("03", "1"), ("3", "01"), ("+3", "1"), ("3", ""), ("", "1"), ("3", "-0")] {
            assert_eq!(Envelope::read(line(seq, ts).as_bytes()), Err(BadLine::Shape), "{seq} {ts}");
        }
    }

    #[test]
    fn every_truncation_of_a_line_is_no_record() {
        let whole = line("3", "1");
        for cut in 0..whole.len() {
            assert!(Envelope::read(&whole.as_bytes()[..cut]).is_err(), "{cut}");
        }
    }
}
