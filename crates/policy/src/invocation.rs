//! How a program is called: the words of rules on subcommands and flags.
//!
//! An allow rule needs every word to be known and the subcommand to stand right behind the program: what it did not
//! name, it does not cover. A rule that asks or denies needs a sign only: a word that is not known may be the one.

use serde::Serialize;
use tollgate_call::Span;
use tollgate_call::action::Action;
use tollgate_call::shell::{Simple, Word};

/// What a rule says of the words behind a program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Invocation {
    /// The first words behind the program, such as `push` or `compose up`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subcommand: Option<String>,
    /// Flags that are there, all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flag: Vec<String>,
    /// Flags that are not there, none of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_flag: Vec<String>,
}

impl Invocation {
    /// Whether nothing is said.
    pub const fn is_open(&self) -> bool {
        self.subcommand.is_none() && self.flag.is_empty() && self.not_flag.is_empty()
    }

    /// Whether all of these words are what an allow rule names.
    pub(crate) fn covers(&self, words: &[Word]) -> bool {
        let known: Option<Vec<&str>> = words.iter().skip(1).map(Word::literal).collect();
        let Some(known) = known else { return self.is_open() };
        let named = |name: &String| {
            let wanted: Vec<&str> = name.split(' ').collect();
            known.get(..wanted.len()) == Some(&wanted[..])
        };
        self.subcommand.as_ref().is_none_or(named)
            && self.flag.iter().all(|flag| known.iter().any(|word| *word == flag))
            && !self.not_flag.iter().any(|flag| known.iter().any(|word| may_be(word, flag)))
    }

    /// Whether these words may be what a stricter rule is about.
    pub(crate) fn touches(&self, words: &[Word]) -> bool {
        let unknown = words.iter().skip(1).any(|word| word.literal().is_none());
        let has = |wanted: &str| words.iter().skip(1).filter_map(Word::literal).any(|word| word == wanted);
        let may_have = |flag: &String| words.iter().skip(1).filter_map(Word::literal).any(|word| may_be(word, flag));
        self.subcommand.as_ref().is_none_or(|name| unknown || name.split(' ').all(has))
            && self.flag.iter().all(|flag| unknown || may_have(flag))
            && !self.not_flag.iter().any(|flag| has(flag))
    }
}

/// Whether a word is this flag: as written, with a value, shortened, or in a cluster of letters.
fn may_be(word: &str, flag: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    if flag.starts_with("--") {
        return name == flag || (name.len() > 2 && name.starts_with("--") && flag.starts_with(name));
    }
    let cluster = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let letter = flag.strip_prefix('-').filter(|rest| rest.chars().count() == 1);
    name == flag || matches!((cluster, letter), (Some(cluster), Some(letter)) if cluster.contains(letter))
}

/// Whether an action comes from the words of its command, and not from a redirection or an assignment before them.
pub(crate) fn is_of_words(action: &Action, command: &Simple) -> bool {
    let before = command.words.first().is_some_and(|word| action.span.start < word.span.start);
    let within = |span: &Span| span.start <= action.span.start && action.span.end <= span.end;
    !before && !command.redirects.iter().any(|redirect| within(&redirect.span) || within(&redirect.target.span))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Word> {
        let word = |text: &str| match text {
            "?" => Word::opaque_at(tollgate_call::action::Why::Substitution, Span::new("/command", 0, 0)),
            text => Word::literal_at(text, Span::new("/command", 0, 0)),
        };
        text.split(' ').map(word).collect()
    }

    fn push() -> Invocation {
        let not_flag = vec!["--force".to_owned(), "-f".to_owned()];
        Invocation { subcommand: Some("push".to_owned()), flag: Vec::new(), not_flag }
    }

    #[test]
    fn an_allow_rule_covers_what_it_names_and_nothing_else() {
        for covered in ["git push", "git push origin main", "git push --set-upstream origin x"] {
            assert!(push().covers(&words(covered)), "{covered}");
        }
        for other in [
            "git pull",
            "git -C /x push",
            "git push --force",
            "git push --force=yes",
            "git push --forc",
            "git push --fo",
            "git push -uf origin",
            "git push ?",
            "git ? push",
        ] {
            assert!(!push().covers(&words(other)), "{other}");
        }
        let up = Invocation { subcommand: Some("compose up".to_owned()), flag: vec!["-d".to_owned()], ..push() };
        assert!(up.covers(&words("docker compose up -d")) && !up.covers(&words("docker compose up")));
        assert!(!up.covers(&words("docker compose -d up")));
    }

    #[test]
    fn a_stricter_rule_needs_a_sign_only() {
        let force = Invocation { flag: vec!["--force".to_owned()], not_flag: Vec::new(), ..push() };
        for touched in ["git push --force", "git -C /x push --forc", "git push ?", "git ? --force"] {
            assert!(force.touches(&words(touched)), "{touched}");
        }
        for other in ["git push", "git pull --force", "git push origin force"] {
            assert!(!force.touches(&words(other)), "{other}");
        }
        assert!(push().touches(&words("git push ?")) && !push().touches(&words("git push --force")));
    }
}
