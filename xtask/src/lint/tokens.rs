//! A small reader of Rust's words: enough to match braces, with comments and literals skipped.

/// What a piece of source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word<'a> {
    /// A name or keyword.
    Name(&'a str),
    /// One punctuation character.
    Mark(char),
    /// A string, character or number; its text does not matter.
    Literal,
}

/// A word and the line it begins on, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) word: Word<'a>,
    pub(crate) line: usize,
}

/// Splits source text into words.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut reader = Reader { rest: text, line: 1 };
    let mut found = Vec::new();
    while let Some(token) = reader.next_token() {
        found.push(token);
    }
    found
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Reader<'a> {
    fn next_token(&mut self) -> Option<Token<'a>> {
        self.skip_blank();
        let first = self.rest.chars().next()?;
        let line = self.line;
        let word = self.literal().or_else(|| self.name()).unwrap_or_else(|| {
            self.take(first.len_utf8());
            Word::Mark(first)
        });
        Some(Token { word, line })
    }

    /// Moves on by `bytes`, counting lines; returns what was passed.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (passed, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.line += passed.matches('\n').count();
        self.rest = rest;
        passed
    }

    fn skip_blank(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.take(blank);
            if self.rest.starts_with("//") {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                self.take(block_comment(self.rest));
            } else {
                return;
            }
        }
    }

    fn literal(&mut self) -> Option<Word<'a>> {
        let length = raw_string(self.rest)
            .or_else(|| quoted(self.rest))
            .or_else(|| character(self.rest))
            .or_else(|| number(self.rest))?;
        self.take(length);
        Some(Word::Literal)
    }

    fn name(&mut self) -> Option<Word<'a>> {
        let length = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        (length > 0).then(|| Word::Name(self.take(length)))
    }
}

/// Length of a block comment, which may nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Length of `r"…"`, `r#"…"#`, and the same with `b` or `c` before.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix("br").or_else(|| text.strip_prefix("cr")).or_else(|| text.strip_prefix('r'))?;
    let body = after.trim_start_matches('#');
    let hashes = after.len() - body.len();
    let inner = body.strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = inner.find(&close).map_or(inner.len(), |at| at + close.len());
    Some(text.len() - inner.len() + end)
}

/// Length of `"…"`, and the same with `b` or `c` before.
fn quoted(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('"').or_else(|| text.strip_prefix("b\"")).or_else(|| text.strip_prefix("c\""))?;
    Some(text.len() - inner.len() + closing(inner, '"'))
}

/// Length of `'x'`; `None` for a lifetime.
fn character(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'').or_else(|| text.strip_prefix("b'"))?;
    let mut chars = inner.chars();
    let is_character = chars.next() == Some('\\') || chars.next() == Some('\'');
    is_character.then(|| text.len() - inner.len() + closing(inner, '\''))
}

/// Length of a number, suffix included; the dot of a fraction is left to the marks.
fn number(text: &str) -> Option<usize> {
    text.starts_with(|c: char| c.is_ascii_digit())
        .then(|| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len()))
}

/// Bytes up to and with the closing quote, escapes skipped.
fn closing(inner: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in inner.char_indices() {
        if !escaped && c == quote {
            return at + 1;
        }
        escaped = !escaped && c == '\\';
    }
    inner.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        let word = |token: &Token<'_>| match token.word {
            Word::Name(name) => name.to_owned(),
            Word::Mark(mark) => mark.to_string(),
            Word::Literal => "…".to_owned(),
        };
        tokens(text).iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn braces_in_strings_are_no_braces() {
        assert_eq!(words(r#"f("{ \" {", '{', '\'')"#), "f ( … , … , … )");
        assert_eq!(words("r#\"{ \" {\"# b\"{\" br\"{\" c\"{\""), "… … … …");
    }

    #[test]
    fn braces_in_comments_are_no_braces() {
        assert_eq!(words("a // {\nb /* { /* } */ { */ c"), "a b c");
    }

    #[test]
    fn a_lifetime_is_no_character() {
        assert_eq!(words("fn f<'a>(x: &'a str) -> '{'"), "fn f < ' a > ( x : & ' a str ) - > …");
    }

    #[test]
    fn lines_are_counted_through_literals() {
        let found = tokens("a \"\n\n\" b /*\n*/ c");
        assert_eq!(found.iter().map(|token| token.line).collect::<Vec<_>>(), [1, 1, 3, 4]);
    }

    #[test]
    fn an_open_string_ends_with_the_text() {
        assert_eq!(words("a \"b"), "a …");
        assert_eq!(words("a /* b"), "a");
    }

    #[test]
    fn a_name_may_begin_with_r_or_b() {
        assert_eq!(words("result br b r#fn"), "result br b r # fn");
    }
}
