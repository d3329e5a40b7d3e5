//! The spellings in which a known secret is looked for.

use std::collections::BTreeSet;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Lists the plain, JSON-, HTML- and percent-escaped, hexadecimal and Base64 spellings of `secret`.
pub(super) fn of(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    let mut all = BTreeSet::from([secret.to_owned(), html(secret)]);
    for escaped in [json(secret), json_ascii(secret)] {
        all.insert(escaped.replace('/', "\\/"));
        all.insert(escaped.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"));
        all.insert(escaped);
    }
    for upper in [Case::Upper, Case::Lower] {
        for kept in KEPT {
            all.insert(percent(bytes, upper, kept, "%20"));
            all.insert(percent(bytes, upper, kept, "+"));
        }
        all.insert(bytes.iter().map(|b| hex(*b, upper)).collect());
    }
    // Inside a longer Base64 text a secret starts at one of three offsets.
    for alphabet in [STANDARD, URL_SAFE] {
        all.extend((0..3).map(|offset| base64_core(bytes, offset, alphabet)));
    }
    all.into_iter().collect()
}

/// What encoders leave as it is besides letters, digits and `-._`: RFC 3986, `encodeURIComponent`, forms,
/// `encodeURI`.
const KEPT: &[&[u8]] = &[b"~", b"~!*'()", b"*", b"~!*'();/?:@&=+$,#"];

#[derive(Clone, Copy)]
enum Case {
    Upper,
    Lower,
}

fn hex(byte: u8, case: Case) -> String {
    match case {
        Case::Upper => format!("{byte:02X}"),
        Case::Lower => format!("{byte:02x}"),
    }
}

fn json(secret: &str) -> String {
    let quoted = serde_json::Value::from(secret).to_string();
    quoted.strip_prefix('"').and_then(|s| s.strip_suffix('"')).unwrap_or(&quoted).to_owned()
}

/// The same with everything beyond ASCII as UTF-16 escapes.
fn json_ascii(secret: &str) -> String {
    let mut units = [0; 2];
    let mut out = String::new();
    for c in json(secret).chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

fn html(secret: &str) -> String {
    let escaped = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('"', "&quot;").replace('\'', "&#39;")
}

fn percent(bytes: &[u8], case: Case, kept: &[u8], space: &str) -> String {
    let one = |b: &u8| match b {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(*b).to_string(),
        b' ' => space.to_owned(),
        other if kept.contains(other) => char::from(*other).to_string(),
        other => format!("%{}", hex(*other, case)),
    };
    bytes.iter().map(one).collect()
}

/// Encodes `bytes` as they appear after `offset` other bytes, without the digits that depend on
/// what stands before and after.
fn base64_core(bytes: &[u8], offset: usize, alphabet: &[u8; 64]) -> String {
    let padded: Vec<u8> = std::iter::repeat_n(0, offset).chain(bytes.iter().copied()).collect();
    let digits = padded.len() * 8 / 6;
    let first = (offset * 8).div_ceil(6);
    (first..digits).filter_map(|i| alphabet.get(sextet(&padded, i)).map(|b| char::from(*b))).collect()
}

fn sextet(bytes: &[u8], index: usize) -> usize {
    let bit = index * 6;
    let at = |i: usize| usize::from(bytes.get(i).copied().unwrap_or(0));
    let pair = at(bit / 8) << 8 | at(bit / 8 + 1);
    pair >> (10 - bit % 8) & 0x3f
}
