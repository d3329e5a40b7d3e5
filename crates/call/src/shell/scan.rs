//! An own reading of shell text, byte by byte and aware of quotes.
//!
//! It answers two questions without the parser: where a construct ends (so that words can be cut),
//! and how many commands a text starts (so that a command which the parser did not report is
//! noticed). It never recurses deeper than [`MAX_DEPTH`] and never looks at a byte twice on one level.

use super::skip::{Cursor, Heredoc};

/// Deepest nesting of quotes, substitutions and groups that is read.
pub(super) const MAX_DEPTH: u32 = 24;
/// Most commands, separators, substitutions and braces together.
pub(super) const MAX_PIECES: u32 = 2048;
/// Words on one level after which each counts as a piece.
const MAX_WORDS: u32 = 2048;
/// Most here-documents: the parser takes longer than in proportion for many.
const MAX_HEREDOCS: u32 = 128;
/// Most steps that opening braces in quotes may cost: their number times the length of the text.
pub(super) const MAX_BRACE_STEPS: usize = 16 << 20;
/// Longest arithmetic that is recognised; longer text is read as commands.
pub(super) const MAX_ARITHMETIC: usize = 1024;

/// What the scanner found in one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scan {
    /// Commands started on this level: groups included, substitutions not.
    pub(super) commands: u32,
    /// Deepest nesting seen; above [`MAX_DEPTH`] the rest was not read.
    pub(super) too_deep: bool,
}

/// Counts the commands of a whole script.
pub(super) fn scan(text: &str) -> Scan {
    let mut cursor = Cursor::new(text, 0);
    cursor.script(End::Text);
    Scan { commands: cursor.commands, too_deep: cursor.too_deep }
}

/// Where a script that is being scanned ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Text,
    Paren,
}

/// Where the next word stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// At the start of a command.
    Start,
    /// Among the words of a command.
    Words,
    /// After `for`, `select` or `function`: names until a keyword or separator.
    Header,
    /// After `case`: its subject, until `in`.
    Case,
    /// Where `case` patterns are expected.
    Pattern,
}

