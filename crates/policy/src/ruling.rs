//! What guards say, before modes, profiles and users' rules have their say.

use tollgate_call::action::Why;

use crate::decision::Decision;
use crate::finding::Text;
use crate::rule::RuleId;

/// One guard's reason against an action.
#[derive(Debug, Clone)]
pub(crate) struct Ruling {
    pub(crate) decision: Decision,
    pub(crate) rule: RuleId,
    pub(crate) because: Text,
    pub(crate) instead: Option<Text>,
}

/// Collects what guards have against one action; empty means that nothing speaks against it.
#[derive(Debug, Default)]
pub(crate) struct Rulings(Vec<Ruling>);

impl Rulings {
    pub(crate) fn ask(&mut self, rule: RuleId, because: impl Into<Text>) -> &mut Ruling {
        self.push(Decision::Ask, rule, because.into())
    }

    pub(crate) fn deny(&mut self, rule: RuleId, because: impl Into<Text>) -> &mut Ruling {
        self.push(Decision::Deny, rule, because.into())
    }

    pub(crate) fn drain(&mut self) -> std::vec::Drain<'_, Ruling> {
        self.0.drain(..)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn push(&mut self, decision: Decision, rule: RuleId, because: Text) -> &mut Ruling {
        self.0.push_mut(Ruling { decision, rule, because, instead: None })
    }
}

impl Ruling {
    pub(crate) fn instead(&mut self, step: impl Into<Text>) {
        self.instead = Some(step.into());
    }
}

/// A name in backticks, with control characters escaped and its length bounded.
pub(crate) fn quoted(name: &str) -> String {
    let mut shown: String = name.escape_debug().take(200).collect();
    if name.len() > shown.len() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// Why something cannot be known, as the end of a sentence.
pub(crate) fn why(why: &Why) -> String {
    match why {
        Why::Variable(name) => format!("the variable {} is not set in the same input", quoted(name)),
        Why::Substitution => "it is the output of another command".to_owned(),
        Why::Input => "it is read while running".to_owned(),
        Why::Piped(to) => format!("what reaches {} is only known while running", quoted(to)),
        Why::DecodedCode => "it is decoded from hidden text".to_owned(),
        Why::Code(language) => format!("the {} code was not understood", quoted(language)),
        Why::Directory => "the working directory is not known".to_owned(),
        Why::Expansion(what) => format!("the expansion {} is not followed", quoted(what)),
        Why::Unparsed(what) => format!("the text does not parse: {}", quoted(what)),
        Why::Unexplained => "there is a command in it that the reading does not explain".to_owned(),
        Why::Limit(what) => format!("it is larger or deeper than is read: {}", quoted(what)),
        Why::UnknownProgram(name) => format!("no table describes this use of {}", quoted(name)),
        Why::UnknownTool(name) => format!("nobody described the tool {}", quoted(name)),
        Why::Elsewhere(place) => format!("it runs elsewhere: {}", quoted(place)),
    }
}
