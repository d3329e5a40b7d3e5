//! What a program prints, where that follows from its words and its input alone.

use super::feed::{Decoded, Feed};
use super::ir::Word;
use super::lex::Origin;

/// What `name` prints when run with `words` on `input`.
pub(super) fn output(name: &str, words: &[Word], input: &Feed) -> Feed {
    let texts: Option<Vec<&str>> = words.iter().skip(1).map(Word::literal).collect();
    let marked = |feed: Feed| feed.mark(input.decoded());
    match (name, texts) {
        ("echo", Some(texts)) => single(words, &echo(&texts)),
        ("printf", Some(texts)) => printf(&texts).map_or_else(|| Feed::stream(name), |text| single(words, &text)),
        ("cat" | "tee", Some(texts))
            if texts.iter().all(|text| *text == "-" || (name == "tee" && !text.starts_with('-'))) =>
        {
            input.clone()
        }
        ("true" | "false" | ":" | "cd" | "mkdir" | "touch" | "rm" | "cp" | "mv" | "sleep" | "exit" | "return", _) => {
            Feed::Outer
        }
        ("grep" | "rg" | "ag" | "git", Some(texts)) if lists_names(name, &texts) => {
            Feed::names(name, vec![listed(words)])
        }
        ("base64" | "base32" | "xxd" | "openssl" | "uudecode" | "basenc", texts) if decodes(name, texts.as_deref()) => {
            decode(name, input).mark(Decoded::Yes)
        }
        ("gunzip" | "zcat" | "bunzip2" | "bzcat" | "unxz" | "xzcat" | "zstdcat" | "unzstd" | "gpg" | "rot13", _) => {
            Feed::stream(name).mark(Decoded::Yes)
        }
        ("gzip" | "xz" | "bzip2" | "zstd", Some(texts))
            if texts.iter().any(|text| text.starts_with('-') && text.contains('d')) =>
        {
            Feed::stream(name).mark(Decoded::Yes)
        }
        ("rev", _) => map(input, |text| Some(text.split_inclusive('\n').map(reverse).collect())).mark(Decoded::Yes),
        ("tr", Some(texts)) => tr(&texts, input),
        (
            "sort" | "head" | "tail" | "uniq" | "grep" | "sed" | "awk" | "cut" | "tac" | "fold" | "nl" | "jq"
            | "column",
            _,
        ) => filtered(name, input),
        _ => marked(Feed::stream(name)),
    }
}

/// `grep -l`, `git ls-files`: names of files beneath a directory.
fn lists_names(name: &str, texts: &[&str]) -> bool {
    if name == "git" {
        return texts.first() == Some(&"ls-files");
    }
    let short = |text: &&str| text.starts_with('-') && !text.starts_with("--") && text.contains(['l', 'L']);
    texts
        .iter()
        .any(|text| short(text) || matches!(*text, "--files" | "--files-with-matches" | "--files-without-match"))
}

/// The directory that is searched: the last operand if there are two, else here.
fn listed(words: &[Word]) -> Word {
    let operands: Vec<&Word> = words.iter().skip(1).filter(|word| !word.lead().starts_with('-')).collect();
    match operands.as_slice() {
        [_, .., last] if words.first().is_none_or(|word| word.literal() != Some("git")) => (*last).clone(),
        _ => Word::literal_at(
            ".",
            words.first().map_or_else(|| crate::span::Span::new("/command", 0, 0), |word| word.span.clone()),
        ),
    }
}

/// Text that a command prints, placed at its single word where that is verbatim.
fn single(words: &[Word], text: &str) -> Feed {
    let place = words.get(1).map(|word| (word.verbatim, word.span.start as usize, word.span.end as usize));
    let origin = match place {
        Some((Some(at), ..))
            if words.len() == 2 && words.get(1).and_then(Word::literal).is_some_and(|word| text.starts_with(word)) =>
        {
            Origin::At(at as usize)
        }
        Some((_, start, end)) => Origin::Range(start, end),
        None => Origin::Range(0, 0),
    };
    // Only the word itself stands in the input; what is printed after it does not.
    match origin {
        Origin::At(at) => Feed::text(text.to_owned(), Origin::At(at)),
        range @ Origin::Range(..) => Feed::text(text.to_owned(), range),
    }
}

fn echo(texts: &[&str]) -> String {
    let flags = texts.iter().take_while(|text| is_echo_flag(text)).count();
    let given: String = texts.iter().take(flags).flat_map(|text| text.chars()).collect();
    let joined = texts.get(flags..).unwrap_or(&[]).join(" ");
    let text = if given.contains('e') { super::ansi::decode(&joined) } else { joined };
    if given.contains('n') { text } else { text + "\n" }
}

fn is_echo_flag(text: &str) -> bool {
    text.len() > 1
        && text.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|byte| matches!(byte, b'n' | b'e' | b'E')))
}