impl<'t> Cursor<'t> {
    /// Reads commands up to `end`, counting those that start.
    pub(super) fn script(&mut self, end: End) {
        let mut at = At::Start;
        let mut cases = 0_u32;
        let mut open = 0_u32;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.peek_at(1) == Some(b'\n') => self.at += 2,
                b'#' => self.comment(),
                b'\n' => at = self.line_end(at),
                b'(' => at = self.group(at, &mut open),
                b')' => {
                    self.at += 1;
                    if at == At::Pattern {
                        at = At::Start;
                    } else if open > 0 {
                        open -= 1;
                        at = if self.empty_parens() { At::Start } else { At::Words };
                    } else if end == End::Paren {
                        return;
                    }
                }
                b';' if matches!(self.peek_at(1), Some(b';' | b'&')) && cases > 0 => {
                    self.at += if self.peek_at(2) == Some(b'&') { 3 } else { 2 };
                    at = At::Pattern;
                }
                b'&' if self.peek_at(1) == Some(b'>') => self.at += 1,
                b'|' if at == At::Pattern => self.at += 1,
                b';' | b'&' | b'|' => {
                    self.count(1);
                    self.at += 1;
                    at = after_separator(at);
                }
                b'<' | b'>' => self.redirect(),
                _ => at = self.item(at, &mut cases),
            }
        }
    }

    fn line_end(&mut self, at: At) -> At {
        self.count(1);
        self.at += 1;
        self.bodies();
        after_separator(at)
    }

    /// Passes a `(`: an arithmetic command, a subshell, or the mark of a pattern or function.
    fn group(&mut self, at: At, open: &mut u32) -> At {
        if at == At::Pattern {
            self.at += 1;
            return At::Pattern;
        }
        if matches!(at, At::Start | At::Header)
            && let Some(end) = self.arithmetic_end(self.at)
        {
            self.at = end;
            return if at == At::Header { At::Header } else { At::Words };
        }
        self.count(1);
        self.at += 1;
        *open += 1;
        if *open > MAX_DEPTH {
            self.too_deep = true;
            self.at = self.text.len();
        }
        At::Start
    }

    /// Reads one word and says what it makes of the position.
    fn item(&mut self, at: At, cases: &mut u32) -> At {
        let start = self.at;
        self.words += 1;
        self.count(u32::from(self.words > MAX_WORDS));
        self.word();
        if self.at == start {
            self.at += 1;
        }
        let word = self.since(start);
        match at {
            At::Start => self.first(word, cases),
            At::Words => At::Words,
            At::Case if word == "in" => At::Pattern,
            At::Case => At::Case,
            At::Header if matches!(word, "do" | "{") => At::Start,
            At::Header => At::Header,
            At::Pattern if word == "esac" => {
                *cases = cases.saturating_sub(1);
                At::Words
            }
            At::Pattern => At::Pattern,
        }
    }

    fn first(&mut self, word: &str, cases: &mut u32) -> At {
        match word {
            "if" | "then" | "else" | "elif" | "while" | "until" | "do" | "{" | "!" | "time" | "coproc" => At::Start,
            "fi" | "done" | "}" => At::Words,
            "esac" => {
                *cases = cases.saturating_sub(1);
                At::Words
            }
            "for" | "select" | "function" => At::Header,
            "case" => {
                *cases += 1;
                At::Case
            }
            "[[" => {
                self.conditional();
                At::Words
            }
            _ if is_assignment(word) => At::Start,
            _ if self.names_file_descriptor(word) => At::Start,
            _ => {
                self.commands += 1;
                At::Words
            }
        }
    }

    /// `2>file`: the digits belong to the redirection.
    fn names_file_descriptor(&self, word: &str) -> bool {
        matches!(self.peek(), Some(b'<' | b'>'))
            && (word.bytes().all(|byte| byte.is_ascii_digit()) || (word.starts_with('{') && word.ends_with('}')))
    }

    /// Skips `[[ … ]]`, whose `<`, `(` and `&&` are not the shell's.
    fn conditional(&mut self) {
        while let Some(byte) = self.peek() {
            let start = self.at;
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b'(' | b')' | b'<' | b'>' | b'&' | b'|' | b';' => self.at += 1,
                _ => self.word(),
            }
            if self.since(start) == "]]" {
                return;
            }
            if self.at == start {
                self.at += 1;
            }
        }
    }

    /// Whether the `)` just passed closed an empty pair, as in `name()`.
    fn empty_parens(&self) -> bool {
        let before = self.text.get(..self.at.saturating_sub(1)).unwrap_or("");
        before.trim_end_matches([' ', '\t']).ends_with('(')
    }

    fn comment(&mut self) {
        let before = self.at.checked_sub(1).and_then(|at| self.text.as_bytes().get(at));
        if matches!(before, None | Some(b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')')) {
            self.at = self.rest().find('\n').map_or(self.text.len(), |found| self.at + found);
        } else {
            self.at += 1;
        }
    }

    /// Skips a redirection operator with its target, and notes a here-document.
    fn redirect(&mut self) {
        let start = self.at;
        while matches!(self.peek(), Some(b'<' | b'>' | b'&' | b'|' | b'-')) && self.at < start + 3 {
            if self.peek() == Some(b'-') && self.since(start) != "<<" {
                break;
            }
            if matches!(self.peek(), Some(b'<' | b'>')) && self.peek_at(1) == Some(b'(') && self.at > start {
                break;
            }
            self.at += 1;
        }
        let operator = self.since(start);
        if matches!(operator, "<" | ">") && self.peek() == Some(b'(') {
            self.at += 1;
            self.parens();
            return;
        }
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let target = self.at;
        self.word();
        if matches!(operator, "<<" | "<<-") {
            let delimiter = unquote(self.since(target));
            self.count(MAX_PIECES / MAX_HEREDOCS);
            self.heredocs.push(Heredoc { delimiter, strip_tabs: operator == "<<-" });
        }
    }

    /// Skips the bodies of the here-documents that were begun on the line just ended.
    fn bodies(&mut self) {
        for heredoc in std::mem::take(&mut self.heredocs) {
            while self.at < self.text.len() {
                let line = self.rest().split('\n').next().unwrap_or("");
                self.at = (self.at + line.len() + 1).min(self.text.len());
                let line = if heredoc.strip_tabs { line.trim_start_matches('\t') } else { line };
                if line == heredoc.delimiter {
                    break;
                }
            }
        }
    }
}

