//! Strict JSON: what RFC 8259 leaves open is refused here.
//!
//! Duplicate keys let two readers see two different calls; lone surrogates and over-long input let
//! a recorded call differ from the performed one. All three are errors.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Largest argument text that is read, in bytes. Escapes can make 1 MB of content six times longer.
pub const MAX_INPUT: usize = 8 * 1024 * 1024;
/// Most values in one text. An empty list takes three bytes to write and a hundred to hold.
pub const MAX_VALUES: usize = 100_000;
/// Longest single text in the arguments of a tool without a schema, in bytes; schemas have bounds of their own.
pub const MAX_TEXT: usize = 1024 * 1024;

/// Why a text is not strict JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// Longer than [`MAX_INPUT`].
    #[error("the arguments are {0} bytes long, more than the {MAX_INPUT} that are read; send less")]
    TooLong(usize),
    /// Not JSON, or a duplicate key; the message says where.
    #[error("the arguments are not strict JSON: {0}")]
    Syntax(String),
    /// A text in it is longer than [`MAX_TEXT`].
    #[error("a text in the arguments is {0} bytes long, more than the {MAX_TEXT} that are read; send it in parts")]
    LongText(usize),
}

/// Reads `text` as one strict JSON value.
///
/// # Errors
/// [`JsonError::Syntax`] on invalid JSON, invalid UTF-8, a lone surrogate, a duplicate key, or
/// nesting deeper than 128, or more than [`MAX_VALUES`] values; [`JsonError::TooLong`] over [`MAX_INPUT`] bytes.
pub fn parse(text: &[u8]) -> Result<Value, JsonError> {
    if text.len() > MAX_INPUT {
        return Err(JsonError::TooLong(text.len()));
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    let left = Cell::new(MAX_VALUES);
    let value = Strict { left: &left }.deserialize(&mut reader).map_err(|e| JsonError::Syntax(e.to_string()))?;
    reader.end().map_err(|e| JsonError::Syntax(e.to_string()))?;
    Ok(value)
}

/// Refuses a value that holds a text longer than [`MAX_TEXT`], before anything reads that text again.
pub(crate) fn short_texts(value: &Value) -> Result<(), JsonError> {
    let short = |text: &str| if text.len() > MAX_TEXT { Err(JsonError::LongText(text.len())) } else { Ok(()) };
    match value {
        Value::String(text) => short(text),
        Value::Array(items) => items.iter().try_for_each(short_texts),
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| short(name).and(short_texts(value))),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Builds a value; refuses a key that is already there, and more values than are left.
#[derive(Clone, Copy)]
struct Strict<'a> {
    left: &'a Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.ok_or_else(|| D::Error::custom(format!("more than {MAX_VALUES} values; send fewer")))?);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let value = access.next_value_seed(self)?;
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{}` is given twice", key.escape_debug())));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_key_is_refused_at_any_depth() {
        for text in [r#"{"a":1,"a":2}"#, r#"{"x":[{"b":1,"b":1}]}"#, "{\"a\":1,\"\\u0061\":2}"] {
            let error = parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("given twice"), "{error}");
        }
    }

    #[test]
    fn a_lone_surrogate_is_refused() {
        assert!(parse(br#"{"a":"\ud800"}"#).is_err());
        assert!(parse(br#"{"a":"\ud83d\ude00"}"#).is_ok());
    }

    #[test]
    fn more_values_than_are_held_are_refused() {
        let lists = |count: usize| format!("[{}[]]", "[],".repeat(count - 2));
        assert!(parse(lists(MAX_VALUES).as_bytes()).is_ok());
        let error = parse(lists(MAX_VALUES + 1).as_bytes()).unwrap_err().to_string();
        assert!(error.contains("more than 100000 values"), "{error}");
    }

    #[test]
    fn deep_nesting_and_trailing_text_are_errors() {
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
        assert!(parse(b"{} {}").is_err());
        assert!(parse(&vec![b' '; MAX_INPUT + 1]).is_err());
        assert!(parse(b"\xff").is_err());
    }
}
