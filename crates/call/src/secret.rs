//! Recognises common secrets by their form.
//!
//! One pass, in time linear in the text: a token begins at a word boundary with a prefix of
//! [`table`], and how far a run of allowed characters reaches is measured once and remembered.

mod table;

use std::ops::Range;
use table::{Charset, Rule, Shape};

/// Names one find.
///
/// ```
/// let hits = tollgate_call::secret::find_tokens("key AKIAIOSFODNN7EXAMPLE.");
/// assert_eq!((hits[0].kind, hits[0].range.clone()), ("aws-access-key", 4..24));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenHit {
    /// What it looks like: `github-token`, `private-key`, …
    pub kind: &'static str,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
}

/// Finds tokens of known forms, in order and without overlap.
///
/// # Security
/// Knows forms, not values: a password without a form of its own passes, and so does a token that is
/// encoded, split or shortened. Hide values that are known by their value as well.
#[must_use]
pub fn find_tokens(text: &str) -> Vec<TokenHit> {
    let mut scan = Scan::new(text);
    let mut hits: Vec<TokenHit> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match scan.at(at) {
            Some(hit) => {
                at = hit.range.end.max(at + 1);
                hits.push(hit);
            }
            None => at += 1,
        }
    }
    hits
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// The latest measured runs of each character set, so that no byte is measured again and again.
    runs: [[(usize, usize); 4]; Charset::COUNT],
    /// Which remembered run is replaced next.
    turn: usize,
    /// How many bytes were measured: the tests hold it to a multiple of the text.
    measured: usize,
}

