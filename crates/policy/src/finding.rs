//! What judging found: never nothing.

use std::borrow::Cow;

use tollgate_call::Span;

use crate::decision::Decision;
use crate::rule::{Class, RuleId};

/// Text that is fixed, or names a concrete target.
pub type Text = Cow<'static, str>;

/// One reason for one decision about one part of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it says.
    pub decision: Decision,
    /// Why, by id.
    pub rule: RuleId,
    /// Where in the arguments, if it is about a part.
    pub span: Option<Span>,
    /// Which simple command, in source order.
    pub part: u32,
    /// A plain sentence naming the concrete target.
    pub because: Text,
    /// What to do instead, where there is something.
    pub instead: Option<Text>,
}

/// All findings about one call; there is at least one.
///
/// ```
/// use tollgate_policy::{Decision, Policy, judge};
/// use tollgate_call::{Call, Door, Origin, Person, Proposal, Untrusted, facts::Facts, run_state::RunState};
/// let call = Call::read(
///     &Proposal {
///         tool: Untrusted::new("send_message".into()),
///         args: Untrusted::new(br#"{"to":"x@evil.example","subject":"s","body":"b"}"#.to_vec()),
///         origin: Origin { door: Door::Agent, run: "r".into(), call_id: "c".into(), cwd: "/w".into() },
///     },
///     &Person { home: "/home/u".into(), user: "u".into() },
/// )?;
/// let findings = judge(&Policy::builtin(), &call, &Facts::none(), &RunState::default());
/// assert_eq!(findings.decision(), Decision::Ask);
/// assert_eq!(findings.deciding().rule.as_str(), "message.unlisted");
/// # Ok::<(), tollgate_call::Malformed>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Findings {
    deciding: usize,
    all: Vec<Finding>,
}

impl Findings {
    /// One finding alone.
    pub fn of(finding: Finding) -> Self {
        Self { deciding: 0, all: vec![finding] }
    }

    /// Many findings; an empty list is a failure of the guard, and denies.
    pub fn from_list(all: Vec<Finding>) -> Self {
        // The floor speaks first among equals: it is the reason that nothing can change.
        let rank = |finding: &Finding| (finding.decision, finding.rule.rule().class == Class::Floor);
        let most = all.iter().map(rank).max();
        match most.and_then(|most| all.iter().position(|finding| rank(finding) == most)) {
            Some(deciding) => Self { deciding, all },
            None => Self::of(Finding::guard_failed("judging came to no finding")),
        }
    }

    /// The most severe decision.
    pub fn decision(&self) -> Decision {
        self.all.get(self.deciding).map_or(Decision::Deny, |finding| finding.decision)
    }

    /// The first of the most severe findings; of the floor, if one is.
    #[expect(clippy::indexing_slicing, reason = "both constructors set an index of the non-empty list")]
    pub fn deciding(&self) -> &Finding {
        &self.all[self.deciding]
    }

    /// All of them, in the order of the call's parts.
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.all.iter()
    }

    /// The rules that speak against the call, most severe first, each once.
    pub fn rules(&self) -> Vec<RuleId> {
        let mut against: Vec<&Finding> = self.all.iter().filter(|f| f.decision != Decision::Allow).collect();
        against.sort_by_key(|finding| std::cmp::Reverse(finding.decision));
        let mut rules: Vec<RuleId> = Vec::new();
        for finding in against {
            if !rules.contains(&finding.rule) {
                rules.push(finding.rule);
            }
        }
        rules
    }

    /// The same in other words: `tell` is given each reason that quotes the call.
    #[must_use]
    pub fn retold(mut self, tell: impl Fn(&str) -> String) -> Self {
        for finding in &mut self.all {
            if let Text::Owned(because) = &mut finding.because {
                *because = tell(because);
            }
        }
        self
    }

    /// These and one more, which a later step of the gate found.
    #[must_use]
    pub fn with(self, finding: Finding) -> Self {
        let mut all = self.all;
        all.push(finding);
        Self::from_list(all)
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.iter()
    }
}

impl Finding {
    /// A finding about the call as a whole.
    pub fn whole(decision: Decision, rule: RuleId, because: impl Into<Text>) -> Self {
        Self { decision, rule, span: None, part: 0, because: because.into(), instead: None }
    }

    /// The finding of a guard that failed: always Deny.
    pub fn guard_failed(because: impl Into<Text>) -> Self {
        Self::whole(Decision::Deny, crate::rule::GUARD_FAILED, because)
    }

    /// The same with a next step.
    #[must_use]
    pub fn instead(self, step: impl Into<Text>) -> Self {
        Self { instead: Some(step.into()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule;

    #[test]
    fn nothing_found_is_a_denial() {
        let findings = Findings::from_list(Vec::new());
        assert_eq!(findings.decision(), Decision::Deny);
        assert_eq!(findings.deciding().rule, rule::GUARD_FAILED);
    }

    #[test]
    fn the_floor_then_the_first_of_the_most_severe_decides() {
        let findings = Findings::of(Finding::whole(Decision::Allow, rule::DEFAULT_ALLOW, "a"))
            .with(Finding::whole(Decision::Deny, rule::PATH_OUTSIDE, "b"))
            .with(Finding::whole(Decision::Deny, rule::PATH_CREDENTIAL, "c"));
        assert_eq!(findings.deciding().because, "b");
        let floor = findings.clone().with(Finding::whole(Decision::Deny, rule::PATH_GUARD, "d"));
        assert_eq!(floor.deciding().because, "d");
        assert_eq!(findings.rules(), [rule::PATH_OUTSIDE, rule::PATH_CREDENTIAL]);
    }
}
