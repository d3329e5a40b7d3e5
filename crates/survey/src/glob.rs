//! Shell patterns for one name, as bash matches them by default.

/// One piece of a pattern.
#[derive(Debug)]
enum Piece {
    /// Any run of characters, also none.
    Run,
    /// Any one character.
    Any,
    /// This character.
    Letter(char),
    /// One character in (or not in) these ranges.
    Set { inverted: bool, ranges: Vec<(char, char)> },
}

/// A pattern for one component of a path.
///
/// `*`, `?`, `[…]` with ranges, classes and `!` or `^`, and backslash escapes. `**` means `*`, as
/// bash reads it without `globstar`. A name that begins with a dot matches only a pattern that does.
#[derive(Debug)]
pub(crate) struct Pattern {
    pieces: Vec<Piece>,
    literal: bool,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            let piece = match letter {
                '*' => Piece::Run,
                '?' => Piece::Any,
                '\\' => Piece::Letter(letters.next().unwrap_or('\\')),
                '[' => match set(letters.as_str()) {
                    Some((set, rest)) => {
                        letters = rest.chars();
                        set
                    }
                    None => Piece::Letter('['),
                },
                plain => Piece::Letter(plain),
            };
            if !(matches!(piece, Piece::Run) && matches!(pieces.last(), Some(Piece::Run))) {
                pieces.push(piece);
            }
        }
        let literal = pieces.iter().all(|piece| matches!(piece, Piece::Letter(_)));
        Self { pieces, literal }
    }

    /// The one name that it stands for, when it holds no magic.
    pub(crate) fn literal(&self) -> Option<String> {
        let letter = |piece: &Piece| if let Piece::Letter(letter) = piece { Some(*letter) } else { None };
        self.literal.then(|| self.pieces.iter().filter_map(letter).collect())
    }

    /// Whether it matches `name`; time is at most the product of both lengths.
    pub(crate) fn matches(&self, name: &str) -> bool {
        if name.starts_with('.') && !matches!(self.pieces.first(), Some(Piece::Letter('.'))) {
            return false;
        }
        let letters: Vec<char> = name.chars().collect();
        let (mut piece, mut letter, mut back) = (0, 0, None);
        while letter < letters.len() {
            match (self.pieces.get(piece), letters.get(letter)) {
                (Some(Piece::Run), _) => {
                    back = Some((piece, letter));
                    piece += 1;
                }
                (Some(one), Some(have)) if one.takes(*have) => {
                    piece += 1;
                    letter += 1;
                }
                (_, _) => {
                    let Some((run, from)) = back else { return false };
                    back = Some((run, from + 1));
                    piece = run + 1;
                    letter = from + 1;
                }
            }
        }
        self.pieces.iter().skip(piece).all(|rest| matches!(rest, Piece::Run))
    }
}

impl Piece {
    fn takes(&self, letter: char) -> bool {
        match self {
            Self::Run => false,
            Self::Any => true,
            Self::Letter(want) => *want == letter,
            Self::Set { inverted, ranges } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter)) != *inverted
            }
        }
    }
}

/// Reads a set after its `[`; `None` when it is never closed, so that the bracket is a letter.
fn set(text: &str) -> Option<(Piece, &str)> {
    let inverted = text.starts_with(['!', '^']);
    let mut rest = text.strip_prefix(['!', '^']).unwrap_or(text);
    let mut ranges = Vec::new();
    let mut first = true;
    loop {
        if let Some((class, after)) = rest.strip_prefix("[:").and_then(|class| class.split_once(":]")) {
            ranges.extend_from_slice(class_ranges(class));
            rest = after;
        } else {
            let (from, after) = one(rest)?;
            if from == Some(']') && !first && rest.starts_with(']') {
                return Some((Piece::Set { inverted, ranges }, after));
            }
            let from = from?;
            rest = after;
            let range = rest.strip_prefix('-').filter(|to| !to.starts_with(']')).and_then(one);
            match range {
                Some((Some(to), after)) => {
                    ranges.push((from, to));
                    rest = after;
                }
                Some((None, _)) | None => ranges.push((from, from)),
            }
        }
        first = false;
    }
}

/// The next letter of a set, a backslash taken off.
fn one(text: &str) -> Option<(Option<char>, &str)> {
    let mut letters = text.chars();
    let letter = match letters.next()? {
        '\\' => letters.next(),
        plain => Some(plain),
    };
    Some((letter, letters.as_str()))
}

fn class_ranges(class: &str) -> &'static [(char, char)] {
    match class {
        "alpha" => &[('a', 'z'), ('A', 'Z')],
        "digit" => &[('0', '9')],
        "alnum" => &[('a', 'z'), ('A', 'Z'), ('0', '9')],
        "upper" => &[('A', 'Z')],
        "lower" => &[('a', 'z')],
        "xdigit" => &[('0', '9'), ('a', 'f'), ('A', 'F')],
        "space" => &[(' ', ' '), ('\t', '\r')],
        "blank" => &[(' ', ' '), ('\t', '\t')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        // A class that bash may know and we do not: takes anything, so that nothing is overlooked.
        _ => &[('\0', char::MAX)],
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn patterns_match_as_bash_matches_names() {
        for (pattern, yes, no) in [
            ("*", &["a", "b.txt", "naïve"][..], &[".env", "."][..]),
            (".*", &[".env"], &["env"]),
            ("*.rs", &["a.rs", "rs.rs"], &["a.rst", ".rs"]),
            ("a**b", &["ab", "axxb"], &["abx"]),
            ("?at", &["cat", "ñat"], &["at", "chat", ".at"]),
            ("[abc]x", &["ax"], &["dx", "x"]),
            ("[!a-c]x", &["dx"], &["bx"]),
            ("[^a-c]x", &["dx"], &["bx"]),
            ("[]x]", &["]", "x"], &["a"]),
            ("[a-]", &["a", "-"], &["b"]),
            ("[[:digit:]]*", &["1a"], &["a1"]),
            ("[a", &["[a"], &["a"]),
            (r"\*", &["*"], &["a"]),
            ("*a*b*c", &["xaybzc", "abc"], &["acb"]),
        ] {
            for name in yes {
                assert!(Pattern::new(pattern).matches(name), "{pattern} should match {name}");
            }
            for name in no {
                assert!(!Pattern::new(pattern).matches(name), "{pattern} should not match {name}");
            }
        }
    }

    #[test]
    fn a_hostile_pattern_takes_no_exponential_time() {
        let pattern = Pattern::new(&"*a".repeat(100));
        assert!(!pattern.matches(&"a".repeat(99)));
        assert!(!Pattern::new(&format!("{}b", "*a".repeat(60))).matches(&"a".repeat(255)));
    }

    #[test]
    fn escaped_magic_is_a_name() {
        assert_eq!(Pattern::new(r"a\*b").literal().as_deref(), Some("a*b"));
        assert_eq!(Pattern::new("a*b").literal(), None);
    }
}
