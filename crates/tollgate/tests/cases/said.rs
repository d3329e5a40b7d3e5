//! What is said to a case, and whether it is what the case wants.
//!
//! Tests of other doors include this file by path, so that all doors are held to one reading.

use std::fmt;

use tollgate_call::{Call, Malformed};
use tollgate_policy::{Decision, Findings, judge};

use crate::case::{Case, Expect, Key};
use crate::world;

/// What was said to a call: the decision, and the rules that are as severe.
pub(crate) struct Said {
    pub(crate) decision: Decision,
    pub(crate) rules: Vec<String>,
}

impl fmt::Display for Said {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} {}", self.decision, self.rules.join(" "))
    }
}

impl Said {
    /// The decision of the findings, and the rules that are as severe; a call that cannot be read is denied.
    pub(crate) fn of(judged: &Result<Findings, Malformed>) -> Self {
        let findings = match judged {
            Ok(findings) => findings,
            Err(malformed) => {
                let is_unknown = matches!(malformed, Malformed::UnknownTool { .. });
                let rule = if is_unknown { "tool.unknown" } else { "call.malformed" };
                return Self { decision: Decision::Deny, rules: vec![rule.to_owned()] };
            }
        };
        let decision = findings.decision();
        let as_severe = findings.iter().filter(|finding| finding.decision == decision);
        let mut rules: Vec<String> = as_severe.map(|finding| finding.rule.to_string()).collect();
        rules.sort();
        rules.dedup();
        Self { decision, rules }
    }
}

/// Judges a case without budgets, loops, approvals or files.
pub(crate) fn say(case: &Case) -> Said {
    Said::of(&findings(case))
}

/// All that is found about a case, or why its call cannot be read.
pub(crate) fn findings(case: &Case) -> Result<Findings, Malformed> {
    let call = Call::read(&world::proposal(case), &world::person())?;
    Ok(judge(&world::policy(case), &call, &world::facts(case, &call), &world::run_state(case)))
}

/// Whether that is what the case wants; for an open case, whether it is still wrong.
pub(crate) fn holds(case: &Case, said: &Said) -> bool {
    let named = said.rules.iter().any(|rule| case.names(rule));
    match case.expect {
        Expect::Allow => said.decision == Decision::Allow,
        Expect::Ask => said.decision == Decision::Ask && named,
        Expect::Deny => said.decision == Decision::Deny && named,
        Expect::Block => said.decision != Decision::Allow && named,
        Expect::OpenHole => said.decision == Decision::Allow || !named,
        Expect::OpenAlarm => said.decision != Decision::Allow,
    }
}

/// Lines that need more than judging.
pub(crate) fn needs_gate(case: &Case) -> bool {
    [Key::Cap, Key::Repeat, Key::Approved].into_iter().any(|key| case.one(key).is_some())
}
