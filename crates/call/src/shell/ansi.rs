//! ANSI-C quoting: the escapes of `$'…'`, and of `echo -e` and `printf`.

/// Decodes the inside of `$'…'`.
///
/// An escape that would be no character (a NUL, a lone surrogate) ends the text, as bash does for NUL.
pub(super) fn decode(inside: &str) -> String {
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside.chars();
    while let Some(mark) = rest.next() {
        if mark != '\\' {
            push(&mut bytes, mark);
        } else if !escape(&mut bytes, &mut rest) {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn push(bytes: &mut Vec<u8>, mark: char) {
    bytes.extend_from_slice(mark.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Decodes one escape after its backslash; false at a NUL.
fn escape(bytes: &mut Vec<u8>, rest: &mut std::str::Chars<'_>) -> bool {
    let Some(mark) = rest.next() else {
        bytes.push(b'\\');
        return true;
    };
    match mark {
        'a' => bytes.push(7),
        'b' => bytes.push(8),
        'e' | 'E' => bytes.push(27),
        'f' => bytes.push(12),
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        't' => bytes.push(b'\t'),
        'v' => bytes.push(11),
        '\\' | '\'' | '"' | '?' => push(bytes, mark),
        'x' => return byte(bytes, number(rest, 16, 2), "\\x"),
        '0'..='7' => {
            let first = mark.to_digit(8).unwrap_or(0);
            let more = number(rest, 8, 2);
            let value = more.map_or(first, |(value, digits)| first * 8_u32.pow(digits) + value);
            return byte(bytes, Some((value, 1)), "");
        }
        'u' => return scalar(bytes, number(rest, 16, 4), "\\u"),
        'U' => return scalar(bytes, number(rest, 16, 8), "\\U"),
        'c' => {
            let control = rest.next().map_or(0, |mark| (mark as u32) & 0x1f);
            return byte(bytes, Some((control, 1)), "");
        }
        other => {
            bytes.push(b'\\');
            push(bytes, other);
        }
    }
    true
}

/// Reads up to `most` digits; the value and how many there were.
fn number(rest: &mut std::str::Chars<'_>, radix: u32, most: u32) -> Option<(u32, u32)> {
    let mut value = 0_u32;
    let mut digits = 0;
    while digits < most
        && let Some(digit) = rest.clone().next().and_then(|mark| mark.to_digit(radix))
    {
        value = value.wrapping_mul(radix).wrapping_add(digit);
        digits += 1;
        rest.next();
    }
    (digits > 0).then_some((value, digits))
}

fn byte(bytes: &mut Vec<u8>, value: Option<(u32, u32)>, literal: &str) -> bool {
    match value {
        Some((value, _)) if value & 0xff == 0 => false,
        Some((value, _)) => {
            bytes.extend(u8::try_from(value & 0xff));
            true
        }
        None => {
            bytes.extend_from_slice(literal.as_bytes());
            true
        }
    }
}

fn scalar(bytes: &mut Vec<u8>, value: Option<(u32, u32)>, literal: &str) -> bool {
    match value {
        Some((0, _)) => false,
        Some((value, _)) => {
            push(bytes, char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER));
            true
        }
        None => {
            bytes.extend_from_slice(literal.as_bytes());
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn escapes_spell_their_characters() {
        assert_eq!(decode(r"\x72\155 -rf \u002f"), "rm -rf /");
        assert_eq!(decode(r"a\'b\nc\q"), "a'b\nc\\q");
        assert_eq!(decode(r"a\0b"), "a");
        assert_eq!(decode("\\"), "\\");
    }
}