/// `printf` with `%s` and `%b` only; other conversions are not followed.
fn printf(texts: &[&str]) -> Option<String> {
    let texts = if texts.first() == Some(&"--") { texts.get(1..)? } else { texts };
    let (format, arguments) = texts.split_first()?;
    if format.starts_with('-') {
        return None;
    }
    let format = super::ansi::decode(format);
    let mut arguments = arguments.iter();
    let mut text = String::new();
    loop {
        let before = arguments.len();
        let mut rest = format.as_str();
        while let Some((plain, after)) = rest.split_once('%') {
            text.push_str(plain);
            let mut marks = after.chars();
            match marks.next()? {
                '%' => text.push('%'),
                's' => text.push_str(arguments.next().unwrap_or(&"")),
                'b' => text.push_str(&super::ansi::decode(arguments.next().unwrap_or(&""))),
                _ => return None,
            }
            rest = marks.as_str();
        }
        text.push_str(rest);
        if arguments.len() == 0 || arguments.len() == before || text.len() > 65_536 {
            return Some(text);
        }
    }
}

fn decodes(name: &str, texts: Option<&[&str]>) -> bool {
    let Some(texts) = texts else { return true };
    let flag = |short: char, long: &str| {
        texts.iter().any(|text| {
            text.starts_with(long) || (text.starts_with('-') && !text.starts_with("--") && text.contains(short))
        })
    };
    match name {
        "xxd" => flag('r', "-revert"),
        "uudecode" => true,
        _ => flag('d', "--d") || flag('D', "--D"),
    }
}

fn decode(name: &str, input: &Feed) -> Feed {
    match name {
        "base64" => map(input, base64),
        "xxd" => map(input, hex),
        _ => Feed::stream(name),
    }
}

fn map(input: &Feed, change: impl FnOnce(&str) -> Option<String>) -> Feed {
    match input {
        Feed::Text { text, origin, decoded } => {
            let range = match *origin {
                Origin::At(at) => Origin::Range(at, at + text.len()),
                range @ Origin::Range(..) => range,
            };
            change(text).map_or_else(|| Feed::stream("decoded bytes"), |text| Feed::text(text, range)).mark(*decoded)
        }
        Feed::Stream { from, decoded, .. } => Feed::stream(from).mark(*decoded),
        Feed::Outer => Feed::stream("standard input"),
    }
}

/// Output that is part of the input's lines; of names, only the commands that keep lines whole.
fn filtered(name: &str, input: &Feed) -> Feed {
    match input {
        Feed::Stream { .. } if matches!(name, "sort" | "head" | "tail" | "uniq" | "grep" | "tac") => input.clone(),
        Feed::Stream { from, decoded, .. } => Feed::stream(from).mark(*decoded),
        Feed::Text { decoded, .. } => Feed::stream(name).mark(*decoded),
        Feed::Outer => Feed::stream(name),
    }
}

fn reverse(line: &str) -> String {
    let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
    body.chars().rev().collect::<String>() + end
}

fn tr(texts: &[&str], input: &Feed) -> Feed {
    let [from, to] = texts else { return filtered("tr", input).mark(Decoded::Yes) };
    let (Some(from), Some(to)) = (set(from), set(to)) else { return filtered("tr", input).mark(Decoded::Yes) };
    let changed = map(input, |text| {
        let swap = |mark: char| {
            let at = from.iter().rposition(|known| *known == mark);
            at.and_then(|at| to.get(at).or(to.last()).copied()).unwrap_or(mark)
        };
        Some(text.chars().map(swap).collect())
    });
    changed.mark(Decoded::Yes)
}

/// A `tr` set of letters and ranges; classes are not followed.
fn set(text: &str) -> Option<Vec<char>> {
    let text = super::ansi::decode(text);
    let marks: Vec<char> = text.chars().collect();
    if text.contains("[:") || text.contains("[=") || text.starts_with('-') && marks.len() > 1 {
        return None;
    }
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(mark) = marks.get(at) {
        match (marks.get(at + 1), marks.get(at + 2)) {
            (Some('-'), Some(last)) if mark <= last => {
                all.extend(*mark..=*last);
                at += 3;
            }
            _ => {
                all.push(*mark);
                at += 1;
            }
        }
    }
    Some(all)
}

/// Decodes base64 that is text in the end.
fn base64(text: &str) -> Option<String> {
    let mut bits = 0_u32;
    let mut count = 0;
    let mut bytes = Vec::new();
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.extend(u8::try_from((bits >> count) & 0xff));
            bits &= (1 << count) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}

fn hex(text: &str) -> Option<String> {
    let digits: Vec<u32> =
        text.chars().filter(|mark| !mark.is_whitespace()).map(|mark| mark.to_digit(16)).collect::<Option<_>>()?;
    let bytes =
        digits.chunks_exact(2).map(|pair| u8::try_from(pair.iter().fold(0, |sum, digit| sum * 16 + digit)).ok());
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoders_decode() {
        assert_eq!(base64("cm0gLXJmIC8K").as_deref(), Some("rm -rf /\n"));
        assert_eq!(hex("726d202d7266").as_deref(), Some("rm -rf"));
        assert_eq!(base64("~"), None);
    }

    #[test]
    fn printf_follows_plain_conversions() {
        assert_eq!(printf(&["%s-%s\\n", "a", "b"]).as_deref(), Some("a-b\n"));
        assert_eq!(printf(&["%s ", "a", "b"]).as_deref(), Some("a b "));
        assert_eq!(printf(&["%d", "1"]), None);
        assert_eq!(printf(&["plain", "unused"]).as_deref(), Some("plain"));
    }
}
