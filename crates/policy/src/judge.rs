//! Judging: rules over a call, facts and the state of its run become findings.
//!
//! The order is that of the design: guards (the floor among them), always-confirm, users' rules, mode.
//! A halt, the schema and budgets come before, an approval after; they are the gate's.

use tollgate_call::action::{Action, ActionKind, Target};
use tollgate_call::call::Call;
use tollgate_call::facts::Facts;
use tollgate_call::run_state::RunState;

use crate::decision::Decision;
use crate::finding::{Finding, Findings, Text};
use crate::guards;
use crate::invocation::is_of_words;
use crate::mode::ModeSays;
use crate::policy::Policy;
use crate::profile::Profile;
use crate::rule::{self, Class, Lift};
use crate::ruling::{Ruling, Rulings};
use crate::settings::ActionName;
use crate::subject::{Subject, View};
use crate::user_rules::{Hits, Offer};

/// Judges a call: one finding at least for each action, the most severe decides.
///
/// Pure: the same arguments give the same findings.
///
/// # Security
/// Judges what the call says and what `facts` tell of the world at one moment. Whoever performs must
/// hold on to what was judged (handles, addresses); a name looked up again may mean something else.
pub fn judge(policy: &Policy, call: &Call, facts: &Facts, run: &RunState) -> Findings {
    judge_subject(policy, &Subject::of(call, run), facts, run)
}

pub(crate) fn judge_subject(policy: &Policy, subject: &Subject<'_>, facts: &Facts, run: &RunState) -> Findings {
    let view = View::new(policy, subject, facts, run);
    let mut findings = Vec::with_capacity(subject.actions.len() + 1);
    judge_whole(&view, &mut findings);
    for action in subject.actions {
        judge_action(&view, action, &mut findings);
    }
    Findings::from_list(findings)
}

/// What is said about the call as a whole: its tool, its size, its repetition.
fn judge_whole(view: &View<'_>, findings: &mut Vec<Finding>) {
    let mut rulings = Rulings::default();
    guards::loops::judge(view, &mut rulings);
    guards::tools::judge(view, &mut rulings);
    guards::secrets::judge_outgoing(view, &mut rulings);
    let offer = Offer { tool: view.subject.tool, ..Offer::default() };
    let hits = if view.subject.actions.is_empty() { view.policy.rules().hits(&offer) } else { Hits::default() };
    if rulings.is_empty() && !view.subject.actions.is_empty() {
        return;
    }
    settle(view, hits, &mut rulings, &mut |ruling| findings.push(finding(ruling, None)));
}

fn judge_action(view: &View<'_>, action: &Action, findings: &mut Vec<Finding>) {
    let mut rulings = Rulings::default();
    guards::judge(view, action, &mut rulings);
    let hits = user_rules(view, action);
    settle(view, hits, &mut rulings, &mut |ruling| findings.push(finding(ruling, Some(action))));
}

fn user_rules<'a>(view: &View<'a>, action: &Action) -> Hits<'a> {
    if view.policy.rules().is_empty() {
        return Hits::default();
    }
    let programs = view.programs_of(action.part);
    let own;
    let programs = match &action.kind {
        ActionKind::Execute(_) => {
            own = crate::subject::program_of(action);
            own.as_slice()
        }
        ActionKind::Read(_)
        | ActionKind::Write(..)
        | ActionKind::Delete(..)
        | ActionKind::Move(..)
        | ActionKind::Connect(_)
        | ActionKind::Listen(_)
        | ActionKind::Message(_)
        | ActionKind::Spend(_)
        | ActionKind::Install(_)
        | ActionKind::Privilege(_)
        | ActionKind::Persist(_)
        | ActionKind::Control(_)
        | ActionKind::Publish(_)
        | ActionKind::Destroy(_)
        | ActionKind::Signal(_)
        | ActionKind::Opaque(_) => programs.as_slice(),
    };
    let command = view.command_of(action.part);
    let offer = Offer {
        tool: view.subject.tool,
        command,
        beside: command.is_some_and(|command| !is_of_words(action, command)),
        programs,
        action: Some(ActionName::of(&action.kind)),
        paths: targets(&action.kind).into_iter().flatten().filter_map(|target| view.offered(target)).collect(),
        host: guards::network::offered_host(&action.kind),
    };
    view.policy.rules().hits(&offer)
}