impl<'a> Scan<'a> {
    const fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), runs: [[(0, 0); 4]; Charset::COUNT], turn: 0, measured: 0 }
    }

    fn at(&mut self, at: usize) -> Option<TokenHit> {
        let first = *self.bytes.get(at)?;
        let boundary = self.is_boundary(at);
        for rule in table::beginning_with(first) {
            if !boundary && rule.shape.needs_boundary() {
                continue;
            }
            if self.bytes.get(at..).is_some_and(|rest| rest.starts_with(rule.prefix.as_bytes()))
                && let Some(range) = self.shape(rule, at)
            {
                return Some(TokenHit { kind: rule.kind, range });
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

    fn shape(&mut self, rule: &Rule, at: usize) -> Option<Range<usize>> {
        let after = at + rule.prefix.len();
        match rule.shape {
            Shape::Run { set, min, max } => {
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
            return *end;
        }
        let rest = self.bytes.get(from..).unwrap_or_default();
        let len = rest.iter().position(|b| !set.holds(*b)).unwrap_or(rest.len());
        self.measured += len + 1;
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
    fn pem(&self, at: usize, after: usize) -> Option<Range<usize>> {
        let rest = self.bytes.get(after..)?;
        let label = rest.iter().take(64).take_while(|b| b.is_ascii_uppercase() || **b == b' ').count();
        let label = self.text.get(after..after + label)?;
        if !label.contains("PRIVATE KEY") {
            return None;
        }
        let body = self.text.get(after..)?;
        let end = body.find("-----END ").map_or(self.text.len(), |end| {
            let close = after + end + "-----END ".len();
            let tail = self.text.get(close..).unwrap_or_default();
            close + tail.find("-----").map_or(tail.len(), |dashes| dashes + 5)
        });
        Some(at..end)
    }

    /// Reads the password of `scheme://user:password@host`.
    fn user_info(&mut self, after: usize) -> Option<Range<usize>> {
        let end = self.run_end(Charset::UserInfo, after);
        let part = self.text.get(after..end)?;
        let colon = part.find(':')?;
        let password = after + colon + 1..end;
        (self.bytes.get(end) == Some(&b'@') && password.len() >= 3).then_some(password)
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::RULES;

    fn kinds(text: &str) -> Vec<&'static str> {
        find_tokens(text).into_iter().map(|hit| hit.kind).collect()
    }

    /// Makes a token of the least length that the rule takes.
    fn sample(rule: &Rule) -> String {
        let fill = |set: Charset, n: usize| {
            let byte = (b'0'..=b'z').rev().find(|b| set.holds(*b) && b.is_ascii_alphanumeric()).unwrap();
            char::from(byte).to_string().repeat(n)
        };
        match rule.shape {
            Shape::Run { set, min, .. } => format!("{}{}", rule.prefix, fill(set, min)),
            Shape::Value { set, min } => format!("{}: {}", rule.prefix, fill(set, min)),
            Shape::Assigned { set, min } => format!("MY{}1{}", rule.prefix, fill(set, min)),
            Shape::Parts { set, mins } => {
                let parts: Vec<_> = mins.iter().map(|min| fill(set, *min)).collect();
                let dotted = parts.join(".");
                format!("{}{}", rule.prefix, dotted.get(rule.prefix.len()..).unwrap())
            }
            Shape::Pem => format!("{}RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----", rule.prefix),
            Shape::UserInfo => format!("https{}me:hunter2@", rule.prefix),
        }
    }

    #[test]
    fn every_rule_finds_its_token_in_the_midst_of_text() {
        for rule in RULES {
            let token = sample(rule);
            let text = format!("é \"{token}\" é");
            let hits = find_tokens(&text);
            assert!(hits.iter().any(|hit| hit.kind == rule.kind), "{}: {text} → {hits:?}", rule.kind);
            for hit in hits {
                assert!(text.is_char_boundary(hit.range.start) && text.is_char_boundary(hit.range.end));
            }
        }
    }

    #[test]
    fn a_token_one_character_short_is_none() {
        for rule in RULES {
            if let Shape::Run { .. } = rule.shape {
                let token = sample(rule);
                let short = token.get(..token.len() - 1).unwrap();
                assert!(!kinds(short).contains(&rule.kind), "{short}");
            }
        }
    }

    #[test]
    fn only_the_secret_part_is_taken() {
        let found = |text: &str| {
            let hits = find_tokens(text);
            assert_eq!(hits.len(), 1, "{text}: {hits:?}");
            text.get(hits[0].range.clone()).unwrap().to_owned()
        };
        assert_eq!(found("postgres://me:hunter2@db/x"), "hunter2");
        let basic = format!("Authorization: Basic {}", "dXNlcjpodW50ZXIy");
        assert_eq!(found(&basic), "dXNlcjpodW50ZXIy");
        let pem = "x\n-----BEGIN EC PRIVATE KEY-----\nAA\n-----END EC PRIVATE KEY-----\ny";
        assert!(found(pem).ends_with("KEY-----") && found(pem).starts_with("-----BEGIN"));
    }

    #[test]
    fn a_key_block_without_an_end_is_hidden_to_the_end() {
        let text = "-----BEGIN PRIVATE KEY-----\nAAAA";
        assert_eq!(find_tokens(text)[0].range, 0..text.len());
    }

    #[test]
    fn ordinary_text_holds_no_token() {
        for text in [
            "",
            "git push origin main",
            "https://example.org:8080/a@b",
            "http://user@host/x",
            "task_list sk-learn pypi-server npm_config_cache hf_hub ghp_short xoxb- SG.x.y",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709 550e8400-e29b-41d4-a716-446655440000",
            "eyJhbGciOiJIUzI1NiJ9",
            "mydapi0123456789abcdef0123456789abcdef",
            "Bearer of news",
            "the basic idea: keep it small",
            "MY_TOKEN=$OTHER_TOKEN_2 MY_SECRET=get_secret_v2(1) MY_PASSWORD=changeme-please X_API_KEY=short1",
        ] {
            assert_eq!(find_tokens(text), [], "{text}");
        }
    }

    #[test]
    fn a_token_after_an_escape_in_text_within_text_is_found() {
        let token = format!("ghp_{}", "a".repeat(36));
        for text in [format!("\\n{token}"), format!("a%3D{token}"), format!("x=\\\"{token}\\\"")] {
            assert_eq!(kinds(&text), ["github-token"], "{text}");
        }
        assert_eq!(kinds(&format!("word{token}")), Vec::<&str>::new());
    }

    /// Counts measured bytes, not time: each byte is measured a bounded number of times.
    #[test]
    fn hostile_text_is_measured_in_linear_steps() {
        let pieces = [
            "eyJ-",
            "eyJ-a.",
            "sk-",
            "://a:",
            "-----BEGIN ",
            "glpat-",
            "xoxb-",
            "A_TOKEN=",
            "Bearer ",
            "key-",
            "eyJaaaaaaaaaaaaa.eyJaaaaaaaaaaaaa-",
            "-eyJ-----------------",
            "SG.aa-",
            "%20sk-",
            "xapp-xoxb.",
        ];
        for piece in pieces {
            let text = piece.repeat(100_000 / piece.len());
            let mut scan = Scan::new(&text);
            let found = (0..text.len()).filter(|at| scan.at(*at).is_some()).count();
            assert!(scan.measured <= 12 * text.len(), "{piece}: {} in {}, {found} found", scan.measured, text.len());
        }
    }
}
