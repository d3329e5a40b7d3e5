//! Licence expressions: which choices they offer, and whether a list of accepted licences covers one.

/// Whether `accepted` licences suffice for an SPDX expression.
///
/// Understands `AND`, `OR`, `WITH`, brackets, and the old `/` for `OR`; anything else is not covered.
pub(crate) fn is_covered(expression: &str, accepted: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, accepted };
    let covered = reader.any();
    covered == Some(true) && reader.words.is_empty()
}

struct Reader<'a> {
    words: &'a [&'a str],
    accepted: &'a [String],
}

impl Reader<'_> {
    fn next(&mut self, wanted: &str) -> bool {
        let Some((first, rest)) = self.words.split_first() else { return false };
        let is_next = *first == wanted;
        if is_next {
            self.words = rest;
        }
        is_next
    }

    fn any(&mut self) -> Option<bool> {
        let mut covered = self.all()?;
        while self.next("OR") {
            covered |= self.all()?;
        }
        Some(covered)
    }

    fn all(&mut self) -> Option<bool> {
        let mut covered = self.one()?;
        while self.next("AND") {
            covered &= self.one()?;
        }
        Some(covered)
    }

    fn one(&mut self) -> Option<bool> {
        if self.next("(") {
            let covered = self.any()?;
            return self.next(")").then_some(covered);
        }
        let mut licence = self.word()?.to_owned();
        if self.next("WITH") {
            licence = format!("{licence} WITH {}", self.word()?);
        }
        Some(self.accepted.contains(&licence))
    }

    fn word(&mut self) -> Option<&str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        (!matches!(*first, "AND" | "OR" | "WITH" | "(" | ")")).then_some(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(expression: &str) -> bool {
        is_covered(
            expression,
            &["MIT".to_owned(), "Apache-2.0".to_owned(), "Apache-2.0 WITH LLVM-exception".to_owned()],
        )
    }

    #[test]
    fn one_accepted_choice_is_enough() {
        assert!(covered("MIT"));
        assert!(covered("LGPL-2.1-or-later OR MIT"));
        assert!(covered("Unlicense/MIT"));
        assert!(covered("Apache-2.0 WITH LLVM-exception"));
    }

    #[test]
    fn every_part_of_a_conjunction_is_needed() {
        assert!(covered("(GPL-3.0-only OR MIT) AND Apache-2.0"));
        assert!(!covered("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!covered("GPL-3.0-only"));
        assert!(!covered("MIT WITH LLVM-exception"));
    }

    #[test]
    fn what_does_not_parse_is_not_covered() {
        for text in ["", "MIT OR", "(MIT", "MIT)", "MIT MIT", "OR MIT", "AND"] {
            assert!(!covered(text), "{text}");
        }
    }
}
