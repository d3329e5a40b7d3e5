//! Variables that get a value, whatever gives it: `x=1`, `read x`, `for x`, `printf -v x`, `${x:=1}`.

use super::feed::Decoded;
use super::ir::{Assignment, Part, Word};
use super::scope::Value;
use super::walk::Reader;
use crate::action::{ActionKind, Control, Why};
use crate::span::Span;

impl Reader<'_> {
    /// Gives a variable a value by other means than an assignment.
    ///
    /// `written` may have a subscript, which is evaluated, and may refer to another variable.
    pub(super) fn assign(&mut self, written: &str, value: Value, span: &Span) {
        self.subscript(written, span);
        let whole = !written.contains('[');
        let name = written.split(['[', '=']).next().unwrap_or("").trim_end_matches('+');
        if !super::scan::is_name(name) {
            return;
        }
        let name = self.referred(name, span);
        let assignment = Assignment { value: word(&value, span), name };
        self.poison(&assignment, span);
        self.keep(&assignment.name, if whole { value } else { Value::Unknown(Why::Variable(name_of(written))) }, span);
    }

    /// `${x:=word}`, where `x` may have no value yet.
    pub(super) fn default_given(&mut self, name: &str, value: &Value, operand: &Word) {
        let set = matches!(value, Value::Parts(parts) if !parts.is_empty());
        if !set {
            let name = self.referred(name, &operand.span);
            self.poison(&Assignment { name, value: operand.clone() }, &operand.span);
            self.keep_latent(&Value::Parts(operand.parts.clone()), &operand.span);
        }
    }

    /// Gives a variable some number.
    pub(super) fn count_in(&mut self, name: &str, span: &Span) {
        let name = self.referred(name, span);
        let value = vec![Part::Glob("*".to_owned())];
        let number = Word { parts: value.clone(), span: span.clone(), verbatim: None };
        let assignment = Assignment { name, value: number };
        self.poison(&assignment, span);
        self.scope.set(&assignment.name, Value::Parts(value));
    }

    /// Sets a variable in the scope, and reads its value again where the shell does.
    pub(super) fn keep(&mut self, name: &str, value: Value, span: &Span) {
        if self.scope.integers.contains(name) {
            self.evaluate(&word(&value, span).shown(), span);
        }
        self.keep_latent(&value, span);
        let decoded = self.decoded;
        self.scope.mark(name, decoded);
        self.scope.set(name, value);
    }

    /// The variable that `name` stands for: itself, or what `declare -n` made it refer to.
    pub(super) fn referred(&mut self, name: &str, span: &Span) -> String {
        let found = self.scope.referred(name);
        if found.is_none() {
            // It may be any variable, `PATH` too.
            self.opaque(Why::Variable(name.to_owned()), span.clone());
        }
        found.unwrap_or_else(|| name.to_owned())
    }

    /// Notes an assignment that changes what other programs run.
    pub(super) fn poison(&mut self, assignment: &Assignment, span: &Span) {
        if super::environment::runs_code(&assignment.name, &assignment.value, self.scope.cwd.as_deref()) {
            self.act(ActionKind::Control(Control::Environment(assignment.name.clone())), span.clone());
        }
    }

    /// Says that the words being expanded hold decoded text, if the variable does.
    pub(super) fn taint_from(&mut self, name: &str) {
        if self.scope.is_decoded(name) {
            self.decoded = Decoded::Yes;
        }
    }
}

fn name_of(written: &str) -> String {
    written.split('[').next().unwrap_or("").to_owned()
}

/// A value as a word; lists have none.
fn word(value: &Value, span: &Span) -> Word {
    match value {
        Value::Parts(parts) => Word { parts: parts.clone(), span: span.clone(), verbatim: None },
        Value::List(list) => {
            let parts: Vec<Part> = list.iter().flatten().cloned().collect();
            Word { parts, span: span.clone(), verbatim: None }
        }
        Value::Unknown(why) => Word::opaque_at(why.clone(), span.clone()),
    }
}
