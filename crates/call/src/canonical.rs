//! The digest of a call: what approvals, loops and records know it by.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::call::Malformed;

/// SHA-256 of the canonical JSON (RFC 8785) of tool, arguments and working directory. The canonical form writes every
/// number as the nearest double; integers that a double does not hold are added in full.
pub(crate) fn digest(name: &str, args: &Value, cwd: &str) -> Result<[u8; 32], Malformed> {
    let mut exact = Vec::new();
    exact_integers(args, &mut exact);
    let mut whole = json!({ "tool": name, "args": args, "cwd": cwd });
    if let (false, Value::Object(fields)) = (exact.is_empty(), &mut whole) {
        fields.insert("exact".to_owned(), json!(exact));
    }
    let canonical = serde_json_canonicalizer::to_vec(&whole).map_err(|e| Malformed::Canonical(e.to_string()))?;
    Ok(Sha256::digest(&canonical).into())
}

/// Integers beyond 2^53, in the order of the canonical form, which writes them as the nearest double.
fn exact_integers(value: &Value, out: &mut Vec<String>) {
    const EXACT: u64 = 1 << 53;
    match value {
        Value::Number(number) => {
            let size = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
            out.extend(size.filter(|size| *size > EXACT).map(|_| number.to_string()));
        }
        Value::Array(items) => items.iter().for_each(|item| exact_integers(item, out)),
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_unstable_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
            fields.into_iter().for_each(|(_, value)| exact_integers(value, out));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