const fn after_separator(at: At) -> At {
    match at {
        At::Start | At::Words | At::Header => At::Start,
        At::Case => At::Case,
        At::Pattern => At::Pattern,
    }
}

/// Whether `word` is `name=…`, `name+=…` or `name[…]=…`.
pub(super) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    is_name(name)
}

/// Whether `text` is a variable name.
pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte == b'_' || byte.is_ascii_alphabetic())
        && bytes.all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// A here-document delimiter without its quotes.
fn unquote(word: &str) -> std::borrow::Cow<'_, str> {
    if word.contains(['\'', '"', '\\']) {
        word.chars().filter(|mark| !matches!(mark, '\'' | '"' | '\\')).collect::<String>().into()
    } else {
        word.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> u32 {
        scan(text).commands
    }

    #[test]
    fn quoted_operators_start_nothing() {
        assert_eq!(count(r#"grep -E "A|B;C" 'x && y' f"#), 1);
        assert_eq!(count(r#"echo '{"a": "b|c"}' \; x"#), 1);
        assert_eq!(count("echo a # ; rm b"), 1);
    }

    #[test]
    fn every_separator_starts_one() {
        assert_eq!(count("a; b && c || d | e & f\ng"), 7);
        assert_eq!(count("(a; b) && { c; d; }"), 4);
        assert_eq!(count("if a; then b; else c; fi"), 3);
        assert_eq!(count("for x in 1 2; do a; done; b"), 2);
        assert_eq!(count("case $x in a|b) c;; *) d;; esac; e"), 3);
        assert_eq!(count("f() { a; }; f"), 3);
    }

    #[test]
    fn heredoc_bodies_are_text() {
        assert_eq!(count("cat <<'EOF'\nit's; rm x\nEOF\nb"), 2);
        assert_eq!(count("git commit -m \"$(cat <<'EOF'\nit's (x\nEOF\n)\"; b"), 2);
    }

    #[test]
    fn arithmetic_is_no_command() {
        assert_eq!(count("echo $((1+(2*3))); b"), 2);
        assert_eq!(count("((i++)); b"), 1);
        assert_eq!(count("[[ a < b && c =~ (x|y) ]] && d"), 1);
    }

    #[test]
    fn nesting_is_bounded() {
        assert!(scan(&"$(".repeat(30_000)).too_deep);
        assert!(scan(&"\"$(".repeat(20_000)).too_deep);
        assert!(!scan(&"(".repeat(10)).too_deep);
    }

    #[test]
    fn braces_in_quotes_are_bounded_by_the_length_of_the_text() {
        for quote in ["'", "\"", "$'"] {
            let close = quote.trim_start_matches('$');
            assert!(scan(&format!("echo {quote}{}{close}", "{".repeat(65_000))).too_deep, "{quote}");
        }
        let payload = format!("curl -d '{}' x", "{\"a\":1},".repeat(400));
        assert!(!scan(&payload).too_deep, "a request of {} bytes is read", payload.len());
        let file = format!("cat > a.json <<'EOF'\n{}\nEOF", "{\"a\":1},\n".repeat(5_000));
        assert!(!scan(&file).too_deep, "a file is text");
    }
}
