//! What a run has used so far, for the status line and the summary.

use serde_json::{Value, json};
use tollgate::gate::TurnCost;

/// Counts of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Model turns.
    pub(crate) turns: u64,
    /// Calls that were performed.
    pub(crate) performed: u64,
    /// Rules of the calls that were denied, in order.
    pub(crate) denied: Vec<String>,
    /// Rules of the calls that a human was asked about, in order.
    pub(crate) asked: Vec<String>,
    /// Tokens, cached ones included.
    pub(crate) tokens: u64,
    /// Micro-dollars.
    pub(crate) microusd: u64,
}

impl Tally {
    /// Counts a turn and what it cost.
    pub(crate) const fn turn(&mut self, used: TurnCost) {
        self.turns += 1;
        self.tokens = self.tokens.saturating_add(used.tokens);
        self.microusd = self.microusd.saturating_add(used.microusd);
    }

    /// One line: turns, calls, tokens, cost.
    pub(crate) fn line(&self) -> String {
        format!(
            "turns {} · calls {} · denied {} · asked {} · tokens {} · ${}.{:04}",
            self.turns,
            self.performed,
            self.denied.len(),
            self.asked.len(),
            self.tokens,
            self.microusd / 1_000_000,
            self.microusd % 1_000_000 / 100,
        )
    }

    /// How often a person was asked, and for which rule most; nothing where it was seldom.
    pub(crate) fn prompts(&self) -> Option<(usize, &str)> {
        const MANY: usize = 3;
        let times = |rule: &str| self.asked.iter().filter(|asked| *asked == rule).count();
        let most = self.asked.iter().map(String::as_str).max_by_key(|rule| (times(rule), std::cmp::Reverse(*rule)))?;
        (self.asked.len() >= MANY).then(|| (times(most), most))
    }

    /// As JSON.
    pub(crate) fn json(&self) -> Value {
        json!({
            "turns": self.turns, "performed": self.performed, "denied": self.denied, "asked": self.asked.len(),
            "tokens": self.tokens, "microusd": self.microusd,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_that_asked_most_is_named_once_there_are_many_questions() {
        let asked =
            |rules: &[&str]| Tally { asked: rules.iter().map(|&rule| rule.to_owned()).collect(), ..Tally::default() };
        assert_eq!(asked(&["a", "a"]).prompts(), None);
        assert_eq!(asked(&["b", "a", "a"]).prompts(), Some((2, "a")));
        assert_eq!(asked(&["b", "a", "c"]).prompts(), Some((1, "a")));
    }

    #[test]
    fn the_line_shows_money_to_a_hundredth_of_a_cent() {
        let tally = Tally { turns: 2, tokens: 1_200, microusd: 1_234_567, ..Tally::default() };
        assert_eq!(tally.line(), "turns 2 · calls 0 · denied 0 · asked 0 · tokens 1200 · $1.2345");
    }
}