/// The one or two targets of an action.
fn targets(kind: &ActionKind) -> [Option<&Target>; 2] {
    match kind {
        ActionKind::Read(target) | ActionKind::Write(target, _) | ActionKind::Delete(target, _) => [Some(target), None],
        ActionKind::Move(from, to) => [Some(from), Some(to)],
        ActionKind::Execute(_)
        | ActionKind::Connect(_)
        | ActionKind::Listen(_)
        | ActionKind::Message(_)
        | ActionKind::Spend(_)
        | ActionKind::Install(_)
        | ActionKind::Privilege(_)
        | ActionKind::Persist(_)
        | ActionKind::Control(_)
        | ActionKind::Publish(_)
        | ActionKind::Destroy(_)
        | ActionKind::Signal(_)
        | ActionKind::Opaque(_) => [None, None],
    }
}

/// Lets users' rules, profile and mode have their say, and hands on what is left.
fn settle(view: &View<'_>, hits: Hits<'_>, rulings: &mut Rulings, each: &mut impl FnMut(Ruling)) {
    if let Some(at) = hits.deny {
        each(written(Decision::Deny, rule::RULE_DENY, "denies", at));
    }
    if let Some(at) = hits.ask {
        each(written(Decision::Ask, rule::RULE_ASK, "asks about", at));
    }
    if rulings.is_empty() {
        return each(unopposed(view.profile(), hits));
    }
    for ruling in rulings.drain() {
        each(match ruling.decision {
            Decision::Ask => settle_ask(view, hits, ruling),
            Decision::Allow | Decision::Deny => ruling,
        });
    }
}

/// What nobody speaks against.
fn unopposed(profile: Profile, hits: Hits<'_>) -> Ruling {
    match (hits.allow, profile) {
        (Some(at), _) => written(Decision::Allow, rule::RULE_ALLOW, "allows", at),
        (None, Profile::Standard | Profile::Strict) => Ruling {
            decision: Decision::Allow,
            rule: rule::DEFAULT_ALLOW,
            because: Text::Borrowed("nothing speaks against it"),
            instead: None,
        },
        (None, Profile::Locked) => Ruling {
            decision: Decision::Deny,
            rule: rule::PROFILE_LOCKED,
            because: Text::Borrowed("the profile is locked and no allow rule covers this part"),
            instead: Some(Text::Borrowed("ask the operator for a rule with `effect = \"allow\"` that covers it")),
        },
    }
}

fn settle_ask(view: &View<'_>, hits: Hits<'_>, ruling: Ruling) -> Ruling {
    let row = ruling.rule.rule();
    if let (Some(at), Lift::Rule | Lift::Skip | Lift::Edits, None) = (hits.allow, row.lift, hits.ask) {
        return written(Decision::Allow, rule::RULE_ALLOW, "allows", at);
    }
    if row.class == Class::Uncertain && view.profile().denies_uncertainty() {
        return Ruling { decision: Decision::Deny, ..ruling };
    }
    match (view.policy.settings().mode.on_ask(row), view.profile()) {
        (ModeSays::Deny, _) | (_, Profile::Locked) => Ruling { decision: Decision::Deny, ..ruling },
        (ModeSays::Ask, Profile::Standard | Profile::Strict) => ruling,
        (ModeSays::Allow, Profile::Standard | Profile::Strict) => {
            let because = format!("{} (the mode `{}` lifts the question)", ruling.because, view.policy.settings().mode);
            Ruling { decision: Decision::Allow, because: because.into(), ..ruling }
        }
    }
}

fn written(decision: Decision, id: rule::RuleId, verb: &str, at: &str) -> Ruling {
    Ruling { decision, rule: id, because: format!("the rule at {at} {verb} it").into(), instead: None }
}

fn finding(ruling: Ruling, action: Option<&Action>) -> Finding {
    Finding {
        decision: ruling.decision,
        rule: ruling.rule,
        span: action.map(|action| action.span.clone()),
        part: action.map_or(0, |action| action.part),
        because: ruling.because,
        instead: ruling.instead,
    }
}
