//! One pass over a text.

use std::ops::Range;

use super::TokenHit;
use super::table::{self, Charset, Rule, Shape};

pub(super) struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// The latest measured runs of each character set, so that no byte is measured again and again.
    runs: [[(usize, usize); 4]; Charset::COUNT],
    /// Which remembered run is replaced next.
    turn: usize,
    /// Whether the latest look reached the end of the text, so that more text could change its answer.
    open: bool,
    /// How many bytes were measured: the tests hold it to a multiple of the text.
    pub(super) measured: usize,
}

impl<'a> Scan<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        let runs = [[(0, 0); 4]; Charset::COUNT];
        Self { text, bytes: text.as_bytes(), runs, turn: 0, open: false, measured: 0 }
    }

    /// Whether more text could have changed the answer of the latest [`Self::at`].
    pub(super) const fn is_open(&self) -> bool {
        self.open
    }

    /// The token that begins here.
    pub(super) fn at(&mut self, at: usize) -> Option<TokenHit> {
        self.open = false;
        let first = *self.bytes.get(at)?;
        let boundary = self.is_boundary(at);
        let rest = self.bytes.get(at..)?;
        for rule in table::beginning_with(first) {
            let prefix = rule.prefix.as_bytes();
            if !boundary && rule.shape.needs_boundary() || rule.shape.stands_alone() && self.follows_hyphen(at) {
                continue;
            }
            if rest.len() < prefix.len() {
                self.open |= prefix.starts_with(rest);
            } else if rest.starts_with(prefix)
                && let Some(range) = self.shape(rule, at)
                && !self.is_filler(&range)
            {
                return Some(TokenHit { kind: rule.kind, range, told_from: at });
            }
        }
        None
    }

    /// Tells whether a word may begin here: after a non-word byte, and after an escape that ends in a
    /// word byte (`\\n`, `%3D`), for text inside text.
    fn is_boundary(&self, at: usize) -> bool {
        let before = |back: usize| at.checked_sub(back).and_then(|i| self.bytes.get(i)).copied();
        match (before(3), before(2), before(1)) {
            (_, _, None) => true,
            (_, _, Some(last)) if !is_word(last) => true,
            (_, Some(b'\\'), Some(b'n' | b'r' | b't' | b'f' | b'b')) => true,
            (Some(b'%'), Some(high), Some(low)) => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
            (_, _, Some(_)) => false,
        }
    }

    fn follows_hyphen(&self, at: usize) -> bool {
        at.checked_sub(1).and_then(|before| self.bytes.get(before)) == Some(&b'-')
    }

    /// `xoxb-your-token-here`: documentation, not a token.
    fn is_filler(&self, range: &Range<usize>) -> bool {
        let found = self.bytes.get(range.clone()).unwrap_or_default();
        let head = found.get(..found.len().min(64)).unwrap_or_default();
        head.windows(4).any(|four| four.eq_ignore_ascii_case(b"your"))
    }

    fn shape(&mut self, rule: &Rule, at: usize) -> Option<Range<usize>> {
        let after = at + rule.prefix.len();
        match rule.shape {
            Shape::Run { set, min, max } | Shape::Alone { set, min, max } => {
                let end = self.run_end(set, after);
                (min..=max).contains(&(end - after)).then_some(at..end)
            }
            Shape::Value { set, min } => self.value(set, min, after),
            Shape::Assigned { set, min } => self.assigned(set, min, after),
            Shape::Parts { set, mins } => self.parts(set, mins, at),
            Shape::Pem => self.pem(at, after),
            Shape::UserInfo => self.user_info(after),
        }
    }

    /// Returns where the run of `set` that covers `from` ends; `from` itself when there is none.
    fn run_end(&mut self, set: Charset, from: usize) -> usize {
        let Some(runs) = self.runs.get_mut(set as usize) else { return from };
        if let Some((_, end)) = runs.iter().find(|(start, end)| (*start..*end).contains(&from)) {
            self.open |= *end == self.bytes.len();
            return *end;
        }
        let rest = self.bytes.get(from..).unwrap_or_default();
        let len = rest.iter().position(|b| !set.holds(*b)).unwrap_or(rest.len());
        self.measured += len + 1;
        self.open |= len == rest.len();
        if let Some(slot) = runs.get_mut(self.turn % 4) {
            *slot = (from, from + len);
            self.turn += 1;
        }
        from + len
    }

    /// Reads the value that an assignment or header gives: `name`, a few separators, the value.
    fn value(&mut self, set: Charset, min: usize, after: usize) -> Option<Range<usize>> {
        let rest = self.bytes.get(after..)?;
        let between = |b: &u8| matches!(b, b' ' | b'\t' | b'"' | b'\'' | b'\\' | b'=' | b':');
        let gap = rest.iter().take(8).take_while(|b| between(b)).count();
        let start = after + gap;
        let end = self.run_end(set, start);
        (gap > 0 && end - start >= min).then_some(start..end)
    }

    /// Reads the value of `NAME_TOKEN=value`, unless it looks like code or a word.
    fn assigned(&mut self, set: Charset, min: usize, after: usize) -> Option<Range<usize>> {
        let quoted = matches!(self.bytes.get(after), Some(b'"' | b'\''));
        let start = after + usize::from(quoted);
        let end = self.run_end(set, start);
        // The head decides, so that a long run is not read again for each name inside it.
        let head = self.bytes.get(start..end.min(start + 64))?;
        let mixed = head.iter().any(u8::is_ascii_digit) && head.iter().any(u8::is_ascii_alphabetic);
        (end - start >= min && mixed && self.bytes.get(end) != Some(&b'(')).then_some(start..end)
    }

    /// Reads parts separated by dots, each of at least the length named.
    fn parts(&mut self, set: Charset, mins: &[usize], at: usize) -> Option<Range<usize>> {
        let mut end = at;
        for (index, min) in mins.iter().enumerate() {
            if index > 0 {
                if self.bytes.get(end) != Some(&b'.') {
                    return None;
                }
                end += 1;
            }
            let start = end;
            end = self.run_end(set, start);
            if end - start < *min {
                return None;
            }
        }
        Some(at..end)
    }

    /// Reads a private key block; one that does not end is hidden to the end of the text.
    fn pem(&mut self, at: usize, after: usize) -> Option<Range<usize>> {
        let rest = self.bytes.get(after..)?;
        let label = rest.iter().take(64).take_while(|b| b.is_ascii_uppercase() || **b == b' ').count();
        self.open |= label == rest.len();
        let label = self.text.get(after..after + label)?;
        if !label.contains("PRIVATE KEY") {
            return None;
        }
        let body = self.text.get(after..)?;
        let end = body.find("-----END ").and_then(|end| {
            let close = after + end + "-----END ".len();
            let tail = self.text.get(close..)?;
            tail.find("-----").map(|dashes| close + dashes + 5)
        });
        self.open |= end.is_none();
        Some(at..end.unwrap_or(self.text.len()))
    }

    /// Reads the password of `scheme://user:password@host`.
    fn user_info(&mut self, after: usize) -> Option<Range<usize>> {
        let end = self.run_end(Charset::UserInfo, after);
        let part = self.text.get(after..end)?;
        let (user, password) = part.split_once(':')?;
        let start = after + user.len() + 1;
        let found = self.bytes.get(end) == Some(&b'@') && password.len() >= 3 && !stands_for(password, user);
        found.then_some(start..end)
    }
}

/// Passwords that nobody keeps secret: variables, examples, and the defaults of development servers.
fn stands_for(password: &str, user: &str) -> bool {
    const DEFAULTS: &[&str] = &[
        "admin",
        "changeme",
        "dev",
        "example",
        "guest",
        "minioadmin",
        "mysql",
        "pass",
        "passwd",
        "password",
        "postgres",
        "pwd",
        "root",
        "secret",
        "test",
    ];
    password == user
        || password.starts_with(['$', '{', '%', '*', '[', '('])
        || DEFAULTS.iter().any(|known| password.eq_ignore_ascii_case(known))
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
