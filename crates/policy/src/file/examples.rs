//! The examples of rules: what a rule says it matches is tried when the file is read.

use tollgate_call::places::Layout;
use tollgate_call::run_state::RunState;
use tollgate_call::{Call, Door, Origin, Person, Proposal, Untrusted, assume};
use toml::Spanned;

use super::diagnostic::Diagnostic;
use super::merge::Merging;
use super::raw::RawRule;
use crate::decision::Decision;
use crate::judge::judge;
use crate::policy::{Ground, Policy};
use crate::rule;
use crate::settings::Settings;

/// Judges every example by the rule alone; says which are not as they should be.
pub(super) fn check(merging: &Merging<'_>, raw: &RawRule) -> Vec<Diagnostic> {
    let examples = |list: &Option<Vec<Spanned<String>>>| list.clone().unwrap_or_default();
    let (matches, not_matches) = (examples(&raw.matches), examples(&raw.not_matches));
    if matches.is_empty() && not_matches.is_empty() {
        return Vec::new();
    }
    let settings = Settings { rules: vec![merging.rule(raw)], ..Settings::default() };
    // What is wrong with the rule itself was said before.
    let Ok(policy) = Policy::new(settings, merging.ground) else { return Vec::new() };
    let wanted =
        matches.iter().map(|example| (example, true)).chain(not_matches.iter().map(|example| (example, false)));
    let wrong = wanted.filter(|(example, wanted)| does_match(&policy, merging.ground, example.get_ref()) != *wanted);
    let told = wrong.map(|(example, wanted)| {
        let (not, change) = if wanted { (" not", "widen the rule") } else { ("", "narrow the rule") };
        let message = format!("the rule does{not} match `{}`", example.get_ref());
        Diagnostic::at(merging.layer, example.span(), message, format!("{change}, or correct the example"))
    });
    told.collect()
}

/// An allow rule matches what it covers whole; a stricter one what any part of it is about.
fn does_match(policy: &Policy, ground: &Ground<'_>, command: &str) -> bool {
    let args = serde_json::json!({ "command": command }).to_string().into_bytes();
    let origin =
        Origin { door: Door::Check, run: String::new(), call_id: String::new(), cwd: ground.workspace.to_owned() };
    let proposal = Proposal { tool: Untrusted::new("run_bash".to_owned()), args: Untrusted::new(args), origin };
    let person = Person { home: ground.home.to_owned(), user: String::new() };
    let Ok(call) = Call::read(&proposal, &person) else { return false };
    let facts = assume::facts(&Layout::of(ground.workspace, ground.home), call.actions());
    let findings = judge(policy, &call, &facts, &RunState::default());
    let by = |id: rule::RuleId| findings.iter().filter(move |finding| finding.rule == id);
    match policy.settings().rules.first().map(|rule| rule.effect) {
        Some(Decision::Allow) => findings.iter().all(|finding| finding.rule == rule::RULE_ALLOW),
        Some(Decision::Ask) => by(rule::RULE_ASK).next().is_some(),
        Some(Decision::Deny) => by(rule::RULE_DENY).next().is_some(),
        None => false,
    }
}
